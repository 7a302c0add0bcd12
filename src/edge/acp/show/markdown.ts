// Puts text of tools and models into Markdown, which editors render everywhere: the text is shown as it is written, and
// cannot format, hide or load anything.
import * as Log from "#kernel/process/log.ts"

const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g

/** A code span that nothing in the text can end. */
export function code(text: string): string {
  const mark = "`".repeat(longestRun(text) + 1)
  const padding = /^`|`$|^ .* $/.test(text) ? " " : ""
  return `${mark}${padding}${text}${padding}${mark}`
}

/** A block of code that nothing in the text can end. */
export function fence(text: string, language = ""): string {
  const mark = "`".repeat(Math.max(3, longestRun(text) + 1))
  return `${mark}${language}\n${visible(text).replace(/\n$/, "")}\n${mark}`
}

/** The first line, cut to `max` characters; "…" marks that there is more. */
export function firstLine(text: string, max = 120): string {
  const line = text.trim().split(/\r?\n/, 1)[0]!
  const isAll = line.length === text.trim().length && line.length <= max
  return Log.escapeControls(head(line, max)) + (isAll ? "" : "…")
}

/** A long text without its middle. */
export function middleCut(text: string, max: number): string {
  if (text.length <= max) return text
  const side = Math.floor(max / 2)
  const [start, end] = [head(text, side), tail(text, side)]
  return `${start}\n[… ${text.length - start.length - end.length} characters are left out …]\n${end}`
}

/** The first `max` UTF-16 units, without splitting a surrogate pair. */
export function head(text: string, max: number): string {
  if (text.length <= max) return text
  return text.slice(0, isHighSurrogate(text, max - 1) ? max - 1 : max)
}

/** The last `max` UTF-16 units, without splitting a surrogate pair. */
export function tail(text: string, max: number): string {
  if (text.length <= max) return text
  const start = text.length - max
  return text.slice(isHighSurrogate(text, start - 1) ? start + 1 : start)
}

/** Escapes control characters other than tabs and newlines. */
function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(hidden, Log.escapeControls)
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 0)
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit <= 0xdbff
}
