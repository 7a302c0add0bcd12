// The content of an index, and the results of a search.

export type Document = {
  /** Unique in the index. */
  id: string
  /** The owner, such as an MCP server or a file. Documents of a group are removed together. */
  group: string
  /** Weighs most in text search; also embedded. */
  name: string
  /** A description, or the text of a chunk. Its beginning is embedded, with group and name. */
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
  /** One transaction. Unchanged entries cost next to nothing. */
  put(documents: readonly Document[]): Promise<void>
  remove(ids: readonly string[]): void
  removeGroup(group: string): void
  ids(): string[]
  /** The best first. */
  search(query: string, options?: SearchOptions): Promise<Hit[]>
  size(): number
  close(): void
}>
