// Wraps lines for a terminal between words. Code and tables are not wrapped. If the width is unknown, nothing is
// wrapped. Without a UTF-8 locale, our own marks become ASCII.
import { stripVTControlCharacters } from "node:util"
import * as Env from "#kernel/process/env.ts"

export type Wrapper = Readonly<{
  /** Adds text, and returns what can be shown now: a word is held back until it ends. */
  add(text: string): string
  /** Returns the text that was held back. */
  end(): string
}>

const narrowest = 20
/** Columns for further lines of a list entry. With fewer, they start near the left edge. */
const leastText = 32
const pieces = /\u001b\[[\d;]*m|\n|[ \t]+|[^\s\u001b]+|./gsu
const isFence = /^(?:`{3,}|~{3,})/
/** A first word, such as a bullet, below which further lines are indented. */
const mark = /^(?:[·✗•│↳→←*+>x-]|\d{1,3}[.)]|\[[ >x]?\]?|vitamin:)$/u
/** Characters that take two columns. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}]/gu
const marks = new Map(
  Object.entries({ "·": "-", "✗": "x", "…": "...", "•": "*", "│": "|", "↳": ">", "⋮": ":" }),
)

/** `indent` is the column of further lines; default: below the text of the first line. */
export function createWrapper(columns: () => number | undefined, indent?: number): Wrapper {
  let [column, hang] = [0, 0]
  let [spaces, word, width] = ["", "", 0]
  let isFirst = true
  let isCode = false
  let isWhole = false

  function add(text: string): string {
    let out = ""
    for (const [piece] of text.matchAll(pieces)) {
      if (piece === "\n") out += endLine()
      else if (/^[ \t]/.test(piece)) {
        out += endWord()
        spaces += piece
      } else {
        word += piece
        width += piece.startsWith("\u001b") ? 0 : widthOf(piece)
      }
    }
    return out
  }

  function endWord(): string {
    if (width && isFirst) startLine()
    const limit = columns() || 0
    const available = limit >= narrowest && !isWhole ? limit : Number.POSITIVE_INFINITY
    const isTooLong = column > hang && column + spaces.length + width > available && width <= available - hang
    const out = (isTooLong ? `\n${" ".repeat(hang)}` : width || !word ? spaces : "") + word
    if (isTooLong) column = hang + width
    else if (width || !word) column += spaces.length + width
    // The terminal has broken a word that is longer than its lines.
    if (column > available) column %= available
    // Escape sequences that end a style come before the following blanks, not after them.
    if (width || !word) spaces = ""
    ;[word, width] = ["", 0]
    return out
  }

  /** The first word of a line decides its kind: code, table, list item or text. */
  function startLine(): void {
    isFirst = false
    const first = stripVTControlCharacters(word)
    isWhole = isCode || isFence.test(first) || first.startsWith("|") || spaces.includes("\t")
    if (isFence.test(first)) isCode = !isCode
    const text = spaces.length + (mark.test(first) ? marked(first) : 0)
    const all = columns() ?? 0
    const isNarrow = indent !== undefined && all - indent < leastText
    hang = isNarrow ? Math.min(indent, 4) : Math.min(indent ?? text, Math.floor(all / 2))
  }

  function endLine(): string {
    const out = endWord()
    ;[column, hang, spaces, isFirst, isWhole] = [0, 0, "", true, false]
    return `${out}\n`
  }

  function end(): string {
    const out = endWord()
    ;[column, hang, spaces, isFirst, isWhole, isCode] = [0, 0, "", true, false, false]
    return out
  }

  return Object.freeze({ add, end })
}

/** Lines on stderr, for a person or for a pipe. */
export function wrapLines(text: string): string {
  return wrapFor(process.stderr, text)
}

/** Lines on stdout. Further lines of a list entry start at `indent`, below its last column. */
export function wrapList(text: string, indent?: number): string {
  return wrapFor(process.stdout, text, indent)
}

function wrapFor(stream: NodeJS.WriteStream, text: string, indent?: number): string {
  if (!stream.isTTY) return text
  const wrapper = createWrapper(() => stream.columns, indent)
  return wrapper.add(asciiMarks(text)) + wrapper.end()
}

export function asciiMarks(text: string): string {
  return isUtf8() ? text : text.replace(/[·✗…•│↳⋮]/gu, (mark) => marks.get(mark)!)
}

/** Without a locale, UTF-8 is assumed. */
export function isUtf8(): boolean {
  const locale = Env.get("LC_ALL") || Env.get("LC_CTYPE") || Env.get("LANG")
  return !locale || /utf-?8/i.test(locale)
}

function marked(first: string): number {
  if (first === "vitamin:") return 2
  return first.startsWith("[") ? 4 : widthOf(first) + 1
}

function widthOf(text: string): number {
  return [...text].length + (text.match(wide)?.length ?? 0)
}
