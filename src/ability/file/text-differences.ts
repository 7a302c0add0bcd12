// How two texts differ that look alike: blanks, quotes, dashes, and letters that Unicode has twice.

/** `starts` and `ends`: it reaches that end of its line; else the line of the file may have more there. */
export type Line = { number: number; text: string; folded: string; starts: boolean; ends: boolean }

/** The most characters of a line that are compared, to keep the answer fast. */
const maxFolded = 400

type Kind = { name: string; chars: RegExp; as: string }

const kinds: Kind[] = [
  { name: "blanks within a line", chars: /[\s\u200b\u2060]+/g, as: " " },
  { name: "quotes", chars: /["`´‘’‚‛′“”„‟″«»]/g, as: "'" },
  { name: "dashes", chars: /[\u00ad‐‑‒–—―−]/g, as: "-" },
  { name: "dots", chars: /…/g, as: "..." },
]

/** The lines of a text that are not blank. */
export function linesOf(text: string[]): Line[] {
  return text.flatMap((line, i) => {
    const folded = fold(line, kinds)
    return folded === ""
      ? []
      : [{ number: i + 1, text: line, folded, starts: i > 0, ends: i < text.length - 1 }]
  })
}

/** Whether the line of the file contains the wanted text, as it is or folded. */
export function fits(line: Line, wanted: Line, as: "text" | "folded"): boolean {
  if (wanted.starts) return wanted.ends ? line[as] === wanted[as] : line[as].startsWith(wanted[as])
  return wanted.ends ? line[as].endsWith(wanted[as]) : line[as].includes(wanted[as])
}

/** For lines that match one by one when they are folded. */
export function differences(lines: Line[], wanted: Line[]): string {
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
