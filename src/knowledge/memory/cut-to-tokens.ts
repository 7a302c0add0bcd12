// The beginning of a text that has no more than so many tokens, by the estimate.
import { estimateTokens } from "./estimate-tokens.ts"

/** As many whole lines as fit. A first line that does not fit alone is cut where it must be. */
export function cutToTokens(text: string, tokens: number): string {
  if (estimateTokens(text) <= tokens) return text
  const kept: string[] = []
  let left = tokens
  for (const line of text.split("\n")) {
    left -= estimateTokens(line) + 1
    if (left < 0) break
    kept.push(line)
  }
  // No character counts more than two.
  return kept.length ? kept.join("\n").trimEnd() : text.slice(0, Math.floor(tokens / 2)).toWellFormed()
}
