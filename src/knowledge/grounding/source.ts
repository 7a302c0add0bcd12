// The interface of a read-only source: describe, list and search. The size of every answer is limited.

export type Query = {
  /** Only below this name: a folder of the repository, or the first parts of a key. */
  under?: string | undefined
  limit?: number | undefined
  /** A filter: refused entries are neither shown nor counted. */
  accepts?: ((name: string) => boolean) | undefined
  signal?: AbortSignal | undefined
}

/** Sorted by name. `total` is the number of entries; with `more` not all were read. */
export type Listing = { names: string[]; total: number; more: boolean }

/** `text` is the line, or the part of the entry, that fits. */
export type Item = { name: string; line?: number; kind?: string; text: string }

/** `more`: there are, or may be, others. `timedOut`: the search reached its time limit. */
export type Found = { items: Item[]; more: boolean; timedOut?: boolean }

export type Source<Search extends Query = Query> = Readonly<{
  /** A few lines of overview. */
  describe(query?: Query): Promise<string>
  list(query?: Query): Promise<Listing>
  search(query: Search): Promise<Found>
}>

/** Whether a name equals `under` or lies below it. */
export function isUnder(name: string, under: string | undefined): boolean {
  const parent = (under ?? "").replace(/^(\.?\/)+/, "").replace(/\/+$/, "")
  return parent === "" || parent === "." || name === parent || name.startsWith(`${parent}/`)
}
