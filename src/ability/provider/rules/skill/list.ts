// Listing a folder with `ls`.
import type { Clause } from "../clause.ts"
import { verbs } from "../lexicon.ts"
import { foldersIn } from "../places.ts"
import { at, type Proposal, says } from "../skill.ts"

const nouns =
  /\b(?:files?|contents?|everything|folders?|director(?:y|ies)|dirs?|subfolders|subdirectories|entries|things|stuff|items|structure|layout|tree|hierarchy|all|listing|what's)\b/
const hereWords =
  /\b(?:here|(?:current|this|working|root|top-level|project) (?:folder|directory|dir|project|repo|repository|root)|(?:this|the|my|our) (?:project|repo|repository|workspace|root|codebase)|around|\.)(?: |$)/
const asks =
  /^(?:what|what's|whats|which)\b.*\b(?:in|inside|under|here|there|contains?|are|does|have|has|within|do)\b/

export function list(clause: Clause): Proposal | undefined {
  if (clause.globs.length || clause.endings.length || clause.urls.length) return undefined
  const folders = foldersIn(clause)
  const loose = folders.length ? folders : bareFolder(clause)
  const isQuotedFolder = clause.quotes.every(({ text }) => loose.includes(text.replace(/\/+$/, "")))
  if (
    !isQuotedFolder ||
    clause.files.length ||
    says(
      clause,
      /\b(?:todos?|fixmes?|tasks?|named|called|matching|containing|mention\w*|usages?|occurrences)\b(?! folder)|\bfiles?\b.* (?:imports?|contains?|uses?|references?|calls?|defines?|exports?|requires?|importing|using|calling|having) \S/,
    )
  )
    if (!(isQuotedFolder && says(clause, /\b(?:folder|directory) (?:called|named)\b/))) return undefined
  if (clause.tokens.length === 1 && loose.length)
    return { score: 3, calls: [{ tool: "ls", args: at(loose[0]) }] }
  const isList = verbs.list.has(clause.verb) && clause.verb !== "browse"
  let score = isList
    ? 3
    : verbs.read.has(clause.verb) || /^(?:what|what's|whats|which|how|are|is)$/.test(clause.verb)
      ? 1
      : 0
  if (!score && !/^(?:contents?|files|folder|directory|dir)$/.test(clause.verb)) return undefined
  if (says(clause, /\b(?:folder|directory|dir|project) (?:contents?|listing)\b/)) score += 1.5
  if (says(clause, nouns)) score += 1.5
  if (loose.length) score += 1.5
  if (says(clause, hereWords)) score += 1.5
  if (says(clause, /\b(?:structure|layout|tree|hierarchy)\b/)) score += 1
  if (loose.length && clause.words.length <= 4 && verbs.read.has(clause.verb)) score += 1
  if (says(clause, asks) || says(clause, /^(?:is|are) there (?:anything|something|any files?|files)\b/))
    score += 1.5
  if (says(clause, /^(?:look|peek|see|check) (?:in|inside|into|around|at)\b|\blisting\b/)) score += 1.5
  if (clause.lines.from !== undefined || says(clause, /\b(?:lines?|first \d+|smallest|largest|biggest)\b/))
    score -= 2
  if (says(clause, /\b(?:tests?|specs?|config|configuration|env|environment|lock|log) files\b/)) score -= 3
  if (clause.isCounting) score += 1
  if (/^(?:cat|head|tail)$/.test(clause.verb)) score -= 3
  const places = loose.length ? loose : [undefined]
  const calls = places.map((path) => ({ tool: "ls", args: at(path) }))
  return { score, calls, ...(clause.isCounting ? { count: "files" as const } : {}) }
}

/** "list foo" and "what is in foo" mean a folder, whatever its name. */
function bareFolder({ place, tokens, verb, words }: Clause): string[] {
  if (place) return [place]
  const last = tokens.at(-1)!
  const isBare =
    tokens.length === 2 && /^(?:list|ls|dir|tree)$/.test(verb) && /^[A-Za-z][\w.-]*$/.test(last.text)
  return isBare &&
    !/^(?:files?|everything|all|folders?|director(?:y|ies)|here|todos?|tasks?|it|them|contents?|stuff)$/.test(
      words[1]!,
    )
    ? [last.text]
    : []
}
