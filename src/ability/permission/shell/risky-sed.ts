// Scripts of sed. Only what is known to be harmless passes: "w", "W", "r" and "e" write files, read them and run programs,
// also as flags of a replacement.
import type { ShellWord } from "./word.ts"

const maxCommands = 200
/** Escaped characters, sets without the delimiter in them, and whatever else is not the delimiter. A set is read in one
 * way only ("]" is its first character or ends it): a choice would take hours for a line of a hundred characters. */
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

/** Short options: none with a value but a script, which follows the first "e", and the ending of -i. */
const known = /^-[nErsuzb]*([nErsuzb]$|[ei])/

export function isRiskySed(args: ShellWord[]): boolean {
  const texts = args.map(({ text }) => text)
  // "--expression" in short, and options with a value that could be taken for the script.
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
