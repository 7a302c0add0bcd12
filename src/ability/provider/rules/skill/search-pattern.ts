// What a search looks for.
import { type Clause, slice } from "../clause.ts"
import { isCode, isFile, isGlob, isPath } from "../recognize.ts"
import { says } from "../skill.ts"
import type { Token } from "../tokens.ts"

export type Found = { text: string; isQuoted: boolean; isRegex: boolean; at: number }

/** Verbs that can mean nothing else. */
export const strong = /^(?:search|grep|rg|ripgrep|scan|hunt|ack)$/
/** Words between files and what is in them. */
export const holds =
  "contains?|containing|mentions?|mentioning|uses?|using|imports?|importing|references?|referencing|calls?|calling|includes?|including|exports?|defines?|throws?|throwing|requires?|has|have|having|says?|saying|with|matching|matches|declares?|implements?|extends?|references|talks?|discuss|discusses|refers?|deals?"

/** What is looked for: quoted, between slashes, or behind the word that announces it. */
export function patternsIn(clause: Clause): Found[] {
  const { tokens } = clause
  const isPlace = (token: Token, i: number) =>
    /^(?:in|inside|under|within|from|below|across|folder|directory|file|path)$/.test(
      tokens[i - 1]?.lower ?? "",
    ) &&
    (isFile(token.text) || token.text === clause.place || /[/]/.test(token.text))
  const quoted = tokens.flatMap((token, i): Found[] => {
    if (
      token.kind === "quote" &&
      token.text &&
      !isPlace(token, i) &&
      !(isGlob(token.text) && tokens.some((other) => other.kind === "quote" && other !== token))
    )
      return [{ ...asPattern(clause, token.text.replace(/\n+$/, "")), isQuoted: true, at: i }]
    return []
  })
  const plain = quoted.filter(({ at }) => !isGlob(tokens[at]!.text) || quoted.length === 1)
  if (plain.length) {
    if (plain.length > 1 && says(clause, /Q (?:or|\/) (?:for )?Q/)) return [either(plain)]
    return plain.slice(0, 5)
  }
  const slashed = tokens.findIndex(
    ({ kind, text }) => kind === "word" && /^\/.+\/[gimsu]*$/.test(text) && /[\\^$*+?()[\]|.]/.test(text),
  )
  if (slashed > 0) {
    const text = tokens[slashed]!.text.replace(/^\/|\/[gimsu]*$/g, "")
    return [{ text, isQuoted: true, isRegex: true, at: slashed }]
  }
  return bare(clause)
}

function asPattern(clause: Clause, text: string): { text: string; isRegex: boolean } {
  const slashed = /^\/(.+)\/[gimsu]*$/.exec(text)
  if (slashed && /[\\^$*+?()[\]|]/.test(text)) return { text: slashed[1]!, isRegex: true }
  const isRegex =
    says(clause, /\b(?:regex|regexp|regular expression|pattern|matching)\b/) &&
    !says(clause, /\b(?:literal|exact)/)
  return { text, isRegex }
}

const announcing = new RegExp(`^(?:for|of|to|${holds}|about)$`)
const determiner =
  /^(?:the|a|an|any|all|every|each|word|words|string|strings|text|term|phrase|functions?|class|method|variable|symbol|identifier|type|interface|constant|pattern|regex|regexp|regular|expression|keyword|my|our|this|that|new|some|code|literal|exact|files?|lines?|called|named|can|could|which|where|what|for|of|to|me|usages?|uses|mentions?|references?|occurrences?|calls?|instances?|imports?|definitions?|name|component|const|module|package|library|comments?|callers?|in|find|is|are|a|many|do|does|did|we|i|you|they|it|us|people|there|times|often|how|anything|anyone|anybody|everything|everywhere|about|if|whether|following)$/
