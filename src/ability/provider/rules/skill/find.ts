// Finds text in files with `grep`, and files by name with `glob`.
import type { Clause } from "#ability/provider/rules/words/clause.ts"
import { at, type Call, one, type Proposal, says } from "./proposal.ts"
import { searchTerms } from "./search-terms.ts"

export function search(clause: Clause): Proposal | undefined {
  const found = searchTerms(clause)
  if (!found.length) return undefined
  const [glob] = clause.globs.filter((glob) => found.every(({ text }) => text !== glob))
  const files = clause.files.filter((file) => found.every(({ text }) => text !== file))
  const places = files.length ? files : clause.folders.length ? clause.folders : [undefined]
  const isAnyCase = says(clause, /\bcase[- ]?insensitiv\w*|\bignor\w+ (?:the )?case\b|\bregardless of case\b/)
  const calls = found.flatMap(({ text, isRegex }) =>
    places.slice(0, 10).map((path): Call => {
      const args: Call["args"] = { pattern: text, ...at(path) }
      if (!isRegex && /[.*+?^${}()|[\]\\]/.test(text)) args.fixed = true
      if (isAnyCase || (!isRegex && /^[a-z]+$/.test(text) && !clause.quotes.length)) args.ignoreCase = true
      if (glob && !files.length) args.glob = glob
      return { tool: "grep", args }
    }),
  )
  return { calls, ...(says(clause, /\bhow (?:many|often)\b/) ? { count: "matches" as const } : {}) }
}

/** Globs, and files that are asked for by their name. */
export function globsFor(clause: Clause): Call["args"][] {
  const { globs, files, quotes } = clause
  const [folder] = clause.folders
  const endings = globs.flatMap((glob) => /^\*\.([\w.]+)$/.exec(glob)?.[1] ?? [])
  const merged = endings.length > 1 && endings.length === globs.length ? [`*.{${endings.join(",")}}`] : globs
  const all = merged.map((pattern) =>
    pattern.includes("/") ? { pattern } : { pattern: folder ? `**/${pattern}` : pattern, ...at(folder) },
  )
  if (all.length) return all
  const isName = says(
    clause,
    /\b(?:files?|anything|something) (?:that (?:is|are) |which (?:is|are) )?(?:called|named|matching|like)\b|\bwhere(?:'s| is| are)\b|^(?:find|locate|search|look for|is there|are there|do|does|which)\b/,
  )
  const names = isName ? [...new Set([...files, ...quotes.map(({ text }) => text)])] : []
  return names.map((pattern) => ({ pattern, ...at(folder) }))
}

export function find(clause: Clause): Proposal | undefined {
  const globs = globsFor(clause)
  const isRead =
    says(
      clause,
      /^(?:read|open|cat|print|head|tail|view|pull|see|display)\b|^show(?: me)?(?: the)? (?:file|contents?)\b/,
    ) && !clause.globs.length
  const isAbout =
    says(clause, /\b(?:contain\w*|define\w*|function|class|say|says|lines?)\b/) && clause.files.length > 0
  if (globs.length && !isRead && !isAbout) return { calls: globs.map((args) => ({ tool: "glob", args })) }
  const named =
    /\b(?:find|where(?:'s| is| are)|locate|is there|are there|have|has|which is|which are|show|list|look for|get)\b(?: (?:an?|any|the|all|me|our|my|some|every|is|are|of))*((?: (?!files?\b|folders?\b|an?\b|the\b|any\b)[\w.-]+){1,2}) files?$/.exec(
      clause.shape,
    )
  const words = named?.[1]?.trim().split(" ")
  if (words?.every((word) => /^[a-z][\w-]{2,}$/.test(word) && !plain.test(word)))
    return one("glob", { pattern: `**/*{${capitals(words.at(-1)!).join(",")}}*`, ...at(clause.folders[0]) })
  if (says(clause, asksForTests))
    return one("glob", { pattern: "**/*{test,spec}*", ...at(clause.folders[0]) })
  return undefined
}

const asksForTests =
  /^(?:is|are|does|do|have|has|where|which|what|find|show|list)\b.*\b(?:have|has|are|there|find|any|where|the|all|our|list|show|which|what) (?:\w+ )?tests?(?: files?)?$/
/** Words before "files" that are no kind of file. */
const plain =
  /^(?:the|all|these|those|other|any|some|new|old|big|large|small|many|few|more|most|first|last|recent|changed|modified|project|source|hidden|empty|unused|different|matching|and|for|with|open|what|which|there|are|current|your|those|only)$/

function capitals(word: string): string[] {
  return [word, word[0]!.toUpperCase() + word.slice(1), word.toUpperCase()]
}
