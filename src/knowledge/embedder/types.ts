// The type of an embedder, which turns a text into a vector, and the prefixes of queries and documents that embedding
// models expect, from their model cards. Without them, results are worse.

export type Embedder = Readonly<{
  /** The model and its version. Vectors of another id are computed again. */
  id: string
  dimensions: number
  /** Of unit length; the zero vector if the text says nothing to the model. */
  embed(text: string): Promise<Float32Array>
  embedBatch(texts: readonly string[]): Promise<Float32Array[]>
  /** Synchronous, if it takes microseconds. */
  embedNow?(text: string): Float32Array
  /** If the vector of a text is the sum of the vectors of its pieces: callers can weight them. */
  pieces?: Pieces
  /** Texts that the model expects before a query and before a document. */
  prefixes?: Prefixes | undefined
  /** Maps cosines to the scale of the embedded model, for which thresholds were chosen. */
  scale?(): Promise<(cosine: number) => number>
  close(): Promise<void>
}>

export type Pieces = Readonly<{
  /** The ids of the pieces of a text, in order. */
  of(text: string): number[]
  /** Adds the vector of a piece, times a weight, to a sum, whose numbers before `from` stay as they are. */
  add(piece: number, weight: number, sum: Float32Array, from?: number): void
}>

export type Prefixes = Readonly<{ query: string; document: string }>

const passages = "Represent this sentence for searching relevant passages: "
const known: [RegExp, Prefixes][] = [
  [/embedding-?gemma/i, { query: "task: search result | query: ", document: "title: none | text: " }],
  [/nomic-embed/i, { query: "search_query: ", document: "search_document: " }],
  [/qwen3?-embedding/i, { query: "Instruct: Retrieve what fits the request\nQuery: ", document: "" }],
  [/arctic-embed.*v2/i, { query: "query: ", document: "" }],
  [/arctic-embed|mxbai-embed|bge-(?:small|base|large)-en/i, { query: passages, document: "" }],
  [/(?:^|[^a-z])e5-(?!mistral)/i, { query: "query: ", document: "passage: " }],
]

/** By the name of the model or of its file. */
export function prefixesOf(name: string): Prefixes | undefined {
  return known.find(([form]) => form.test(name))?.[1]
}
