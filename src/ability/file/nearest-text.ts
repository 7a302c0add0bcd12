// Suggests what a model most likely meant if its text is not in the file: the nearest place, and how the two differ, in
// blanks, quotes, dashes, or letters that Unicode has twice. It is only a hint, and never replaces the text.
import * as Secret from "#kernel/secret/secret.ts"

/** The most lines that are compared, to keep the answer fast. */
const maxLines = 50_000
const maxShown = 12
const maxWidth = 160
const minAlike = 0.5

/** Lines of the file, and the lines of `oldText` that they are compared with. */
type Found = { lines: Line[]; wanted: Line[]; same: boolean; others: number }

/** `starts` and `ends`: the text reaches that end of its line. Otherwise the line of the file may be longer there. */
type Line = { number: number; text: string; folded: string; starts: boolean; ends: boolean }

/** The most characters of a line that are compared, to keep the answer fast. */
const maxFolded = 400

type Kind = { name: string; chars: RegExp; as: string }

const kinds: Kind[] = [
  { name: "blanks within a line", chars: /[\s\u200b\u2060]+/g, as: " " },
  { name: "quotes", chars: /["`´‘’‚‛′“”„‟″«»]/g, as: "'" },
  { name: "dashes", chars: /[\u00ad‐‑‒–—―−]/g, as: "-" },
  { name: "dots", chars: /…/g, as: "..." },
]

/** One or more sentences about `oldText`, which is not in `text`. */
export function nearestText(
  text: string,
  { oldText, newText }: { oldText: string; newText: string },
): string {
  const slip = slipOf(text, oldText)
  if (slip) return slip
  const all = text.split(/\r?\n/)
  const lines = linesOf(all.slice(0, maxLines))
  const wanted = linesOf(oldText.split(/\r?\n/))
  const found = wanted.length ? (findFolded(lines, wanted) ?? findSimilar(lines, wanted)) : undefined
  const done =
    newText.trim().length > 3 && text.includes(newText)
      ? " newText is in the file already: the edit may have been made before."
      : ""
  if (!found) return `Nothing in the file is like it; read the file to see what it has.${done}`
  return `${describe(all, found)}${done}`
}

/** Common mistakes that have one simple remedy. */
function slipOf(text: string, oldText: string): string | undefined {
  const bare = oldText.replaceAll(/^ *\d+\t/gm, "")
  if (bare !== oldText && bare !== "" && text.replaceAll("\r\n", "\n").includes(bare))
    return "It has the line numbers that read shows; leave them out."
  if (oldText.includes("\r\n") && text.includes(oldText.replaceAll("\r\n", "\n")))
    return "It has CRLF where the file has LF at line ends; write \\n."
  const plain = oldText.replaceAll("\\n", "\n").replaceAll("\\t", "\t").replaceAll('\\"', '"')
  if (plain !== oldText && plain.trim() !== "" && text.replaceAll("\r\n", "\n").includes(plain))
    return 'It is escaped once too often: it has a backslash before n, t or " where the file has the character itself.'
  return undefined
}

/** The same text except for blanks, quotes and the like. The first and the last line may be parts of the file's
 * lines. */
function findFolded(lines: Line[], wanted: Line[]): Found | undefined {
  const places: number[] = []
  for (let at = 0; at + wanted.length <= lines.length; at++)
    if (wanted.every((one, i) => fits(lines[at + i]!, one, "folded"))) places.push(at)
  if (places.length === 0) return undefined
  return {
    lines: lines.slice(places[0], places[0]! + wanted.length),
    wanted,
    same: true,
    others: places.length - 1,
  }
}

/** Where most lines are the same, else where the longest line has the most in common. */
function findSimilar(lines: Line[], wanted: Line[]): Found | undefined {
  const start = byCommonLines(lines, wanted) ?? byLongestLine(lines, wanted)
  if (start === undefined) return undefined
  const from = Math.max(0, start)
  return {
    lines: lines.slice(from, Math.max(from + 1, start + wanted.length)),
    wanted: wanted.slice(from - start),
    same: false,
    others: 0,
  }
}

function byCommonLines(lines: Line[], wanted: Line[]): number | undefined {
  const places = new Map<string, number[]>()
  for (const [i, { folded }] of lines.entries()) {
    const known = places.get(folded)
    if (known) known.push(i)
    else places.set(folded, [i])
  }
  const votes = new Map<number, number>()
  for (const [j, { folded }] of wanted.entries()) {
    const at = places.get(folded) ?? []
    // A line that is everywhere, or only a bracket, says little about the place.
    if (folded.length > 3 && at.length <= 50)
      for (const i of at) votes.set(i - j, (votes.get(i - j) ?? 0) + folded.length / at.length)
  }
  return [...votes].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0]
}

function byLongestLine(lines: Line[], wanted: Line[]): number | undefined {
  const longest = wanted.reduce((a, b) => (b.folded.length > a.folded.length ? b : a))
  const pairs = new Set(pairsOf(longest.folded))
  let best: { at: number; alike: number } | undefined
  for (const [at, { folded }] of lines.entries()) {
    // Lines of very different lengths have little in common.
    if (folded.length * 4 < longest.folded.length || folded.length > longest.folded.length * 6 + 40) continue
    const alike = commonPairs(pairs, folded)
    if (alike >= minAlike && alike > (best?.alike ?? 0)) best = { at, alike }
  }
  return best && best.at - wanted.indexOf(longest)
}

function pairsOf(text: string): number[] {
  return Array.from({ length: Math.max(0, text.length - 1) }, (_, i) => pairAt(text, i))
}

/** Two characters as a number, because strings would be allocated millions of times. */
function pairAt(text: string, i: number): number {
  return (text.charCodeAt(i) << 16) | text.charCodeAt(i + 1)
}

function commonPairs(pairs: Set<number>, text: string): number {
  let common = 0
  for (let i = 0; i + 1 < text.length; i++) if (pairs.has(pairAt(text, i))) common++
  return (2 * common) / (pairs.size + text.length || 1)
}

function describe(all: string[], found: Found): string {
  const [first, last] = [found.lines[0]!.number, found.lines.at(-1)!.number]
  const shown = all.slice(first - 1, Math.min(last, first - 1 + maxShown))
  const where = first === last ? `line ${first}` : `lines ${first}-${last}`
  const others = found.others ? ` (and ${found.others} other ${found.others === 1 ? "place" : "places"})` : ""
  const kinds = found.same ? `; it differs in ${differences(found.lines, found.wanted)}` : ""
  return [
    `The nearest text is at ${where}${others}${kinds}:`,
    ...shown.map((line, i) => `${first + i}\t${cut(line)}`),
    ...(last - first + 1 > shown.length ? ["…"] : []),
    ...firstPair(found),
  ].join("\n")
}

/** The first two lines that differ, with every blank visible. */
function firstPair({ lines, wanted }: Found): string[] {
  const i = wanted.findIndex((one, i) => lines[i] && !fits(lines[i], one, "text"))
  if (i < 0) return []
  const [there, here] = [visible(lines[i]!.text), visible(wanted[i]!.text)]
  return [`Line ${lines[i]!.number} of the file is ${there}, oldText has ${here}.`]
}

function visible(line: string): string {
  return JSON.stringify(cut(line)).replace(
    /[\u00a0\u00ad\u2000-\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
}

function cut(line: string): string {
  return line.length > maxWidth ? `${Secret.cut(line, maxWidth)}…` : line
}

/** The lines of a text that are not blank. */
function linesOf(text: string[]): Line[] {
  return text.flatMap((line, i) => {
    const folded = fold(line, kinds)
    return folded === ""
      ? []
      : [{ number: i + 1, text: line, folded, starts: i > 0, ends: i < text.length - 1 }]
  })
}

/** Whether the line of the file contains the wanted text, as it is or folded. */
function fits(line: Line, wanted: Line, as: "text" | "folded"): boolean {
  if (wanted.starts) return wanted.ends ? line[as] === wanted[as] : line[as].startsWith(wanted[as])
  return wanted.ends ? line[as].endsWith(wanted[as]) : line[as].includes(wanted[as])
}

/** For lines that match one by one when they are folded. */
function differences(lines: Line[], wanted: Line[]): string {
  const found = new Map<string, string>()
  for (const [i, one] of wanted.entries()) {
    const there = lines[i]!
    if (one.ends && !there.ends) found.set("the last line end (the file has none)", "")
    if (fits(there, one, "text")) continue
    const [inFile, inText] = [indent(there.text), indent(one.text)]
    if (inFile !== inText && (one.starts || inText !== "") && !found.has("indentation"))
      found.set("indentation", ` (${name(inFile)} in the file, ${name(inText)} in oldText)`)
    if (trailing(there.text) !== trailing(one.text) && (one.ends || trailing(one.text) !== ""))
      found.set("blanks at line ends", "")
    for (const kind of kinds) if (matters(kind, there, one)) found.set(kind.name, "")
  }
  if (gaps(lines) !== gaps(wanted)) found.set("blank lines", "")
  if (found.size > 0) return [...found].map((entry) => entry.join("")).join(", ")
  return wanted.every((one, i) => fits(lines[i]!, one, "text"))
    ? "blank lines before or after it"
    : "letters that look alike"
}

/** The line with similar characters folded. */
function fold(line: string, which: Kind[]): string {
  const start = line.slice(0, maxFolded).normalize("NFC")
  return which.reduce((text, { chars, as }) => text.replace(chars, () => as), start).trim()
}

/** Whether the two differ in this kind of character. */
function matters(kind: Kind, line: Line, wanted: Line): boolean {
  const others = kinds.filter((other) => other !== kind)
  const folded = (one: Line): Line => ({ ...one, folded: fold(one.text, others) })
  return !fits(folded(line), folded(wanted), "folded")
}

function indent(line: string): string {
  return line.slice(0, line.length - line.trimStart().length)
}

function trailing(line: string): string {
  return line.slice(line.trimEnd().length)
}

function gaps(lines: Line[]): string {
  return lines.map(({ number }) => number - lines[0]!.number).join()
}

/** "2 tabs", "4 spaces", "none". */
function name(blanks: string): string {
  if (blanks === "") return "none"
  const what = /^\t+$/.test(blanks) ? "tab" : /^ +$/.test(blanks) ? "space" : "mixed blank"
  return `${blanks.length} ${what}${blanks.length === 1 ? "" : "s"}`
}
