// Assigns ids to the MCP servers that clients add to their sessions. Sessions that use the same name with the same settings
// share a server. If a session uses the name with other settings, its server gets a numbered id.
import { isDeepStrictEqual } from "node:util"
import type { MCPServerConfig } from "#ability/mcp/server/types.ts"
import type { Added, Found } from "./load-servers.ts"

type Assigned = { id: string; server: MCPServerConfig | undefined }
/** By session, then by the name that its client gave to the server. */
export type AssignedIds = ReadonlyMap<string, ReadonlyMap<string, Assigned>>
type Request = { sessionId: string; found: Found; last: Assigned | undefined }

const maxId = 64

/** `before` is the previous assignment. A server whose settings have not changed keeps its id. */
export function assignServerIds(options: {
  ofSessions: ReadonlyMap<string, readonly Added[]>
  before: AssignedIds
  /** Reads the settings of a server. Its id is still the name that the client gave. */
  read(added: Added): Found
  /** Whether a server of the configuration or of a skill has this id. A numbered id must not be the same. */
  isTaken(id: string): boolean
}): { assigned: AssignedIds; found: Found[]; problems: string[] } {
  const { ofSessions, before, read, isTaken } = options
  const assigned = new Map(
    [...ofSessions.keys()].map((sessionId) => [sessionId, new Map<string, Assigned>()]),
  )
  const held = new Map<string, Found>()
  const found: Found[] = []
  const problems: string[] = []

  function assign({ sessionId, found: one }: Request, id: string): void {
    const { server } = one
    assigned.get(sessionId)!.set(one.id, { id, server })
    held.set(id, one)
    found.push(server ? { ...one, id, server: { ...server, id } } : { ...one, id })
    if (id !== one.id)
      problems.push(
        `${one.id} of ${one.source} is named "${id}": another session uses the name "${one.id}" with other settings`,
      )
  }

  const isFree = (id: string, name: string) =>
    !held.has(id) && (id === name || !(isTaken(id) || names.has(id)))

  function idFor({ found: { id: name, server }, last }: Request): string {
    for (const [id, other] of held)
      if (other.id === name && isDeepStrictEqual(other.server, server)) return id
    if (last && isFree(last.id, name)) return last.id
    let id = name
    for (let n = 2; !isFree(id, name); n++) id = `${name.slice(0, maxId - 1 - `${n}`.length)}-${n}`
    return id
  }

  const keepsId = ({ found: { id: name, server }, last }: Request) =>
    last !== undefined && isDeepStrictEqual(last.server, server) && (last.id === name || !isTaken(last.id))

  const requests = [...ofSessions].flatMap(([sessionId, list]) =>
    lastOfEach(list, read, problems).map(
      (found): Request => ({ sessionId, found, last: before.get(sessionId)?.get(found.id) }),
    ),
  )
  const names = new Set(requests.map(({ found }) => found.id))
  const usable = requests.filter(({ found }) => found.server)
  for (const request of usable.filter(keepsId)) assign(request, request.last!.id)
  for (const request of usable.filter((request) => !keepsId(request))) assign(request, idFor(request))
  // An unusable server is only listed if no usable one has its id.
  for (const request of requests.filter(({ found }) => !found.server)) {
    const { id, source, problem } = request.found
    if (held.get(id)?.server || isTaken(id)) problems.push(`${id} of ${source} is not used: ${problem}`)
    else assign(request, id)
  }
  return { assigned, found, problems }
}

/** The names and ids of the servers that clients added to a session and its parents. */
export function assignedTo(
  { ofSessions, assigned }: { ofSessions: ReadonlyMap<string, unknown>; assigned: AssignedIds },
  ancestry: readonly string[],
): { names: Set<string>; ids: Set<string> } {
  const all = ancestry.flatMap((sessionId) =>
    ofSessions.has(sessionId) ? [...(assigned.get(sessionId) ?? [])] : [],
  )
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
