// The vectors of documents and of queries. If the embedder exposes the pieces (subwords) of a text, they are weighted: stop
// words are left out, the name of a document counts twice, its other fields a little. A query also gives short windows,
// because four words of a long request often say what it is about.
import { setImmediate } from "node:timers/promises"
import { toUnit } from "#knowledge/embedder/embedded-model.ts"
import type { Embedder, Pieces } from "#knowledge/embedder/types.ts"
import { stopWords } from "./significant-words.ts"
import type { Document } from "./types.ts"

export type Question = { vector: Float32Array; windows(): Float32Array[] }
export type Weigher = Readonly<{
  documents(documents: readonly Document[]): Promise<Float32Array[]>
  question(query: string): Promise<Question>
}>

const maxEmbedded = 600
const windowLength = 4
/** Windows of a long query that are used. */
const maxWindows = 200
const moreWeight = 0.2

export function createWeigher(embedder: Embedder): Weigher {
  return embedder.pieces ? weighPieces(embedder.pieces, embedder.dimensions) : weighWhole(embedder)
}

function weighWhole(embedder: Embedder): Weigher {
  const { query, document } = embedder.prefixes ?? { query: "", document: "" }
  return {
    documents: (documents) => embedder.embedBatch(documents.map((one) => `${document}${textOf(one)}`)),
    question: async (words) => ({ vector: await embedder.embed(`${query}${words}`), windows: () => [] }),
  }
}

function weighPieces(pieces: Pieces, dimensions: number): Weigher {
  let stops: Set<number> | undefined

  /** Whether a piece is a stop word. Stop words of several pieces do not count. */
  function isStopWord(piece: number): boolean {
    stops ??= new Set([...stopWords].flatMap((word) => onlyOf(pieces.of(word))))
    return stops.has(piece)
  }

  function add(text: string, weight: number, sum: Float32Array): void {
    for (const piece of pieces.of(text)) if (!isStopWord(piece)) pieces.add(piece, weight, sum)
  }

  async function weighAll(documents: readonly Document[]): Promise<Float32Array[]> {
    const vectors: Float32Array[] = []
    for (const document of documents) {
      vectors.push(weighDocument(document))
      // Thousands of documents must not block the event loop.
      if (vectors.length % 500 === 0) await setImmediate()
    }
    return vectors
  }

  function weighDocument(document: Document): Float32Array {
    const sum = new Float32Array(dimensions)
    const name = splitCase(document.name.slice(0, maxEmbedded))
    add(name, 1, sum)
    add(`${name}: ${document.text.slice(0, maxEmbedded)}`.slice(0, maxEmbedded), 1, sum)
    add(`${document.group} ${(document.more ?? "").slice(0, maxEmbedded)}`, moreWeight, sum)
    return toUnit(sum)
  }

  function weighQuery(query: string): Question {
    const told = pieces.of(query).filter((piece) => !isStopWord(piece))
    const sum = new Float32Array(dimensions)
    for (const piece of told) pieces.add(piece, 1, sum)
    return { vector: toUnit(sum), windows: () => windowsOf(told) }
  }

  /** A sliding window: the next piece is added, the oldest one subtracted. */
  function windowsOf(told: number[]): Float32Array[] {
    if (told.length <= windowLength) return []
    const sum = new Float32Array(dimensions)
    const windows: Float32Array[] = []
    for (const [at, piece] of told.slice(0, maxWindows).entries()) {
      pieces.add(piece, 1, sum)
      if (at >= windowLength) pieces.add(told[at - windowLength]!, -1, sum)
      if (at >= windowLength - 1) windows.push(toUnit(sum.slice()))
    }
    return windows
  }

  return {
    documents: weighAll,
    question: async (query) => weighQuery(query),
  }
}

function textOf({ group, name, text }: Document): string {
  return `${group} ${name}: ${text}`.trim().slice(0, maxEmbedded)
}

function onlyOf(found: number[]): number[] {
  return found.length === 1 ? found : []
}

function splitCase(name: string): string {
  return name.replace(/([a-z0-9])(?=[A-Z])/g, "$1 ")
}
