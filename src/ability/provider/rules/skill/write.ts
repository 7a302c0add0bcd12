// Writing a file with `write`: its content stands in the request.
import { type Clause, slice } from "../clause.ts"
import { verbs } from "../lexicon.ts"
import { isLiteral } from "../literal.ts"
import { isFile, isPath, namedFile } from "../recognize.ts"
import { isMissing } from "../results.ts"
import { type Proposal, says } from "../skill.ts"
import type { Token } from "../tokens.ts"

const toFile = /^(?:called|named|to|into|in|as|file|at|inside|path|over|name)$/
/** Behind these comes what shall be in the file. */
const holds =
  /^(?:with|containing|contains|saying|says|contain|say|reads|reading|having|has|content|contents|text|body|:|includes|including|holding|following|follows|be)$/
const glue =
  /^(?:the|a|an|this|these|content|contents|text|body|following|of|as|is|that|which|it|says|saying|reads|contains|containing|just|string|line|lines|word|words|single|one|message|:|=|should|and|in|be|inside|only|data|to|value)$/

export function write(clause: Clause): Proposal | undefined {
  const isSet = says(clause, /^(?:set|change|replace|update) (?:the )?(?:whole |entire )?contents? of\b/)
  const isWanted =
    says(clause, /^\S+\.\w+ (?:with|containing) (?:the )?(?:contents?|text)\b.* Q$/) ||
    says(clause, /^an? (?:new |empty )*(?:file|script)\b.*\b(?:that|which|with|containing|saying)\b/)
  if ((!verbs.write.has(clause.verb) && !isSet && !isWanted) || clause.urls.length > 1) return undefined
  // "save https://… to page.html" means the page, not its address.
  if (clause.urls.length && !clause.quotes.length && clause.words.indexOf("") <= 3) return undefined
  const isTask = says(clause, /\b(?:todos?|to-do|tasks?|checklist)\b/)
  if (isTask && !clause.tokens.some(({ text }) => isFile(text))) return undefined
  if (says(clause, /^\w+ (?:me )?(?:a |an |the )?(?:new |empty )*(?:folder|directory|dir)(?: |$)/))
    return {
      score: 3.5,
      calls: [],
      refusal: "I cannot make folders, but writing a file makes those it needs.",
    }
  const target = targetOf(clause)
  if (!target) return undefined
  const path = placed(clause, target)
  const others = clause.quotes.filter(({ text }) => text !== target.path)
  if (
    others.length > 1 &&
    others.every(({ sign }) => sign !== "```") &&
    !clause.tokens.some(({ text }) => text === ":")
  )
    return {
      score: 3.2,
      calls: [],
      refusal: `Say which it is: write "…" to ${path}, or replace "…" with "…" in ${path}`,
    }
  const content = contentOf(clause, target.at)
  if (content === undefined) return newFile(clause, path)
  const score = /^(?:write|create|save|overwrite|put|make|touch)$/.test(clause.verb) ? 5 : 4
  return { score, calls: [{ tool: "write", args: { path, content } }] }
}

/** A file of which only the name is said begins empty, and never in the place of another one. */
function newFile(clause: Clause, path: string): Proposal {
  const refusal = `Say what ${path} shall contain: write "…" to ${path}`
  const isEmptying = says(clause, /\b(?:empty|blank)$/)
  const isDescribed = says(clause, /\b(?:that|which|with|for|to) \w+/) && !says(clause, /\b(?:empty|blank)\b/)
  if (isEmptying || isDescribed || !/^(?:create|make|new|start|touch|add)$/.test(clause.verb))
    return { score: 3.2, calls: [], refusal }
  return {
    score: 4,
    calls: [{ tool: "read", args: { path } }],
    after: {
      pick: "own",
      tool: "write",
      otherwise: `${path} is there already, so nothing was written`,
      make: (_, [found]) => (isMissing(found) ? [{ tool: "write", args: { path, content: "" } }] : []),
    },
  }
}

/** "named x in data": the folder that is named right behind a bare name. */
function placed({ tokens, words, place }: Clause, target: { path: string; at: number }): string {
  const next = words.slice(target.at + 1, target.at + 3).join(" ")
  const folder = tokens
    .slice(target.at + 2, target.at + 4)
    .find(({ text }) => text.replace(/\/+$/, "") === place)
  if (!folder || !/^(?:in|inside|under|into)\b/.test(next) || target.path.includes("/") || place === ".")
    return target.path
  return `${place}/${target.path}`
}

