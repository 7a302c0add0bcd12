// The part of a document to send: all of it if it is short, else the passages that fit the prompt, in their order,
// with where to read the rest.
import { fitsIntent } from "#knowledge/index/significant-words.ts"
import { cutToTokens, estimateTokens } from "#knowledge/memory/tokens.ts"
import { type Chunk, chunkMarkdown } from "#knowledge/rules/chunk-markdown.ts"
import type { ReferenceMatch } from "#knowledge/rules/rules-discovery.ts"
import type { Note } from "./notes.ts"
import { pathForTools } from "./shown-path.ts"

/** Tokens for the note on where the rest is. */
const frame = 40

/** Undefined if the document does not fit the prompt. */
export function takePassages(options: {
  path: string
  content: string
  match: ReferenceMatch
  intent: string
  tokens: number
  /** Undefined if it is unknown which passages are near. */
  cosine: number | undefined
}): Note | undefined {
  const { path, content, match, intent, tokens, cosine } = options
  const chunks = chunkMarkdown(content)
  const byLine = new Map(chunks.toReversed().map((chunk) => [chunk.line, chunk]))
  const found = match.passages.flatMap(({ line }) => byLine.get(line) ?? [])
  // Only the best passages count: a long document has some of the words somewhere.
  const best = found.slice(0, 2)
  const keys = [match.reference.displayText, path, ...best.map(({ heading }) => heading)].join("\n")
  const text = best.map((chunk) => chunk.text).join("\n")
  if (!fitsIntent(intent, { cosine, keys, text })) return undefined
  const whole = content.trim()
  if (estimateTokens(whole) <= tokens) return { kind: "rule", name: path, text: whole }
  const taken = within(found.length ? found : chunks, tokens - frame)
  const lines = taken.map(({ line }) => line).join(", ")
  const parts = taken.map((chunk) => chunk.text).join("\n\n[…]\n\n")
  const total = content.split("\n").length
  return {
    kind: "rule",
    name: `${path}:${lines}`,
    text: `${parts}\n\n[parts of ${total} lines: read ${pathForTools(match.reference.absolutePath)} for the rest]`,
  }
}

/** The best passages that fit, in the order of the document; of the very best one, at least its beginning. */
function within(chunks: readonly Chunk[], tokens: number): Chunk[] {
  const taken: Chunk[] = []
  let left = tokens
  for (const chunk of chunks) {
    const size = estimateTokens(chunk.text)
    if (size <= left) {
      taken.push(chunk)
      left -= size + 3
    } else if (!taken.length) return [{ ...chunk, text: cutToTokens(chunk.text, left) }]
  }
  return taken.sort((a, b) => a.line - b.line)
}
