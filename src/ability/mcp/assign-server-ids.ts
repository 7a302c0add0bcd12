// Assigns ids to the MCP servers that clients add to their sessions. Sessions that use the same name with the same settings
// share a server. If a session uses the name with other settings, its server gets a numbered id.
import { isDeepStrictEqual } from "node:util"
import type { MCPServerConfig } from "#ability/mcp/server/types.ts"
import type { Added, Found } from "./load-servers.ts"

type Place = { id: string; server: MCPServerConfig | undefined }
/** By session, then by the name that its client has for the server. */
export type Places = ReadonlyMap<string, ReadonlyMap<string, Place>>
type Wish = { sessionId: string; found: Found; last: Place | undefined }

const maxId = 64

/** `before` is the previous assignment. A server whose settings have not changed keeps its id. */
export function placeBrought(options: {
  brought: ReadonlyMap<string, readonly Added[]>
  before: Places
  /** Reads the settings of a server. Its id is still the name that the client gave. */
  read(added: Added): Found
  /** Whether a server of the configuration or of a skill has this id. A numbered id must not be the same. */
  isTaken(id: string): boolean
}): { places: Places; found: Found[]; problems: string[] } {
  const { brought, before, read, isTaken } = options
  const places = new Map([...brought.keys()].map((sessionId) => [sessionId, new Map<string, Place>()]))
  const held = new Map<string, Found>()
  const found: Found[] = []
  const problems: string[] = []

  function place({ sessionId, found: one }: Wish, id: string): void {
    const { server } = one
    places.get(sessionId)!.set(one.id, { id, server })
    held.set(id, one)
    found.push(server ? { ...one, id, server: { ...server, id } } : { ...one, id })
    if (id !== one.id)
      problems.push(
        `${one.id} of ${one.source} is named "${id}": another session uses the name "${one.id}" with other settings`,
      )
  }

  const mayStand = (id: string, name: string) =>
    !held.has(id) && (id === name || !(isTaken(id) || names.has(id)))

  function idFor({ found: { id: name, server }, last }: Wish): string {
    for (const [id, other] of held)
      if (other.id === name && isDeepStrictEqual(other.server, server)) return id
    if (last && mayStand(last.id, name)) return last.id
    let id = name
    for (let n = 2; !mayStand(id, name); n++) id = `${name.slice(0, maxId - 1 - `${n}`.length)}-${n}`
    return id
  }

  const stays = ({ found: { id: name, server }, last }: Wish) =>
    last !== undefined && isDeepStrictEqual(last.server, server) && (last.id === name || !isTaken(last.id))

  const wishes = [...brought].flatMap(([sessionId, list]) =>
    lastOfEach(list, read, problems).map(
      (found): Wish => ({ sessionId, found, last: before.get(sessionId)?.get(found.id) }),
    ),
  )
  const names = new Set(wishes.map(({ found }) => found.id))
  const usable = wishes.filter(({ found }) => found.server)
  for (const wish of usable.filter(stays)) place(wish, wish.last!.id)
  for (const wish of usable.filter((wish) => !stays(wish))) place(wish, idFor(wish))
  // An unusable server is only listed if no usable one has its id.
  for (const wish of wishes.filter(({ found }) => !found.server)) {
    const { id, source, problem } = wish.found
    if (held.get(id)?.server || isTaken(id)) problems.push(`${id} of ${source} is not used: ${problem}`)
    else place(wish, id)
  }
  return { places, found, problems }
}

/** The names and ids of the servers that clients added to a session and its parents. */
export function placesOf(
  { brought, places }: { brought: ReadonlyMap<string, unknown>; places: Places },
  line: readonly string[],
): { names: Set<string>; ids: Set<string> } {
  const all = line.flatMap((sessionId) => (brought.has(sessionId) ? [...(places.get(sessionId) ?? [])] : []))
  return { names: new Set(all.map(([name]) => name)), ids: new Set(all.map(([, { id }]) => id)) }
}

/** If a list has the same name twice, the later server counts. */
function lastOfEach(list: readonly Added[], read: (added: Added) => Found, problems: string[]): Found[] {
  const byName = new Map<string, Found>()
  for (const added of list) {
    const before = byName.get(added.id)
    const found = read(added)
    if (before && !isDeepStrictEqual(before.server, found.server))
      problems.push(`${found.id} of ${before.source} is replaced by another of ${found.source}`)
    byName.set(found.id, found)
  }
  return [...byName.values()]
}
