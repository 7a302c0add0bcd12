// Words that point at earlier results: "it", "the smallest", "the first one", "each of them".
import type { Clause } from "./clause.ts"
import type { Pick } from "./skill.ts"

const order: Record<string, number> = { first: 0, second: 1, third: 2, fourth: 3, fifth: 4 }
const nouns = "(?: (?:one|file|match|result|hit|of|entry)\\b|$)"

export function pickIn({ shape }: Clause): Pick | undefined {
  const plain = shape.replace(/\b(?:first|last) (?:[\w-]+ )?lines?\b/g, "")
  if (/\b(?:smallest|shortest|tiniest|least)\b/.test(shape)) return "smallest"
  if (/\b(?:largest|biggest|longest|heaviest|greatest)\b/.test(shape)) return "largest"
  if (new RegExp(`\\blast${nouns}`).test(plain)) return "last"
  const nth = new RegExp(`\\b(first|second|third|fourth|fifth)(?: (?!lines?\\b)\\w+)?${nouns}`).exec(plain)
  if (nth) return order[nth[1]!]!
  if (/\b(?:each|every one|all of (?:them|those|these)|them|those|these|they|both)\b/.test(shape))
    return "each"
  if (/\b(?:it|its|it's|that|this|that one|this one|(?:the|that|this) (?:file|result|match))\b/.test(shape))
    return "it"
  return undefined
}
