// The terms of a search: quoted text, or the clause without the words that only say how to search.
import { type Clause, slice } from "#ability/provider/rules/words/clause.ts"
import { isCode, isFile } from "#ability/provider/rules/words/recognize.ts"
import { says } from "./proposal.ts"

export type SearchTerm = { text: string; isRegex: boolean }

/** Words that make a clause a search. */
const intent =
  /^(?:search|grep|rg|ripgrep|scan|hunt|ack|where|where's|wheres|who|lookup)\b|\b(?:search(?:ing)? (?:for|through|in)|look(?:ing)? (?:for|up)|grep)\b|\b(?:occurrences?|usages?|uses?|using|used|references?|referenced|referencing|mentions?|mentioned|mentioning|mention of|instances? of|calls?|called|callers?|calling|contains?|containing|imports?|imported|importing|defines?|defined|defining|definition|declared?|declaration|implement(?:s|ed|ation)|throws?|thrown|handled?|set|appears?|occurs?|exported?|exports|refers?|talks?|says?|exist|configured|extends|saying|words?|deals?|requires?|includes?|including|initiali[sz]ed|instantiated|registered|logged|stored|come from|happens?)\b|\b(?:todos?|fixmes?|hacks?)\b/
/** Verbs that mean a search if their object is text. */
const finds =
  /^(?:find|locate|spot|detect|show|list|get|give|see|check|is|are|does|do|any|count|how|which|what|in|display|print|tell|i'm|string|text|the|function|class|a)\b/
/** Words that only say how and where to search. */
const filler = new Set(
  (
    "search grep rg ripgrep scan hunt ack look looking up lookup for through find locate spot detect show list get give see check display print me us tell " +
    "where where's wheres who which what how is are was were be been do does did can could would we i you they it its us one people someone anyone anybody anything " +
    "everything something nothing the a an any all every each some my our your this that these those there here if whether of to in inside under within across throughout " +
    "below from over at on content contents with by about as and or file files folder folders directory code codebase project repo repository source sources place places line lines spot spots " +
    "occurrence occurrences usage usages use uses using used reference references referenced referencing mention mentions mentioned mentioning instance instances call calls called callers calling " +
    "contain contains containing import imports imported importing define defines defined defining definition definitions declare declares declared declaration implement implements implemented " +
    "implementation throw throws thrown handle handles handled handling set sets setting appear appears appearing occur occurs exported export exports refer refers talk talks say says saying exist exists " +
    "configured decided extends deal deals require requires required include includes including initialized instantiated registered logged stored come comes happen happens happening kept " +
    "word words string strings text term phrase function functions class classes method methods variable variables symbol identifier type interface constant const pattern regex regexp regular expression keyword " +
    "literal exact named name component module package library comment comments case insensitive insensitively case-insensitive case-insensitively ignoring ignore regardless anywhere somewhere everywhere " +
    "have has having go count many times often number please live lives located made created create sits only also currently just still still open tests entire whole any more left out do string: value file's " +
    "extension suffix string's both results matches matching match ones one whose when coming statement statements marker markers tag tags every remaining around new error's definition's i'm a"
  ).split(" "),
)

export function searchTerms(clause: Clause): SearchTerm[] {
  if (clause.urls.length || says(clause, /\b(?:file ?names?|files? (?:named|called|matching))\b/)) return []
  const { quotes, tokens, words } = clause
  const isTodo = says(clause, /\b(?:todos?|fixmes?|hacks?)\b/)
  if (
    !intent.test(clause.shape) &&
    !(finds.test(clause.shape) && (quotes.length || isTodo || hasCode(clause)))
  )
    return []
  if (clause.files.length && (says(clause, /^(?:read|open|cat)\b/) || clause.lines.from || clause.lines.last))
    return []
  if (
    !quotes.length &&
    says(clause, /^where(?:'s| is| are)(?: the| my| our)?(?: file)? F(?: located| stored| kept)?$/)
  )
    return []
  const isRegex = says(clause, /\b(?:regex|regexp|regular expression|pattern)\b/)
  const texts = quotes.filter(
    ({ text, lower }) =>
      text.trim() &&
      !clause.folders.includes(text) &&
      !(clause.files.includes(text) && !strong.test(clause.verb) && !clause.globs.length) &&
      lower !== "",
  )
  if (texts.length) {
    const all = texts.map(({ text }) => asPattern(text.replace(/\n+$/, ""), isRegex))
    return says(clause, /\bQ or (?:for )?Q\b/) ? [either(all)] : all.slice(0, 5)
  }
  // The term is one piece of the clause: from the first word that is no filler to the last one before a folder, glob or
  // URL.
  const signs = clause.shape.split(" ")
  const isLeft = (i: number) =>
    tokens[i]!.kind === "word" && !/^[DGU]$/.test(signs[i] ?? "") && !filler.has(words[i]!)
  const isPlace = (i: number) =>
    signs[i] === "F" &&
    /^(?:in|of|from|inside|within|the|file|search|grep|scan|does|do|through|under)$/.test(words[i - 1] ?? "")
  const start = words.findIndex((_, i) => isLeft(i) && !isPlace(i) && !(signs[i] === "F" && i === 0))
  if (start < 0) return []
  let end = start + 1
  while (
    end < words.length &&
    tokens[end]!.kind === "word" &&
    !/^[DGUF]$/.test(signs[end] ?? "") &&
    !stops.test(words[end]!)
  )
    end++
  while (end > start + 1 && (filler.has(words[end - 1]!) || tokens[end - 1]!.kind === "mark")) end--
  const text = slice(clause, start, end)
  if (!text || (end - start > 5 && !/^(?:search|grep|rg)$/.test(clause.verb))) return []
  const parts = text.split(/ (?:or|and) |, /).map((part) => asPattern(cleaned(part), isRegex))
  if (parts.length < 2) return [asPattern(cleaned(text), isRegex || slashed.test(text))]
  return / or /.test(text) || parts.every(({ text }) => /^[A-Z]+$/.test(text)) ? [either(parts)] : parts
}

const strong = /^(?:search|grep|rg|scan)$/
const slashed = /^\/(.+)\/[gimsu]*$/
const stops =
  /^(?:in|inside|under|within|across|throughout|below|from|anywhere|everywhere|ignoring|regardless|case-insensitively|case|recursively|defined|used|called|declared|imported|handled|set|implemented|located|mentioned|decided|appears?|occurs?|is|are|please)$/

function hasCode({ tokens }: Clause): boolean {
  return tokens.some(
    ({ kind, text }) => kind === "word" && isCode(text) && !isFile(text) && /^[A-Za-z_$]/.test(text),
  )
}

function asPattern(text: string, isRegex: boolean): SearchTerm {
  const found = slashed.exec(text)
  return found && /[\\^$*+?()[\]|]/.test(text) ? { text: found[1]!, isRegex: true } : { text, isRegex }
}

/** `TODOs` are `TODO`s, and a call is found by its name. */
function cleaned(text: string): string {
  return text
    .replace(/\(\)$/, "")
    .replace(/^([A-Z]{3,})s$/, "$1")
    .replace(/^(todo|fixme|hack)s?$/i, (word) => word.replace(/s$/i, "").toUpperCase())
}

function either(found: SearchTerm[]): SearchTerm {
  const text = found
    .map((one) => (one.isRegex ? one.text : one.text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")))
    .join("|")
  return { text, isRegex: true }
}
