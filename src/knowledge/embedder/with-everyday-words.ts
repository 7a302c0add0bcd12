// Widens the embedded model by vectors of 40,000 everyday English words. The model was trained on texts about software, and
// documents are about anything: "ferry" must be near to "harbour". model/README.md says where the vectors are from.
import { fileURLToPath } from "node:url"
import { type EmbeddedModel, embeddedFacts, readEmbedded, toUnit } from "./embedded-model.ts"
import type { Embedder, Pieces } from "./types.ts"

const wordFacts = { id: "vitamin-words-1", dimensions: 100 }
const wordFile: string = fileURLToPath(new URL("./model/words.bin", import.meta.url))

/** Characters of a text that are embedded. */
const maxText = 20_000
/** How many tokens are kept, and how long they may be. */
const maxKept = 20_000
const maxToken = 40

let shared: EmbeddedModel | undefined

/** Other embedders are returned as they are. The file is opened for the first text. */
export function withEverydayWords(embedder: Embedder): Embedder {
  if (embedder.id !== embeddedFacts.id || !embedder.pieces) return embedder
  const pieces = joinPieces(embedder.pieces)
  const dimensions = embeddedFacts.dimensions + wordFacts.dimensions
  const embedNow = (text: string): Float32Array => {
    const sum = new Float32Array(dimensions)
    for (const piece of pieces.of(text)) pieces.add(piece, 1, sum)
    return toUnit(sum)
  }
  return Object.freeze({
    ...embedder,
    id: `${embeddedFacts.id}+${wordFacts.id}`,
    dimensions,
    pieces,
    embedNow,
    embed: async (text: string) => embedNow(text),
    embedBatch: async (texts: readonly string[]) => texts.map(embedNow),
  })
}

/** The pieces of a text, then its words as negative numbers. No piece or word spans a blank, so that those of a token can be
 * kept for the next text with it. */
function joinPieces(narrow: Pieces): Pieces {
  const kept = new Map<string, { pieces: number[]; words: number[] }>()
  const words = () => {
    shared ??= readEmbedded(wordFile, wordFacts)
    return shared.pieces
  }

  function read(token: string): { pieces: number[]; words: number[] } {
    const found = { pieces: narrow.of(token), words: words().of(token) }
    if (kept.size >= maxKept) kept.clear()
    if (token.length <= maxToken) kept.set(token, found)
    return found
  }

  function of(text: string): number[] {
    const found: number[] = []
    const second: number[] = []
    for (const token of text.slice(0, maxText).split(/\s+/)) {
      const known = kept.get(token) ?? read(token)
      for (const piece of known.pieces) found.push(piece)
      for (const word of known.words) second.push(-word)
    }
    for (const word of second) found.push(word)
    return found
  }

  function add(piece: number, weight: number, sum: Float32Array): void {
    if (piece >= 0) narrow.add(piece, weight, sum)
    else words().add(-piece, weight, sum, embeddedFacts.dimensions)
  }

  return Object.freeze({ of, add })
}
