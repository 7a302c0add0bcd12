// The MCP servers of an instance: configured ones, those of skills in use, and those that clients add to their
// sessions. Manifests tell what they offer, so a request does not wait for them, except a moment for servers that were
// never tried. The others start when they are first used.
import { isDeepStrictEqual } from "node:util"
import type { MCPHooks } from "#ability/mcp/server/types.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { errorText } from "#util/error.ts"
import { type AssignedIds, assignedTo } from "./assign-server-ids.ts"
import { type ConfiguredServer, createConfiguredServer } from "./configured-server.ts"
import { createStarter, type Starter } from "./create-starter.ts"
import { refuseElsewhere } from "./elsewhere.ts"
import { type Added, type Found, loadServers, mayStart, programOf, stampOf } from "./load-servers.ts"
import * as Manifest from "./manifest.ts"
import { pluginServers } from "./plugin-servers.ts"
import { Changed, NotFound, reportProblems, type Status, statusOf, Unusable } from "./server-status.ts"

export type {
  MCPContent,
  MCPPrompt,
  MCPPromptContent,
  MCPResourceContent,
} from "#ability/mcp/server/types.ts"
export { Changed, NotFound, Status } from "./server-status.ts"

/** The ids of a session, its parent, and so on. The servers of a session are visible to its tasks, too. */
export type Ancestry = readonly string[]
type Servers = {
  /** Identifies what the list was made from. */
  key?: string
  found: Found[]
  /** Servers of skills in use, by id. */
  added: Map<string, Added>
  /** Servers that clients added, by session. */
  ofSessions: Map<string, readonly Added[]>
  /** The ids that these servers have in `found`. */
  assigned: AssignedIds
  usable: Map<string, ConfiguredServer>
  problems: Map<string, string[]>
  said: Set<string>
  /** Changes of the list, one after the other. */
  work: Promise<unknown>
  /** Removed servers that have not ended yet. */
  closing: Map<string, Promise<unknown>>
  starter: Starter
}

const servers = Instance.state<Servers>(
  () => {
    const usable: Servers["usable"] = new Map()
    return {
      found: [],
      added: new Map(),
      ofSessions: new Map(),
      assigned: new Map(),
      usable,
      problems: new Map(),
      said: new Set(),
      work: Promise.resolve(),
      closing: new Map(),
      starter: createStarter(usable),
    }
  },
  async ({ usable, closing, starter, work }) => {
    starter.end()
    await work
    await Promise.all([...[...usable.values()].map((one) => one.close()), ...closing.values()])
    // Done last, when nobody waits for an answer.
    await Manifest.prune(Manifest.folder())
  },
)

/** Registers the known tools of a session's servers. Called before each request. */
export async function prepare(signal: AbortSignal, ancestry?: Ancestry): Promise<void> {
  const { starter } = servers()
  await starter.waitFor(await usable(ancestry), signal)
  starter.retryLater()
}

/** Adds servers of skills in use, until the instance ends. A configured server of the same id takes precedence. */
export function add(list: readonly Added[]): void {
  for (const one of list) servers().added.set(one.id, one)
}

/** Sets the servers that a client adds to a session; they replace earlier ones. New ones start in the background. With
 * an empty list, resolves when the session's servers have ended. Never throws. */
export async function setSessionServers(sessionId: string, list: readonly Added[]): Promise<void> {
  const own = servers()
  if (!own.ofSessions.delete(sessionId) && !list.length) return
  if (list.length) own.ofSessions.set(sessionId, list)
  const done = usable([sessionId]).then(
    (all) => {
      const { ids } = assignedTo(own, [sessionId])
      own.starter.begin(all.filter(({ server }) => ids.has(server.id)))
    },
    (error) =>
      Log.warn("the MCP servers of a session could not be added", { sessionId, error: errorText(error) }),
  )
  if (list.length) return
  await done
  await Promise.all(own.closing.values())
}

/** Ids of servers that a session must not see: those of other sessions, and those whose name it uses for a server of
 * its own. */
export function hiddenFrom(ancestry: Ancestry): ReadonlySet<string> {
  const own = servers()
  const { ids, names } = assignedTo(own, ancestry)
  const hidden = own.found.filter(
    ({ id, forSession }) => !ids.has(id) && (forSession === "private" || names.has(id)),
  )
  return new Set(hidden.map(({ id }) => id))
}

/** The status of all servers, or of those that a session sees. Starts none. `isQuiet`: the caller shows the problems of the
 * servers itself, so they are not logged. */
export async function list(ancestry?: Ancestry, { isQuiet = false } = {}): Promise<Status[]> {
  const own = await current(isQuiet)
  return visible(own, ancestry).map((found) => status(own, found))
}

/** Starts or reaches a server. A failure is in its status. */
export async function connect(id: string): Promise<Status> {
  const { own, found, one } = await find(id)
  await one.connect().catch((error) => Log.debug("an MCP server did not start", { id, error }))
  return status(own, found)
}

