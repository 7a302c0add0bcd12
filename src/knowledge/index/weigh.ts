// The vectors of documents and of queries. Where an embedder gives the pieces of a text, they are weighed: words that say
// nothing are left out, a name counts twice, what else is known of a document a little; and a query is also cut into short
// windows, because a request often says in four words what it is about, and in forty what else.
import { setImmediate } from "node:timers/promises"
import { toUnit } from "#knowledge/embedder/embedded-model.ts"
import type { Embedder, Pieces } from "#knowledge/embedder/types.ts"
import { stopWords } from "./stop-words.ts"
import type { Document } from "./types.ts"

export type Question = { vector: Float32Array; windows(): Float32Array[] }
export type Weigher = Readonly<{
  documents(documents: readonly Document[]): Promise<Float32Array[]>
  question(query: string): Promise<Question>
}>

const maxEmbedded = 600
const windowLength = 4
/** Of a long query's windows, no more are looked at. */
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
  let silent: Set<number> | undefined

  /** A stop word that is cut into pieces is none to the embedder. */
  function isSilent(piece: number): boolean {
    silent ??= new Set([...stopWords].flatMap((word) => onlyOf(pieces.of(word))))
    return silent.has(piece)
  }

  function add(text: string, weight: number, sum: Float32Array): void {
    for (const piece of pieces.of(text)) if (!isSilent(piece)) pieces.add(piece, weight, sum)
  }

  async function weighAll(documents: readonly Document[]): Promise<Float32Array[]> {
    const vectors: Float32Array[] = []
    for (const document of documents) {
      vectors.push(weighDocument(document))
      // Thousands of them must not hold up what else the program does.
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
    const told = pieces.of(query).filter((piece) => !isSilent(piece))
    const sum = new Float32Array(dimensions)
    for (const piece of told) pieces.add(piece, 1, sum)
    return { vector: toUnit(sum), windows: () => windowsOf(told) }
  }

  /** One step further: the next piece is added, the last but four taken away. */
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
