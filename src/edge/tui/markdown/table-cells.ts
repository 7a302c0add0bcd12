// The rows of a Markdown table: cells between pipes.
import type { Align } from "./block.ts"

const delimiter = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/

/** The alignments, if the line is the one below the head of a table. */
export function alignsOf(line: string): Align[] | undefined {
  if (!line.includes("-") || !line.includes("|") || !delimiter.test(line)) return undefined
  return cellsOf(line).map((cell) =>
    cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : "left",
  )
}

/** A pipe in a cell is written `\|`. */
export function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "")
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"))
}
