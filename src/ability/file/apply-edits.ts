// Applies the edits of one call, each to the result of the one before. The first that fails throws, and then none applies.
// A line end matches LF and CRLF: `read` shows both alike, so the model cannot know which it is.
import { NamedError } from "#util/error.ts"
import { nearestText } from "./nearest-text.ts"
import { formAmong, formsOf, type TextFile, toText } from "./text-file.ts"

export type Edit = { oldText: string; newText: string; replaceAll?: boolean | undefined }

const maxCounted = 1_000
const maxLines = 8

class Ambiguous extends NamedError {
  constructor(options: { which: string; path: string; places: number; lines: number[] }) {
    const { which, path, places, lines } = options
    const count = places >= maxCounted ? `at least ${maxCounted}` : String(places)
    super(
      "Edit.Ambiguous",
      `${which} is in ${JSON.stringify(path)} ${count} times (lines ${lines.join(", ")}${places > lines.length ? ", …" : ""}); nothing was changed. Give more of the text around the one that is meant, or set replaceAll.`,
      { path, places, lines },
    )
  }
}

type Span = { start: number; end: number }

/** The file after all edits, and the number of replaced places. */
export function applyEdits(file: TextFile, edits: Edit[], path: string): { file: TextFile; places: number } {
  let places = 0
  let now = file
  for (const [i, edit] of edits.entries()) {
    const which = edits.length === 1 ? "oldText" : `oldText of edit ${i + 1} (of ${edits.length})`
    const spans = findAll(now, edit)
    if (spans.length === 0)
      throw new NamedError(
        "Edit.NotFound",
        `${which} was not found in ${JSON.stringify(path)}; nothing was changed. ${nearestText(toText(now, now.raw), edit)}`,
        { path },
      )
    if (spans.length > 1 && !edit.replaceAll)
      throw new Ambiguous({
        which,
        path,
        places: spans.length,
        lines: [...new Set(spans.slice(0, maxLines).map(({ start }) => lineAt(now.raw, start)))],
      })
    now = { ...now, raw: replace(now, spans, edit.newText) }
    places += spans.length
  }
  return { file: now, places }
}

function findAll(file: TextFile, { oldText, replaceAll }: Edit): Span[] {
  const options = replaceAll ? { overlapping: false } : { overlapping: true, max: maxCounted }
  const found = formsOf(file, oldText).map((form) => findText(file.raw, form, options))
  return found.flat().sort((a, b) => a.start - b.start)
}

function replace(file: TextFile, spans: Span[], newText: string): string {
  const { raw } = file
  const hasEnds = newText.includes("\n") && !newText.includes("\r\n")
  const parts: string[] = []
  let done = 0
  for (const span of spans) {
    const text = hasEnds && endAt(raw, span) === "\r\n" ? newText.replaceAll("\n", "\r\n") : newText
    parts.push(raw.slice(done, span.start), formAmong(file, text, linesAround(raw, span)))
    done = span.end
  }
  parts.push(raw.slice(done))
  return parts.join("")
}

function linesAround(raw: string, { start, end }: Span): string {
  const last = raw.indexOf("\n", end)
  return raw.slice(start === 0 ? 0 : raw.lastIndexOf("\n", start - 1) + 1, last < 0 ? raw.length : last)
}

/** From left to right, at most `max`. Overlapping places count as two, unless all are to be replaced. */
function findText(raw: string, text: string, options: { overlapping: boolean; max?: number }): Span[] {
  const { overlapping, max = Number.POSITIVE_INFINITY } = options
  const anyEnd = text.includes("\n") && !text.includes("\r\n") && raw.includes("\r\n")
  const next = anyEnd ? createLineSearch(raw, text) : (from: number) => plainSearch(raw, text, from)
  const spans: Span[] = []
  for (let span = next(0); span && spans.length < max; span = next(overlapping ? span.start + 1 : span.end))
    spans.push(span)
  return spans
}

/** The number of the line in which a place is. */
function lineAt(raw: string, at: number): number {
  let line = 1
  for (let end = raw.indexOf("\n"); end >= 0 && end < at; end = raw.indexOf("\n", end + 1)) line++
  return line
}

/** The line end for inserted text: that of the place, or the nearest one. */
function endAt(raw: string, { start, end }: Span): "\n" | "\r\n" {
  let at = raw.indexOf("\n", start)
  if (at < 0 || at >= end) at = raw.indexOf("\n", end)
  if (at < 0) at = raw.lastIndexOf("\n", start)
  return at > 0 && raw[at - 1] === "\r" ? "\r\n" : "\n"
}

function plainSearch(raw: string, text: string, from: number): Span | undefined {
  const start = raw.indexOf(text, from)
  return start < 0 ? undefined : { start, end: start + text.length }
}

/** Finds the first line of the text, then checks the lines after it. */
function createLineSearch(raw: string, text: string): (from: number) => Span | undefined {
  const [first, ...others] = text.split("\n") as [string, ...string[]]
  return (from) => {
    for (let at = raw.indexOf(first || "\n", from); at >= 0; at = raw.indexOf(first || "\n", at + 1)) {
      const start = first === "" && raw[at - 1] === "\r" ? at - 1 : at
      const end = start < from ? undefined : endOf(raw, start + first.length, others)
      if (end !== undefined) return { start, end }
    }
    return undefined
  }
}

function endOf(raw: string, from: number, others: string[]): number | undefined {
  let at = from
  for (const line of others) {
    if (raw.startsWith("\r\n", at)) at += 2
    else if (raw[at] === "\n") at++
    else return undefined
    if (!raw.startsWith(line, at)) return undefined
    at += line.length
  }
  return at
}