/** The file, and where it is named. */
function targetOf(clause: Clause): { path: string; at: number } | undefined {
  const { tokens, words } = clause
  const isTarget = (token: Token, i: number): boolean => {
    // "write a test for a.ts" is about it.
    if (/^(?:for|about|from|like|against)$/.test(words[i - 1] ?? "")) return false
    const isNew =
      /^(?:create|make|touch|generate|overwrite|fill)$/.test(clause.verb) &&
      (i === 1 || /^(?:a|the|new|empty)$/.test(words[i - 1] ?? ""))
    if (token.kind === "quote")
      return (
        (isNew || toFile.test(words[i - 1] ?? "")) && /^[\w.@/~+ -]+$/.test(token.text) && isPath(token.text)
      )
    return (
      token.kind === "word" &&
      (isFile(token.text) || (namedFile(token) !== undefined && !/^files?$/.test(words[i + 1] ?? "")))
    )
  }
  const path = (i: number) => namedFile(tokens[i]) ?? tokens[i]!.text
  const end = Math.min(tokens.length, 400)
  const places = Array.from({ length: end }, (_, i) => i).filter((i) => i > 0 && isTarget(tokens[i]!, i))
  const announced = places.find((i) => /^(?:called|named|file|to|into|as)$/.test(words[i - 1] ?? ""))
  const last = /^(?:write|put|save|add|store)$/.test(clause.verb)
    ? places.findLast((i) => toFile.test(words[i - 1] ?? ""))
    : undefined
  const at = last ?? announced ?? places[0]
  if (at !== undefined) return { path: path(at), at }
  const loose = words.findIndex(
    (_, i) => i > 1 && /^(?:called|named)$/.test(words[i - 1]!) && /^[\w./-]+$/.test(tokens[i]!.text),
  )
  const file = words.findIndex(
    (_, i) =>
      i > 1 &&
      words[i - 1] === "file" &&
      /^[\w./-]+$/.test(tokens[i]!.text) &&
      !holds.test(words[i]!) &&
      !/^(?:called|named|that|which|in|for|at|to)$/.test(words[i]!),
  )
  const found = loose > 0 ? loose : file
  return found > 0 && says(clause, /\bfile\b/) ? { path: tokens[found]!.text, at: found } : undefined
}

function contentOf(clause: Clause, target: number): string | undefined {
  const { tokens, words } = clause
  const block = tokens.findIndex(({ text }, i) => text === ":" && tokens[i + 1]?.text === "\n")
  if (block > 0) {
    const lines = tokens.slice(block + 1).filter(({ text }) => text !== "\n")
    return lines.length === 1 && lines[0]!.kind === "quote" ? lines[0]!.text : behind(clause, block + 1, true)
  }
  const own = words.findIndex((word, i) => i > target && holds.test(word))
  const quote = tokens.findLast((token, i) => token.kind === "quote" && i !== target)
  const data = own > 0 ? behindGlue(clause, own) : -1
  if (data > 0 && /^[{[<]/.test(tokens[data]!.text) && tokens[data]!.kind === "word")
    return behind(clause, data)
  if (quote) return withBreaks(quote)
  const empty = words.findIndex((word) => /^(?:empty|blank)$/.test(word))
  // "make a.txt empty" would take away what is in it.
  if (empty > 0 && empty < target) return ""
  const colon = tokens.findIndex(({ text }, i) => text === ":" && i > 0)
  if (colon > 0 && !isInside(clause, own, colon) && colon < tokens.length - 1)
    return behind(clause, Math.max(colon, target > colon ? 0 : colon) + 1, true)
  const start = words.findIndex(
    (word, i) =>
      i > 0 &&
      holds.test(word) &&
      i !== target &&
      !(word === "text" && /^files?$/.test(words[i + 1] ?? "")) &&
      !(word === "contents" && i < target && words[i + 1] === "of"),
  )
  if (start > target) return behind(clause, behindGlue(clause, start))
  // "write hello world to notes.txt"
  const end = target - (/^(?:file|called|named)$/.test(words[target - 1] ?? "") ? 2 : 1)
  const before = words.slice(0, target).findLastIndex((word) => /^(?:to|into|in|as|inside)$/.test(word))
  if (/^(?:write|put|save|add|store|jot)$/.test(clause.verb) && before > 1 && before <= end + 1) {
    const text = slice(clause, 1, before).replace(/^(?:the (?:text|word|line|words|string) |down |out )/i, "")
    const isAnnounced = /^(?:text|word|line|words|string)$/.test(words[2] ?? "")
    if (isAnnounced || isLiteral(text, clause.tokens[target]!.text)) return text
  }
  return says(clause, /^(?:create|make|new|add|start|touch)\b/) &&
    says(clause, /\b(?:new|empty|blank)\b.*\bfile\b/)
    ? ""
    : undefined
}

function behindGlue({ tokens, words }: Clause, start: number): number {
  let from = start
  while (from < tokens.length - 1 && (holds.test(words[from]!) || glue.test(tokens[from]!.lower))) from++
  return from
}

/** A colon of the content itself. */
function isInside({ tokens }: Clause, own: number, colon: number): boolean {
  return own > 0 && tokens.slice(own + 1, colon).some(({ lower }) => !glue.test(lower) && !holds.test(lower))
}

/** To the end; behind a colon with the marks that end it, which are not those of the request. */
function behind(clause: Clause, from: number, isWhole = false): string | undefined {
  const { end } = clause.tokens.at(-1)!
  const marks = isWhole ? (/^[.!?)\]}]+/.exec(clause.source.slice(end, end + 10))?.[0] ?? "") : ""
  const text = clause.source.slice(clause.tokens[from]?.start ?? 0, end + marks.length)
  const said = text.trim().replace(/ (?:in|inside) it$/, "")
  return from < clause.tokens.length && said ? said : undefined
}

/** In double quotes people write `\n` for a new line. */
function withBreaks({ text, sign }: Token): string {
  return sign === '"' ? text.replaceAll("\\n", "\n").replaceAll("\\t", "\t") : text
}
