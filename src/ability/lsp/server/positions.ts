// Positions of the protocol: zero-based lines, and characters in UTF-16 or UTF-8 units. A server may send positions that do
// not exist; they become the nearest ones that do.

export type Position = { line: number; character: number }
export type Range = { start: Position; end: Position }
export type Encoding = "utf-16" | "utf-8"

/** Undefined if it is not a range at all. */
export function readRange(value: unknown): Range | undefined {
  const { start, end } = (value ?? {}) as { start?: unknown; end?: unknown }
  const [from, to] = [readPosition(start), readPosition(end)]
  return from && to && { start: from, end: to }
}

/** The index in a text. Positions behind the end of a line are its end, as the protocol says. */
export function toIndex(lines: Lines, { line, character }: Position, encoding: Encoding): number {
  if (line < 0) return 0
  if (line >= lines.starts.length) return lines.text.length
  const start = lines.starts[line]!
  const text = lineAt(lines, line)
  if (encoding === "utf-16") return start + clamp(character, text.length)
  const bytes = Buffer.from(text)
  // A position within a character is rounded down to its start.
  let end = clamp(character, bytes.length)
  while (end > 0 && end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--
  return start + bytes.subarray(0, end).toString("utf8").length
}

export function toPosition(lines: Lines, index: number, encoding: Encoding): Position {
  const line = Math.max(
    0,
    lines.starts.findLastIndex((start) => start <= index),
  )
  const before = lines.text.slice(lines.starts[line]!, index)
  return { line, character: encoding === "utf-16" ? before.length : Buffer.byteLength(before) }
}

/** A text and where its lines start. */
export type Lines = { text: string; starts: readonly number[] }

export function linesOf(text: string): Lines {
  const starts = [0]
  for (const { index, 0: end } of text.matchAll(/\r\n|\n|\r/g)) starts.push(index + end.length)
  return { text, starts }
}

/** Without its end. */
export function lineAt({ text, starts }: Lines, line: number): string {
  const start = starts[line]
  return start === undefined ? "" : text.slice(start, starts[line + 1] ?? text.length).replace(/[\r\n]+$/, "")
}

/** The one change that makes `after` of `before`, as a range of the old text. Never cuts a character in half. */
export function changeBetween(
  before: string,
  after: string,
  encoding: Encoding,
): { range: Range; text: string } {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++
  let end = 0
  while (
    end < shorter - start &&
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  )
    end++
  if (isLow(before, start) || isLow(after, start)) start--
  if (end > 0 && (isLow(before, before.length - end) || isLow(after, after.length - end))) end--
  const lines = linesOf(before)
  return {
    range: {
      start: toPosition(lines, start, encoding),
      end: toPosition(lines, before.length - end, encoding),
    },
    text: after.slice(start, after.length - end),
  }
}

/** The second half of a surrogate pair, or the second character of a line end. */
function isLow(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  return (code >= 0xdc00 && code <= 0xdfff) || (index > 0 && code === 10 && text.charCodeAt(index - 1) === 13)
}

function readPosition(value: unknown): Position | undefined {
  const { line, character } = (value ?? {}) as { line?: unknown; character?: unknown }
  if (typeof line !== "number" || typeof character !== "number") return undefined
  return { line: whole(line), character: whole(character) }
}

function whole(value: number): number {
  return Math.trunc(Math.min(Math.max(Number.isNaN(value) ? 0 : value, -1), 2 ** 31))
}

function clamp(value: number, most: number): number {
  return Math.min(Math.max(value, 0), most)
}
