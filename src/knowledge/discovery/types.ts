// The words of discovery: what is indexed, what is found, and what turns a text into a vector.
import type { Prefixes } from "./prefixes.ts"

export type Embedder = Readonly<{
  /** Names the model and its version; vectors of another id are made anew. */
  id: string
  dimensions: number
  /** Of unit length; the zero vector means "no opinion". */
  embed(text: string): Promise<Float32Array>
  embedBatch(texts: readonly string[]): Promise<Float32Array[]>
  /** Where it costs microseconds: without waiting. */
  embedNow?(text: string): Float32Array
  /** Where a text's vector is the sum of its pieces' vectors: whoever asks can weigh them. */
  pieces?: Pieces
  /** What the model wants before a query and before a document. */
  prefixes?: Prefixes | undefined
  /** Of another model: its cosines on the scale of the embedded one, for which thresholds were chosen. */
  scale?(): Promise<(cosine: number) => number>
  close(): Promise<void>
}>

export type Pieces = Readonly<{
  /** The numbers of a text's pieces, in their order. */
  of(text: string): number[]
  /** Adds a piece's vector, times a weight, to a sum. */
  add(piece: number, weight: number, sum: Float32Array): void
}>

export type Document = {
  /** Unique in the index. */
  id: string
  /** Whose it is (an MCP server's id, a file): removed together. */
  group: string
  /** Weighs most in text search; also embedded. */
  name: string
  /** A description, or the text of a chunk; embedded (its beginning, with group and name). */
  text: string
  /** For text search only: parameters, when to use, path. */
  more?: string
}

export type Hit = {
  id: string
  score: number
  text?: { rank: number; score: number }
  vector?: { rank: number; score: number }
}

export type SearchOptions = {
  limit?: number
  group?: string
  mode?: "fused" | "rrf" | "text" | "vector"
}

export type Index = Readonly<{
  /** One transaction. What is there already, unchanged, costs next to nothing. */
  put(documents: readonly Document[]): Promise<void>
  remove(ids: readonly string[]): void
  removeGroup(group: string): void
  ids(): string[]
  /** The best first. */
  search(query: string, options?: SearchOptions): Promise<Hit[]>
  size(): number
  close(): void
}>
