// Words of others inside Markdown, which is what editors take every text for: shown as they are written, with nothing in
// them that draws, hides or loads something.
import * as Log from "#kernel/process/log.ts"

const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g

/** A code span, whatever is in the text. */
export function code(text: string): string {
  const mark = "`".repeat(longestRun(text) + 1)
  const room = /^`|`$|^ .* $/.test(text) ? " " : ""
  return `${mark}${room}${text}${room}${mark}`
}

/** A block of code that nothing in the text can end. */
export function fence(text: string, language = ""): string {
  const mark = "`".repeat(Math.max(3, longestRun(text) + 1))
  return `${mark}${language}\n${visible(text).replace(/\n$/, "")}\n${mark}`
}

/** The first line, no longer than a title should be; what else there is shows as "…". */
export function firstLine(text: string, max = 120): string {
  const line = text.trim().split(/\r?\n/, 1)[0]!
  const isAll = line.length === text.trim().length && line.length <= max
  return Log.escapeControls(head(line, max)) + (isAll ? "" : "…")
}

/** The beginning and the end of a long text. */
export function middleCut(text: string, max: number): string {
  if (text.length <= max) return text
  const side = Math.floor(max / 2)
  const [start, end] = [head(text, side), tail(text, side)]
  return `${start}\n[… ${text.length - start.length - end.length} characters are left out …]\n${end}`
}

/** Up to so many characters, none of them halved. */
export function head(text: string, max: number): string {
  if (text.length <= max) return text
  return text.slice(0, isHighSurrogate(text, max - 1) ? max - 1 : max)
}

export function tail(text: string, max: number): string {
  if (text.length <= max) return text
  const start = text.length - max
  return text.slice(isHighSurrogate(text, start - 1) ? start + 1 : start)
}

/** Control characters but tabs and line ends are shown, not sent to whoever draws the text. */
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
