// Shortens text to a number of tokens, and says how much was left out.
import { cut } from "#knowledge/memory/shorten.ts"
import { estimateTokens } from "#knowledge/memory/tokens.ts"

/** The first lines that fit, and how many are missing. */
export function linesWithin(lines: readonly string[], tokens: number): { lines: string[]; missing: number } {
  let rest = tokens
  const fits = lines.findIndex((line) => {
    rest -= estimateTokens(line) + 1
    return rest < 0
  })
  const count = fits < 0 ? lines.length : fits
  return { lines: lines.slice(0, count), missing: lines.length - count }
}

/** The whole text if it fits, else its beginning and its end. */
export function textWithin(text: string, tokens: number): string {
  let short = text
  for (let limit = tokens * 4; limit >= 40 && estimateTokens(short) > tokens; limit = Math.floor(limit * 0.7))
    if (limit < text.length) short = cut(text, limit)
  return estimateTokens(short) > tokens ? short.slice(0, tokens).toWellFormed() : short
}

/** The text on one line, cut after `length` characters. */
export function oneLine(text: string, length: number): string {
  const line = text.replace(/\s+/g, " ").trim()
  return line.length > length ? `${line.slice(0, length).toWellFormed()}…` : line
}

/** A title with the lines that fit below it. Empty if there is no line. */
export function section(title: string, lines: readonly string[], tokens: number): string[] {
  if (!lines.length) return []
  // Long lines are cut: several short ones are more useful than one whole line.
  const short = lines.map((line) => oneLine(line, Math.max(40, tokens)))
  const { lines: shown, missing } = linesWithin(short, tokens)
  return [[title, ...shown, ...(missing ? [`and ${missing} more.`] : [])].join("\n")]
}
