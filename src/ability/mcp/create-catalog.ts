// Things of one kind that servers offer: found by words, known by their server and their name.
import { createTextIndex } from "#knowledge/discovery/text-index.ts"

export type SearchOptions = { limit?: number; serverId?: string }
export type Match<T> = { item: T; serverId: string; score: number }
export type Catalog<T> = Readonly<{
  put(item: T, serverId: string): void
  search(query: string, options?: SearchOptions): Match<T>[]
  removeServer(serverId: string): void
  close(): void
}>

const usualLimit = 10

export function createCatalog<T extends { name: string; title?: string; description?: string }>(
  keyOf: (item: T) => string,
): Catalog<T> {
  const index = createTextIndex()
  const known = new Map<string, { item: T; serverId: string }>()
  // No id of a server has a line end in it.
  const idOf = (item: T, serverId: string) => `${serverId}\n${keyOf(item)}`

  function put(item: T, serverId: string): void {
    const id = idOf(item, serverId)
    known.set(id, { item, serverId })
    const description = [item.title, item.description, keyOf(item)].filter(Boolean).join("\n")
    index.put({ id, name: item.name, description })
  }

  function search(query: string, { limit = usualLimit, serverId }: SearchOptions = {}): Match<T>[] {
    const hits = index.search(query, serverId === undefined ? limit : known.size)
    const matches = hits.map(({ id, score }) => ({ ...known.get(id)!, score }))
    return matches.filter((match) => serverId === undefined || match.serverId === serverId).slice(0, limit)
  }

  function removeServer(serverId: string): void {
    for (const [id, entry] of known)
      if (entry.serverId === serverId) {
        known.delete(id)
        index.remove(id)
      }
  }

  return Object.freeze({ put, search, removeServer, close: index.close })
}
