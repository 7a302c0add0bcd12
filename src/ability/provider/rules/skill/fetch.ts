// Getting a page with `fetch`.
import type { Clause } from "../clause.ts"
import { verbs } from "../lexicon.ts"
import { type Proposal, says } from "../skill.ts"

const domain =
  /^(?:(?:www\.)?[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev|de|uk|eu|app|ai|co|gov|edu|info|sh|me|xyz)|localhost|127\.0\.0\.1)(?::\d{1,5})?(?:\/\S*)?$/i

export function fetchPage(clause: Clause): Proposal | undefined {
  const urls = clause.urls.map(({ text }) => text)
  for (const { text } of clause.quotes) if (/^https?:\/\/\S+$/i.test(text)) urls.push(text)
  if (
    !urls.length &&
    /^(?:fetch|visit|download|browse|go|open|curl|wget|retrieve|scrape|get|load|grab)$/.test(clause.verb)
  )
    for (const { kind, text } of clause.tokens.slice(0, 100))
      if (kind === "word" && text.length < 500 && domain.test(text))
        urls.push(`${/^(?:localhost|127)/.test(text) ? "http" : "https"}://${text}`)
  const isSaving = says(
    clause,
    /^(?:save|store|download|put|write)\b(?: (?:the|page|at|content|contents|of|me|this|:))* U\b.* (?:to|into|as|in) \S+\.\w+$/,
  )
  if (
    !urls.length ||
    (says(clause, /\b(?:replace|todo|remind|search for|grep|task|write|save|add|put|create)\b/) && !isSaving)
  )
    return undefined
  const calls = [...new Set(urls)].map((url) => ({ tool: "fetch", args: { url } }))
  if (isSaving)
    return {
      score: 6,
      calls,
      refusal: "I show the page, but cannot save it: run `curl -o file address` does.",
    }
  if (/^(?:curl|wget)$/.test(clause.verb) && says(clause, /(?:^| )-{1,2}[a-z]/)) return undefined
  const score = verbs.fetch.has(clause.verb) || clause.tokens.length === 1 ? 6 : 4
  return { score, calls }
}
