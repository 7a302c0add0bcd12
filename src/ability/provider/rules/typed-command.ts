// Whether words are a command as one types it, and no sentence that begins with a program's name.
import type { Clause } from "./clause.ts"
import { isClearProgram, isProgram } from "./lexicon.ts"
import { isFolder } from "./recognize.ts"

/** Programs that have a tool of their own here. */
const tools = /^(?:ls|cat|head|tail|grep|rg|find|curl|wget|tree)$/

/** A flag that changes nothing here; with any other one, the command is run as it is. */
function isPlainFlag(word: string): boolean {
  return /^-[rRnHiEsIh]+$|^--(?:recursive|line-number|ignore-case|with-filename|color\S*)$/.test(word)
}

/** A clause that is a command and no sentence. */
export function isTyped({ verb, words, tokens, quotes }: Clause): boolean {
  if (quotes.some(({ sign }) => sign === "`")) return false
  if (verb === "kill")
    return words.length > 1 && words.slice(1).every((word) => /^-\w+$|^\d+$|^%\d+$/.test(word))
  if (verb === "sed" && words.includes("in")) return false
  if (isProgram(verb) && tokens.some(({ text }) => /^(?:\||\|\||&&|>|>>|2>&1)$/.test(text))) return true
  if (/^(?:grep|rg)$/.test(verb) && words.some((word) => /^-/.test(word) && !isPlainFlag(word))) return true
  if (tools.test(verb))
    return (
      /^(?:find|curl|wget|tree|tail)$/.test(verb) && words.slice(1).some((word) => /^-{1,2}[a-z]/i.test(word))
    )
  if (isClearProgram(verb))
    return words.length === 1 || !/^(?:the|a|an|is|are|my|this|all|for|was|has|version)$/.test(words[1] ?? "")
  if (!isProgram(verb)) return false
  const hasFlag = words.slice(1).some((word) => /^-{1,2}[a-z]/i.test(word))
  if (verb === "make" && words.length > 1)
    return (
      words.length === 2 &&
      /^(?:test|build|all|install|clean|lint|check|run|dev|format|release)$/.test(words[1]!)
    )
  if (
    /^(?:go|node|diff|touch|sudo|sleep|source|bundle|rails|gem|helm|stat|swift|composer|env|uv)$/.test(verb)
  )
    return (
      hasFlag ||
      (words.length >= 2 &&
        words.length <= 6 &&
        !/^(?:to|the|ahead|and|through|a|an|over|on|back|it|this|all|modules|version|file|my)$/.test(
          words[1] ?? "",
        ) &&
        tokens[1]?.kind === "word")
    )
  if (words.length === 1) return /^(?:date|env|history|make)$/.test(verb)
  return hasFlag || /^\.{0,2}\//.test(verb)
}

/** A sentence that begins with a program's name is none: "rm the old files" would remove something else. */
export function literal(command: string): string[] {
  if (/^(?:echo|printf)\b/.test(command)) return [command]
  const bare = command.replaceAll(/"[^"]*"|'[^']*'/g, "").slice(0, 2_000)
  const isSentence =
    /\s(?:the|on|me|my|our|that|which|it|them|those|these|every|everything|unused|old|stale|anything|some|whatever|all \w+|any \w+|of|please|this|and|then)(?:\s|$)/i.test(
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
