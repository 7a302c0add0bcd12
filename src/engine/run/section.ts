// A title with lines below it, as many as fit a number of tokens.
import { linesWithin, oneLine } from "./fit-tokens.ts"

const shortest = 40

/** Empty if there is no line. */
export function section(title: string, lines: readonly string[], tokens: number): string[] {
  if (!lines.length) return []
  // A few short lines say more than the first one whole.
  const short = lines.map((line) => oneLine(line, Math.max(shortest, tokens)))
  const { lines: shown, missing } = linesWithin(short, tokens)
  return [[title, ...shown, ...(missing ? [`and ${missing} more.`] : [])].join("\n")]
}
