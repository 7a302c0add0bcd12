// One thing that is asked for, with what can be recognized in it.
import { endingsIn } from "./endings.ts"
import { meantVerb, meantWord } from "./lexicon.ts"
import { type Lines, linesIn } from "./lines.ts"
import { into, placeIn } from "./places.ts"
import { endingOf, isFile, isGlob, namedFile, splitLines } from "./recognize.ts"
import type { Token } from "./tokens.ts"

export type Clause = {
  /** The whole request, from which places are cut. */
  source: string
  tokens: Token[]
  /** Words in lower case; what is no word is empty. */
  words: string[]
  /** All of it in one line: words in lower case, Q for quoted text, U for an address. */
  shape: string
  verb: string
  quotes: Token[]
  urls: Token[]
  globs: string[]
  files: string[]
  /** Where to look: a folder, or the only file. */
  place?: string
  endings: string[]
  lines: Lines
  isQuestion: boolean
  isCounting: boolean
}

/** Recognition looks at the start; what follows is content. */
const maxLooked = 400

export function readClause(source: string, tokens: Token[]): Clause {
  const looked = tokens.slice(0, maxLooked)
  const words = looked.map(({ kind, lower }, i) =>
    kind === "word" ? (i ? meantWord(lower) : meantVerb(lower)) : "",
  )
  const lines = linesIn(looked, words)
  const globs: string[] = []
  const files: string[] = []
  for (const [i, token] of looked.entries()) {
    const { kind, text } = token
    if (kind === "quote" && /^\S+$/.test(text) && token.sign !== "```" && isGlob(text)) globs.push(text)
    if (kind === "quote" && isQuotedFile(text, words[i - 1] ?? "")) files.push(text)
    if (kind !== "word") continue
    if (isGlob(text)) globs.push(text)
    const { path, from, to } = splitLines(text)
    if (from !== undefined) Object.assign(lines, { from, to })
    const name = namedFile(token)
    const isBareName = name !== undefined && !/[./]/.test(text)
    if (
      !isBareName &&
      isFile(path) &&
      !(into.has(words[i + 1] ?? "") && endingOf(path) && path.startsWith("."))
    )
      files.push(path)
    else if (name && words[i + 1] !== "files") files.push(name)
  }
  const clause: Clause = {
    source,
    tokens,
    words,
    shape: looked
      .map((token, i) => (token.kind === "word" ? words[i]!.slice(0, 100) : shapeOf(token)))
      .join(" "),
    verb: words[0] ?? "",
    quotes: looked.filter(({ kind }) => kind === "quote"),
    urls: looked.filter(({ kind }) => kind === "url"),
    globs,
    files: [...new Set(files)],
    endings: endingsIn(looked, words),
    lines,
    isQuestion: /^(?:what|what's|whats|which|where|where's|who|how|is|are|does|do|why|when|should)$/.test(
      words[0] ?? "",
    ),
    isCounting: /\b(?:how many|number of|count)\b/.test(words.join(" ")),
  }
  const place = placeIn(looked, words)
  return place === undefined ? clause : { ...clause, place }
}

/** With spaces only where a file must come. */
function isQuotedFile(text: string, before: string): boolean {
  if (!isFile(text) || !/^[\w.@/+ ~-]+$/.test(text)) return false
  return (
    !text.includes(" ") ||
    /^(?:files?|read|open|cat|show|view|in|to|into|of|called|named|print|display|me|the|as|inside|from)$/.test(
      before,
    )
  )
}

function shapeOf({ kind, lower }: Token): string {
  return kind === "quote" ? "Q" : kind === "url" ? "U" : lower.slice(0, 100)
}

/** What stands between two places of the clause, as it was written. */
export function slice(clause: Clause, from: number, to = clause.tokens.length): string {
  const part = clause.tokens.slice(from, to)
  const [first, last] = [part[0], part.at(-1)]
  return first && last ? clause.source.slice(first.start, last.end) : ""
}