const trailingNoun =
  /^(?:comments?|statements?|calls?|functions?|methods?|class|classes|usages?|strings?|imports?|variables?|is|are|used|defined|called|declared|imported|implemented|anywhere|somewhere|everywhere|mentioned|it|please|set|gets?|being|keyword|markers?|component|module|type|interface|throws?|thrown|errors?|hook|tags?|live|lives|located|do|does|we|at|appears?|occurs?|exported|handled|referenced|instances?|constant|currently|coming|going|stored|kept|assigned|loaded|written|computed|happen|happens|come|comes|from|created|show|shows|up|there|exist|exists|have|got|remain|left|around|been|was|were)$/
const preposition =
  /^(?:in|inside|under|within|across|throughout|below|from|through|anywhere|everywhere|ignoring|regardless|case-insensitively|case|recursively|appear|appears|occur|occurs|with|using|by)$/

/** Words behind the one that announces them, up to where the place begins. */
function bare(clause: Clause): Found[] {
  const { tokens, words } = clause
  const announced = words.findIndex(
    (word, i) =>
      i > 0 &&
      announcing.test(word) &&
      i < words.length - 1 &&
      !/^(?:look|search)$/.test(words[i + 1] ?? "") &&
      !(word === "of" && isPath(tokens[i + 1]!.text)),
  )
  let start = announced < 0 || /^(?:in|where)/.test(words[0] ?? "") ? 1 : announced + 1
  if (strong.test(clause.verb) && announced < 0 && /^(?:in|through|inside|under)$/.test(words[1] ?? "")) {
    const later = words.findIndex((word, i) => i > 1 && word === "for")
    if (later < 0) return []
    start = later + 1
  }
  if (tokens[start]?.text === ":") start++
  if (/^(?:where|how)/.test(words[0] ?? "") && announced < 0) start = behindVerb(words, start)
  while (
    start < tokens.length &&
    tokens[start]!.kind === "word" &&
    determiner.test(words[start]!) &&
    start < tokens.length - 1
  )
    start++
  let end = start
  while (
    end < tokens.length &&
    tokens[end]!.kind === "word" &&
    !(end > start && preposition.test(words[end]!))
  )
    end++
  if (end === start) return []
  while (end > start + 1 && trailingNoun.test(words[end - 1]!)) end--
  if (
    end === start + 1 &&
    /^(?:files?|it|them|that|this|here|there|something|everything|anything|stuff|bugs|folder|directory)$/.test(
      words[start]!,
    )
  )
    return []
  const text = cleaned(slice(clause, start, end))
  if (
    !text ||
    isGlob(text) ||
    (isFile(text) &&
      !says(
        clause,
        /^(?:where|who|what|which)\b.*\b(?:used|imported|import|imports|uses|mention\w*|contain\w*)\b/,
      ) &&
      !strong.test(clause.verb))
  )
    return []
  const parts = text.split(/ (?:or|and) |, /).map(cleaned)
  if (parts.length > 1 && parts.every((part) => isCode(part) || /^\S+$/.test(part))) {
    const all = parts.map((part): Found => ({ text: part, isQuoted: false, isRegex: false, at: start }))
    return / or /.test(text) || parts.every((part) => /^[A-Z]+$/.test(part)) ? [either(all)] : all
  }
  return [{ ...asPattern(clause, text), isQuoted: false, at: start }]
}

/** "where do we throw X" */
function behindVerb(words: string[], start: number): number {
  const at = words.findIndex(
    (word, i) =>
      i >= start &&
      i < 5 &&
      /^(?:throw|use|call|define|import|set|handle|create|declare|export|reference|mention|implement|log|raise|catch)$/.test(
        word,
      ),
  )
  return at > 0 && at < words.length - 1 ? at + 1 : start
}

/** `TODOs` are `TODO`s, and a call is found by its name. */
function cleaned(text: string): string {
  return text
    .replace(/\(\)$/, "")
    .replace(/^([A-Z]{3,})s$/, "$1")
    .replace(/^(todo|fixme)s?$/i, (word) => word.replace(/s$/i, "").toUpperCase())
}

function either(found: Found[]): Found {
  const text = found
    .map((one) => (one.isRegex ? one.text : one.text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")))
    .join("|")
  return { text, isQuoted: true, isRegex: true, at: found[0]!.at }
}
