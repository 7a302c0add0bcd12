// What turns a text into a vector.
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
