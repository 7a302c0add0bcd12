// Judges awk commands. A program that only computes and prints is harmless; one that runs commands, writes files, or reads
// from a command is risky. So is every option that is not listed here: many load programs or write files.
import type { ShellWord } from "./word.ts"

const flags = new Set(
  "--posix --traditional --re-interval --sandbox --csv --bignum --characters-as-bytes --use-lc-numeric -P -b -c -n -N -r -S -M -k".split(
    " ",
  ),
)
const value = /^(?:\w+=|--assign=\w+=|--field-separator=|-v\w+=|-F.)/s

export function isRiskyAwk(args: ShellWord[]): boolean {
  if (args.some(({ text }) => /^(-[fEilDWo]|--(f(?!ield)|e|i|l|so))/.test(text))) return true
  for (let i = 0; i < args.length; i++) {
    const { text, isLiteral, isMany } = args[i]!
    if (text === "--") return !isProgram(args[i + 1])
    if (!text.startsWith("-") || text === "-") return !isProgram(args[i])
    if (text === "-v" || text === "-F") i++
    else if (!flags.has(text) && !value.test(text)) return true
    if (isMany || (!isLiteral && !value.test(text)) || args[i]?.isMany) return true
  }
  return true
}

function isProgram(word: ShellWord | undefined): boolean {
  return word?.isLiteral === true && isHarmless(word.text)
}

function isHarmless(program: string): boolean {
  const code = withoutTexts(program)
  if (code === undefined || /\b(system|getline|close|fflush)\b|@|\|(?!\|)/.test(code.replaceAll("||", "")))
    return false
  const statements = code.replace(/(,|&&|\|\||\\|\?|:)\s*\n/g, "$1 ").split(/[;}\n]/)
  return !statements.some(printsElsewhere)
}

function printsElsewhere(statement: string): boolean {
  const at = statement.search(/\bprintf?\b/)
  return at >= 0 && statement.includes(">", at)
}

const text = /^"(?:[^"\\\n]|\\[\s\S])*"/
const comment = /^#[^\n]*/
// A bracket expression can match in one way only, as in awk: "]" is its first character or ends it. If the pattern could
// match it in two ways, backtracking over a hundred characters would take hours.
const pattern = /^\/(?:[^/\\\n[\]]|\\.|\[(?:\^\]|\^(?!\])|\]|(?![\]^]))[^\]\\/\n]*\])*\//
/** After these a slash begins a pattern; after a name, a number or a bracket it divides. */
const beforePattern = /(^|[({,;!~&|\n=?:<>*%^}]|\b(print|printf|return|in|else|do|exit|case))\s*$/
const longestBefore = 12

/** The code with empty strings in place of strings and patterns. Undefined if it is unclear whether a slash divides or
 * begins a pattern, or if a string or pattern does not end. */
function withoutTexts(program: string): string | undefined {
  const code: string[] = []
  let before = ""
  for (let rest = program; rest !== ""; ) {
    const isSlash = rest[0] === "/"
    if (isSlash && isDoubtful(before, rest)) return undefined
    const mayBePattern = isSlash && beforePattern.test(before)
    const found = (mayBePattern ? pattern : rest[0] === "#" ? comment : text).exec(rest)?.[0]
    if (found === undefined && (mayBePattern || rest[0] === '"')) return undefined
    const next = found === undefined ? rest[0]! : rest[0] === "#" ? " " : '""'
    rest = rest.slice(found?.length ?? 1)
    if (/[ \t]/.test(next) && /[ \t]$/.test(before)) continue
    code.push(next)
    before = (before + next).slice(-longestBefore)
  }
  return code.join("")
}

function isDoubtful(before: string, rest: string): boolean {
  if (/[+-]\s*$/.test(before)) return true
  return /\)\s*$/.test(before) && /^\/[^/]*"[^/]*\//.test(rest)
}
