// Whether words are a command as one types it, and no sentence that begins with a program's name.
import type { Clause } from "#ability/provider/rules/words/clause.ts"
import { isClearProgram, isProgram } from "#ability/provider/rules/words/lexicon.ts"
import { isFolder } from "#ability/provider/rules/words/recognize.ts"

/** Programs that have a tool of their own here. */
const tools = /^(?:ls|cat|head|tail|grep|rg|find|curl|wget|tree)$/

/** A flag that changes nothing here; with any other one, the command is run as it is. */
function isPlainFlag(word: string): boolean {
  return /^-[rRnHiEsIh]+$|^--(?:recursive|line-number|ignore-case|with-filename|color\S*)$/.test(word)
}

/** Words behind a program's name that make it a sentence. */
const prose =
  /^(?:to|the|ahead|and|through|a|an|over|on|back|it|this|all|modules|version|file|my|is|are|for|was|has)$/

/** A clause that is a command and no sentence. */
export function isTyped({ verb, words, tokens, quotes }: Clause): boolean {
  if (tokens[0]!.text !== verb || !isProgram(verb) || quotes.some(({ sign }) => sign === "`")) return false
  const rest = words.slice(1)
  const hasFlag = rest.some((word) => /^-{1,2}[a-z]/i.test(word))
  if (verb === "kill") return rest.length > 0 && rest.every((word) => /^-\w+$|^%?\d+$/.test(word))
  if (verb === "sed" && words.includes("in")) return false
  if (tokens.some(({ text }) => /^(?:\||\|\||&&|>|>>|2>&1)$/.test(text))) return true
  if (/^(?:grep|rg)$/.test(verb)) return rest.some((word) => word.startsWith("-") && !isPlainFlag(word))
  if (tools.test(verb)) return hasFlag && /^(?:find|curl|wget|tree|tail)$/.test(verb)
  if (isClearProgram(verb)) return !prose.test(rest[0] ?? "")
  if (!rest.length) return /^(?:date|env|history|make)$/.test(verb)
  if (verb === "make")
    return (
      rest.length === 1 &&
      /^(?:test|build|all|install|clean|lint|check|run|dev|format|release)$/.test(rest[0]!)
    )
  const isShort = rest.length <= 5 && !prose.test(rest[0]!) && tokens[1]!.kind === "word"
  const isUsual =
    /^(?:go|node|diff|touch|sudo|sleep|source|bundle|rails|gem|helm|stat|swift|composer|env|uv)$/
  return hasFlag || (isUsual.test(verb) && isShort) || /^\.{0,2}\//.test(verb)
}

/** A sentence that begins with a program's name is none: "rm the old files" would remove something else. */
export function literal(command: string): string[] {
  if (/^(?:echo|printf)\b/.test(command)) return [command]
  const bare = command.replaceAll(/"[^"]*"|'[^']*'/g, "").slice(0, 2_000)
  const isSentence =
    /\s(?:the|on|me|my|our|that|which|it|them|those|these|every|everything|unused|old|stale|anything|some|whatever|all \w+|any \w+|of|please|this|and|then|an?|is|are|requires?|should|must|when)(?:\s|$)/i.test(
      bare,
    )
  return isSentence || !isSafelyTold(command) ? [] : [command]
}

/** What takes something away is only run with words that can be names of files. */
function isSafelyTold(command: string): boolean {
  const [program, ...rest] = command.trim().split(/\s+/)
  if (!/^(?:rm|rmdir|mv|shred|unlink|dd|truncate)$/.test(program!)) return true
  const names = rest.filter((word) => !word.startsWith("-"))
  return names.length === 1 || names.every((name) => /[./*~$"'=\d-]/.test(name) || isFolder(name))
}