/** Ends a server. Its tools are gone until it is connected again. */
export async function disconnect(id: string): Promise<Status> {
  const { own, found, one } = await find(id)
  await one.disconnect()
  return status(own, found)
}

/** Throws `NotFound` or `Unusable`. */
export async function get(id: string, ancestry?: Ancestry): Promise<ConfiguredServer> {
  return (await find(id, ancestry)).one
}

export async function usable(ancestry?: Ancestry): Promise<ConfiguredServer[]> {
  const own = await current()
  return visible(own, ancestry).flatMap(({ id }) => own.usable.get(id) ?? [])
}

async function find(id: string, ancestry?: Ancestry) {
  const own = await current()
  const seen = visible(own, ancestry)
  const found = seen.find((one) => one.id === id)
  if (!found)
    throw new NotFound(
      id,
      seen.map((one) => one.id),
    )
  const one = own.usable.get(id)
  if (!one) throw new Unusable(found)
  return { own, found, one }
}

function visible({ found }: Servers, ancestry: Ancestry | undefined): Found[] {
  if (!ancestry) return found
  const hidden = hiddenFrom(ancestry)
  return found.filter(({ id }) => !hidden.has(id))
}

/** Brings the list of servers up to date with the files, the configuration and what is reviewed. */
async function current(isQuiet = false): Promise<Servers> {
  refuseElsewhere()
  const own = servers()
  const done = own.work.then(() => reconcile(own, isQuiet))
  own.work = done.catch(() => undefined)
  await done
  return own
}

async function reconcile(own: Servers, isQuiet: boolean): Promise<void> {
  const { worktree } = Instance
  const { mcp } = await Config.get()
  const reviewed = await Reviewed.of(worktree)
  const configured = mcp?.servers ?? []
  const added = [...own.added.values(), ...pluginServers()]
  const ofSessions = new Map(own.ofSessions)
  const key = JSON.stringify([stampOf(worktree), reviewed.stamp, configured, added, [...ofSessions]])
  if (key === own.key) return
  const loaded = await loadServers({ reviewed, configured, added, ofSessions, assigned: own.assigned })
  reportProblems(isQuiet ? { ...loaded, servers: [] } : loaded, own.said)
  const wanted = new Map(loaded.servers.map((found) => [found.id, found]))
  // The tools of a replaced server are removed before a session can see its successor.
  for (const [id, one] of own.usable)
    if (!isDeepStrictEqual([one.server, one.program], [wanted.get(id)?.server, programOf(wanted.get(id))]))
      await release(own, one)
  const gone = own.found.filter(({ id, forSession }) => forSession && !wanted.has(id))
  own.found = loaded.servers
  own.assigned = loaded.assigned
  for (const found of gone) Bus.publish(Changed, { ...status(own, found), state: "disconnected" })
  for (const found of loaded.servers) {
    const { id, server } = found
    if (!server || own.usable.has(id)) continue
    const one = createConfiguredServer({
      server,
      program: programOf(found),
      hooks: mcp?.hooks as MCPHooks | undefined,
      logLevel: mcp?.logLevel,
      roots: [worktree],
      mayStart: () => mayStart(found, worktree),
      after: own.closing.get(id),
      onChange: (changed) => adopt(own, changed),
    })
    own.usable.set(id, one)
    if (one.manifest()) await loadTools(own, one)
    if (found.forSession) Bus.publish(Changed, status(own, found))
  }
  // A refused program may return to its reviewed content. No timestamp shows that, so the next call checks again.
  own.key = loaded.untrusted > 0 && reviewed.isTrusted ? "" : key
}

/** Removes a server. Only a new server of the same id waits until it has ended. */
async function release(own: Servers, one: ConfiguredServer): Promise<void> {
  const { id } = one.server
  own.usable.delete(id)
  own.problems.delete(id)
  await ToolRegistry.removeFromMCP(id)
  const closed = Promise.all([own.closing.get(id), one.close()])
    .catch((error) => Log.warn("an MCP server did not end", { id, error: errorText(error) }))
    .finally(() => own.closing.get(id) === closed && own.closing.delete(id))
  own.closing.set(id, closed)
}

async function adopt(own: Servers, one: ConfiguredServer): Promise<void> {
  const { id } = one.server
  if (own.usable.get(id) !== one) return
  if (one.state() === "disconnected") await ToolRegistry.removeFromMCP(id)
  else if (one.state() === "connected") await loadTools(own, one)
  const found = own.found.find((one) => one.id === id)
  if (found) Bus.publish(Changed, status(own, found))
}

async function loadTools({ usable, problems }: Servers, one: ConfiguredServer): Promise<void> {
  const { id } = one.server
  // It may be removed or replaced while its tools are loaded.
  const isCurrent = () => usable.get(id) === one
  const lines = await ToolRegistry.loadFromMCP(one, isCurrent)
  if (isCurrent()) problems.set(id, lines)
}

function status({ usable, problems }: Servers, found: Found): Status {
  return statusOf(found, usable.get(found.id), problems.get(found.id))
}
