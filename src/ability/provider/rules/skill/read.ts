// Reading files, whole or in part, with `read`.
import type { Clause } from "../clause.ts"
import { verbs } from "../lexicon.ts"
import { pickIn } from "../picks.ts"
import { foldersIn } from "../places.ts"
import { type Call, type Proposal, says } from "../skill.ts"

const strong = /^(?:read|cat|open|view|print|display|head|tail|show|see|dump|preview|skim|less|summari[sz]e)$/
const asks = /^(?:what|what's|whats|how|does|is|which)\b/

export function read(clause: Clause): Proposal | undefined {
  const files = clause.files.length ? clause.files : looseFiles(clause)
  const { from, to, last } = clause.lines
  const range = {
    ...(from === undefined ? {} : { startLine: from }),
    ...(to === undefined ? {} : { endLine: to }),
  }
  const make = (path: string): Call[] => [{ tool: "read", args: { path, ...range } }]
  let score = strong.test(clause.verb) ? 2.5 : verbs.read.has(clause.verb) ? 2 : 0
  if (says(clause, /^(?:go|walk|step|run|take|talk)(?: (?:me|us))? through\b|^file \S+$/)) score += 2
  if (says(clause, asks)) score += 1.5
  if (says(clause, /\b(?:contents?|says?|contains?|text|inside|does|about|look like)\b/)) score += 0.5
  const hasLines = from !== undefined || last !== undefined
  if (hasLines) score += 1.5
  const extra = {
    ...(last === undefined ? {} : { last }),
    ...(says(clause, /\bhow (?:many lines|long)\b|\bcount (?:the |all )?lines|\bnumber of lines|\bline count/)
      ? { count: "lines" as const }
      : {}),
  }
  if ("count" in extra) score += 2
  const isPart = hasLines || "count" in extra
  const thought = isPart ? undefined : thinking(clause)
  if (clause.tokens.length === 1) score += 1
  if (files.length)
    return {
      score: score + 2.5,
      calls: [...files.flatMap(make), ...foldersBeside(clause)],
      ...extra,
      ...(thought ? { refusal: thought } : {}),
    }
  const pick = pickIn(clause) ?? (hasLines ? "it" : undefined)
  if (pick === undefined || clause.urls.length || clause.quotes.length) return undefined
  if (!score && !hasLines) return undefined
  return { score: score + (isPart ? 1.5 : 1), calls: [], after: { pick, tool: "read", make }, ...extra }
}

/** What takes more than reading is left to the person, and said. */
export function thinking(clause: Clause): string | undefined {
  const verb = /^(?:summari[sz]e|explain|describe|review|analy[sz]e)\b/.exec(clause.shape)?.[0]
  const isAsked = verb !== undefined || says(clause, /^what does\b.* do$/)
  return isAsked ? `This is the text itself: fixed rules cannot ${verb ?? "explain"} it.` : undefined
}

/** "show a.txt and docs" */
function foldersBeside(clause: Clause): Call[] {
  if (!strong.test(clause.verb) || clause.quotes.length || clause.lines.from !== undefined) return []
  const isBeside = (folder: string) => {
    const at = clause.tokens.findIndex(({ text }) => text.replace(/(.)\/+$/, "$1") === folder)
    return at === clause.tokens.length - 1 && /^(?:and|&)$/.test(clause.words[at - 1] ?? "")
  }
  return foldersIn(clause)
    .filter(isBeside)
    .map((path) => ({ tool: "ls", args: { path } }))
}

/** "cat scripts/deploy" names a file, whatever it looks like; so do lines. */
function looseFiles(clause: Clause): string[] {
  const isFile =
    /^(?:cat|head|tail|less|more)$/.test(clause.verb) ||
    (clause.verb === "read" && clause.words.length === 2) ||
    says(clause, /\bfile (?:called|named)\b/)
  const dotted = clause.tokens.filter(
    ({ kind, text }, i) =>
      i > 0 && kind === "word" && /^[\w-]+\.[a-z][\w-]{0,9}$/i.test(text) && !/\(/.test(text),
  )
  if (dotted.length === 1 && strong.test(clause.verb) && clause.tokens.length <= 6 && !clause.quotes.length)
    return [dotted[0]!.text]
  if (!isFile && clause.lines.from === undefined) return []
  const quoted = clause.quotes.filter(({ text }) => /^[\w.@/~+ -]+$/.test(text)).map(({ text }) => text)
  if (quoted.length) return quoted
  const folders = foldersIn(clause).filter((path) => path.includes("/"))
  if (folders.length || clause.verb === "show") return folders
  const word = clause.tokens.at(-1)!
  return isFile && clause.words.length > 1 && word.kind === "word" && !word.text.startsWith("-")
    ? [word.text]
    : []
}
