// Joins parts of a request that mean nothing alone with the part that they belong to: a place that comes first, a block that
// a word refers to.
import { isFile } from "./recognize.ts"
import type { Token } from "./tokens.ts"

export function joinClauses(source: string, clauses: Token[][]): Token[][] {
  return withPlaces(withLines(source, withBlocks(clauses)))
}

/** "a.txt, first 5 lines" and "open a.txt and show me lines 2 to 4" are about one file. */
function withLines(source: string, clauses: Token[][]): Token[][] {
  const belongs = (tokens: Token[] | undefined, before: Token[] | undefined) =>
    tokens !== undefined &&
    before !== undefined &&
    before.length <= 6 &&
    before.filter(({ text }) => isFile(text)).length === 1 &&
    tokens.length <= 8 &&
    tokens.some(({ lower }) => /^(?:lines?|rows?)$/.test(lower)) &&
    !tokens.some(({ text, kind, lower }) => isFile(text) || kind === "quote" || pointers.test(lower)) &&
    !before.some(({ lower }) => /^(?:lines?|rows?)$/.test(lower)) &&
    !/[.;!?\n]/.test(source.slice(before.at(-1)!.end, tokens[0]!.start))
  return clauses.flatMap((tokens, i) => {
    if (belongs(clauses[i + 1], tokens)) return []
    return [belongs(tokens, clauses[i - 1]) ? [...clauses[i - 1]!, ...tokens] : tokens]
  })
}

const pointers = /^(?:that|this|it|these|those|them)$/

/** "```…``` save that to a.js": the block replaces the word that refers to it, or is added to the clause that announces
 * it. */
function withBlocks(clauses: Token[][]): Token[][] {
  return clauses.flatMap((tokens, i) => {
    const [before, next] = [clauses[i - 1], clauses[i + 1]]
    if (isBlock(tokens) && next && pointerIn(next) >= 0) return []
    if (next && isBlock(next) && announces(tokens)) return [[...tokens, next[0]!]]
    if (before && isBlock(tokens) && announces(before)) return []
    if (!before || !isBlock(before)) return [tokens]
    const at = pointerIn(tokens)
    return [at < 0 ? tokens : tokens.with(at, before[0]!)]
  })
}

/** "run the following", with the block below it. */
function announces(tokens: Token[]): boolean {
  return (
    tokens.length <= 12 &&
    tokens.every(({ kind }) => kind !== "quote") &&
    tokens.some(({ lower }) => /^(?:this|these|following|below)$/.test(lower))
  )
}

function isBlock(tokens: Token[]): boolean {
  return tokens.length === 1 && tokens[0]!.sign === "```"
}

function pointerIn(tokens: Token[]): number {
  if (tokens.some(({ kind }) => kind === "quote")) return -1
  return tokens
    .slice(0, 6)
    .findIndex(({ kind, lower }, i) => i > 0 && kind === "word" && pointers.test(lower))
}

/** "in src, find x": the place comes first. */
function withPlaces(clauses: Token[][]): Token[][] {
  return clauses.flatMap((tokens, i) => {
    const before = clauses[i - 1]
    if (isPlace(tokens) && clauses[i + 1]) return []
    return [before && isPlace(before) ? [...tokens, ...asPlace(before)] : tokens]
  })
}

/** "in src", and "edit a.ts" of "edit a.ts and replace x with y". */
function isPlace(tokens: Token[]): boolean {
  const [first, last] = [tokens[0]!, tokens.at(-1)!]
  if (/^(?:edit|modify|update)$/.test(first.lower))
    return (
      tokens.length <= 4 &&
      isFile(last.text) &&
      tokens.every(({ kind }, i) => kind === "word" || i === tokens.length - 1)
    )
  if (/^(?:for|from)$/.test(first.lower)) return tokens.length <= 4 && isFile(last.text)
  return tokens.length <= 6 && /^(?:in|inside|under|within)$/.test(first.lower)
}

function asPlace(tokens: Token[]): Token[] {
  const [first, ...rest] = tokens
  return [{ ...first!, text: "in", lower: "in" }, ...rest]
}
