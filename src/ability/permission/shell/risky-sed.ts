// Judges sed commands. Only scripts that are known to be harmless pass, because the commands "w", "W", "r" and "e", and
// the flags "w" and "e" of a replacement, write files, read files or run programs.
import type { ShellWord } from "./word.ts"

const maxCommands = 200
/** A regular expression up to its delimiter: escaped characters, bracket expressions without the delimiter, and other
 * characters. A bracket expression can match in one way only ("]" is its first character or ends it); otherwise
 * backtracking over a hundred characters would take hours. */
const matched = (d: string) =>
  `(?:\\\\[^\\n]|\\[(?:\\^\\]|\\^(?!\\])|\\]|(?![\\]^]))(?:\\[:\\w+:\\]|\\\\[^\\n\\]]|[^\\[\\]\\\\\\n${d}])*\\]|[^\\\\\\n\\[${d}])*`
const replaced = (d: string) => `(?:\\\\[^\\n]|[^\\\\\\n${d}])*`
const delimiters = "/|,#:@!%_~".split("").map((d) => (d === "|" ? "\\|" : d))
const place = `(?:\\d+(?:~\\d+)?|\\$|/${matched("/")}/I?)`
const address = new RegExp(`^\\s*(?:${place}(?:\\s*,\\s*(?:[+~]\\d+|${place}))?)?\\s*!?\\s*`)
const end = "\\s*(?:;|\\n|(?=\\})|$)"
const commands = [
  `[pPdDqQ=lnNgGhHxzF]\\d*${end}`,
  `[{}][\\s;]*`,
  `[btT][ \\t]*\\w*${end}`,
  `:[ \\t]*\\w+${end}`,
  // The text continues to the end of the line, and further if that ends with a backslash.
  "[aic](?:\\\\?[^\\n\\\\]*|\\\\\\n[^\\n\\\\]*)$",
  ...delimiters.flatMap((d) => [
    `s${d}${matched(d)}${d}${replaced(d)}${d}[gpIim\\d]*${end}`,
    `y${d}${replaced(d)}${d}${replaced(d)}${d}${end}`,
  ]),
].map((source) => new RegExp(`^(?:${source})`))

/** Short options without a value, then perhaps "e", whose value is a script, or "i", whose value is a suffix. */
const known = /^-[nErsuzb]*([nErsuzb]$|[ei])/

export function isRiskySed(args: ShellWord[]): boolean {
  const texts = args.map(({ text }) => text)
  // Abbreviations of --expression, and of --line-length, whose value could be mistaken for the script.
  if (texts.some((text) => /^--(e|l)/.test(text) && !/^--(expression|line-length=\d+$)/.test(text)))
    return true
  if (texts.some((text) => /^-[^-]/s.test(text) && !known.test(text))) return true
  const at = scripts(texts)
  return at.length === 0 || !at.every(({ from, text }) => args[from]?.isLiteral === true && isHarmless(text))
}

function scripts(texts: string[]): { from: number; text: string }[] {
  const given = texts.flatMap((text, i) => {
    if (/^-[nErsuzb]*e$/.test(text) || text === "--expression")
      return { from: i + 1, text: texts[i + 1] ?? "" }
    const attached = /^(?:-[nErsuzb]*e|--expression=)(.+)/s.exec(text)?.[1]
    return attached ? { from: i, text: attached } : []
  })
  if (given.length) return given
  const from = texts.findIndex((text) => !text.startsWith("-") || text === "-")
  return from < 0 ? [] : [{ from, text: texts[from]! }]
}

function isHarmless(script: string): boolean {
  let rest = script
  for (let turns = 0; rest.trim() !== ""; turns++) {
    rest = rest.replace(/^[\s;]+/, "").replace(address, "")
    if (rest === "" || turns > maxCommands) return rest === ""
    const found = commands.map((command) => command.exec(rest)?.[0]).find((text) => text !== undefined)
    if (found === undefined) return false
    rest = rest.slice(found.length)
  }
  return true
}
