// How many cells text takes in a terminal; cutting and wrapping by cells. SGR sequences and hyperlinks
// (OSC 8) take none.
import { eastAsianWidth } from "get-east-asian-width"
import type { Line } from "./line.ts"

const isPlain = /^[\x20-\x7e]*$/
/** Characters that join with their neighbours: combining marks, joiners, variation selectors, flags, skin tones. */
const isJoining = /\p{M}|\u200d|\ufe0f|[\u{1f1e6}-\u{1f1ff}\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}]/u
const isZero = /^[\p{M}\p{Cf}\u200b]$/u
/** Vowels of Thai and Lao that join with the letter before them, and take a cell of their own. */
const ownCell = /(?<=.)[\u0e33\u0eb3]/gu
const pieces = /\u001b\[[\d;:]*m|\u001b\]8;;[\x21-\x7e]*\u001b\\|[^\u001b]+|\u001b/g
const sequence = /\u001b\[[\d;:]*m|\u001b\]8;;[\x21-\x7e]*\u001b\\/g
const linkStart = "\u001b]8;;"
const linkEnd = "\u001b]8;;\u001b\\"
const maxAddress = 2_000
const esc = "\u001b"
const reset = "\u001b[0m"
let segmenter: Intl.Segmenter | undefined

export function widthOf(text: string): number {
  if (isPlain.test(text)) return text.length
  const bare = text.includes(esc) ? text.replace(sequence, "") : text
  if (isPlain.test(bare)) return bare.length
  let width = 0
  for (const cluster of clustersOf(bare)) width += clusterWidth(cluster)
  return width
}

/** What a person sees as characters. */
export function clustersOf(text: string): string[] {
  if (!isJoining.test(text)) return [...text]
  segmenter ??= new Intl.Segmenter()
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** Terminals disagree about emoji of several characters; two cells is what most of them use. */
function clusterWidth(cluster: string): number {
  if (cluster.length === 1 && cluster >= " " && cluster <= "~") return 1
  const first = cluster.codePointAt(0)!
  if (first < 0x20) return 0
  if (cluster.length > 2 && /[\ufe0f\u200d]|[\u{1f1e6}-\u{1f1ff}]{2}/u.test(cluster)) return 2
  if (cluster.includes("\ufe0f")) return 2
  if (isZero.test(String.fromCodePoint(first))) return 0
  return eastAsianWidth(first) + (cluster.length > 1 ? (cluster.match(ownCell)?.length ?? 0) : 0)
}

/** Cut to a width; cut text ends with `…`. */
export function cutTo(text: string, columns: number): string {
  if (text.length <= columns && isPlain.test(text)) return text
  if (widthOf(text) <= columns) return text
  let [out, width] = ["", 0]
  const active = createActive()
  for (const [piece] of text.matchAll(pieces)) {
    if (piece.startsWith(esc)) {
      active.add(piece)
      out += piece
      continue
    }
    for (const cluster of clustersOf(piece)) {
      const more = clusterWidth(cluster)
      if (width + more > columns - 1) return columns > 0 ? `${out}…${active.end()}` : ""
      out += cluster
      width += more
    }
  }
  return out
}

/** Wrap one line between words. Further lines start with `hang` blanks. A word that is longer than a line is broken. Wide
 * characters may be parted from each other. */
export function wrapTo(text: string, columns: number, hang = 0): Line[] {
  if (text.length <= columns && isPlain.test(text)) return [text]
  const room = Math.max(1, columns)
  const indent = hang < room - 8 ? hang : 0
  const lines: Line[] = []
  const active = createActive()
  let line = ""
  let width = 0
  let start = 0
  /** Where the line may be broken: behind the last blank or wide character. */
  let fit = { line: "", width: 0, start: "", end: "" }
  let tail = ""

  for (const [piece] of text.matchAll(pieces)) {
    if (piece.startsWith(esc)) {
      active.add(piece)
      line += piece
      tail += piece
      continue
    }
    for (const cluster of clustersOf(piece)) {
      const more = clusterWidth(cluster)
      if (width + more > room) breakLine(cluster)
      // The blank at which a line was broken is dropped.
      if (cluster === " " && lines.length > 0 && width === start) continue
      line += cluster
      tail += cluster
      width += more
      if (cluster === " " || more === 2) mark()
    }
  }
  lines.push(line + active.end())
  return lines

  function mark(): void {
    fit = { line, width, start: active.start(), end: active.end() }
    tail = ""
  }

  function breakLine(next: string): void {
    const blanks = " ".repeat(indent)
    if (next === " " || fit.width <= start) {
      lines.push(trimEnd(line) + active.end())
      line = blanks + active.start()
      width = indent
    } else {
      lines.push(trimEnd(fit.line) + fit.end)
      line = blanks + fit.start + tail
      width = indent + widthOf(tail)
    }
    start = indent
    tail = ""
    fit = { line, width: indent, start: active.start(), end: active.end() }
  }
}

function trimEnd(line: string): string {
  return line.endsWith(" ") ? line.trimEnd() : line
}

/** Text as a hyperlink. The address is made of printable ASCII; undefined if it is no address of the web. */
export function linkTo(address: string): ((text: string) => string) | undefined {
  if (!/^https?:\/\//i.test(address) || address.length > maxAddress || !URL.canParse(address))
    return undefined
  const { href } = new URL(address)
  return /^[\x21-\x7e]+$/.test(href) ? (text) => `${linkStart}${href}\u001b\\${text}${linkEnd}` : undefined
}

/** The styles and the link that are on. `end` switches them off at the end of a line, `start` on again in the next one. */
function createActive() {
  const on = new Map<string, string>()
  let link = ""
  return {
    add(sgr: string) {
      if (sgr.startsWith(linkStart)) {
        link = sgr === linkEnd ? "" : sgr
        return
      }
      const codes = sgr.slice(2, -1).split(";")
      for (let i = 0; i < codes.length; i++) {
        const code = Number(codes[i])
        const more = code === 38 || code === 48 ? (codes[i + 1] === "2" ? 4 : 2) : 0
        change(code, codes.slice(i, i + more + 1).join(";"))
        i += more
      }
    },
    start: () => link + (on.size ? `\u001b[${[...on.values()].join(";")}m` : ""),
    end: () => (on.size ? reset : "") + (link && linkEnd),
  }

  function change(code: number, whole: string): void {
    if (code === 0) on.clear()
    else if (code === 22) {
      on.delete("1")
      on.delete("2")
    } else if (code >= 23 && code <= 29) on.delete(String(code - 20))
    else if (code === 39) on.delete("color")
    else if (code === 49) on.delete("ground")
    else on.set(kindOf(code), whole)
  }
}

function kindOf(code: number): string {
  if (code < 10) return String(code)
  return (code >= 40 && code < 50) || code >= 100 ? "ground" : "color"
}
