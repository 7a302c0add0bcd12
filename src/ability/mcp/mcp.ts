// The MCP servers of an instance. They are never in the way of a start: what they offer is known from the last time, one
// that was never tried is given a moment, and all others come up when they are used.
import { AsyncLocalStorage } from "node:async_hooks"
import { setTimeout as sleep } from "node:timers/promises"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import * as Bus from "#kernel/bus.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/log.ts"
import * as Trust from "#kernel/trust.ts"
import { errorText, NamedError } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import { Changed, type Status } from "./changed.ts"
import { type ConfiguredServer, createConfiguredServer } from "./configured-server.ts"
import { type Added, type Found, loadServers, notTrusted, sayProblems } from "./load-servers.ts"
import { stampOf } from "./server-files.ts"
import type { MCPHooks } from "./types.ts"
import { withSlots } from "./with-slots.ts"

export { Changed, Status } from "./changed.ts"

type Servers = {
  /** What the list was made from. */
  key?: string
  found: Found[]
  /** Those that are not configured but in use, by id. */
  added: Map<string, Added>
  usable: Map<string, ConfiguredServer>
  problems: Map<string, string[]>
  said: Set<string>
  /** One change of the list after the other. */
  work: Promise<unknown>
  tending?: NodeJS.Timeout | undefined
  end: AbortController
}

export class NotFound extends NamedError {
  constructor(id: string, known: string[]) {
    const near = nearest(id, known)
    super(
      "MCP.NotFound",
      `MCP server ${JSON.stringify(id)} does not exist. Configured: ${known.join(", ") || "none"}${near ? `. Did you mean "${near}"?` : ""}`,
      { id },
    )
  }
}

/** It is configured and cannot be used: by what it says, or since its folder is not trusted. */
export class Unusable extends NamedError {
  constructor({ id, source, problem }: Found) {
    const name = problem === notTrusted ? "MCP.Untrusted" : "MCP.InvalidServer"
    super(name, `MCP server "${id}" (${source}) is not used: ${problem}`, { id })
  }
}

/** A first request waits so long for servers that nobody ever tried. */
const firstWait = 3_000
/** Then those that failed, or were not up for long, are looked at beside the work. */
const tendAfter = 2_000
const atOnce = 8

const servers = Instance.state<Servers>(
  () => ({
    found: [],
    added: new Map(),
    usable: new Map(),
    problems: new Map(),
    said: new Set(),
    work: Promise.resolve(),
    end: new AbortController(),
  }),
  async ({ usable, tending, end }) => {
    end.abort()
    clearTimeout(tending)
    await Promise.all([...usable.values()].map((one) => one.close()))
  },
)

/** Before a request: the tools of all servers are in the registry, as far as they are known. */
export async function prepare(signal: AbortSignal): Promise<void> {
  const own = await current()
  const fresh = [...own.usable.values()].filter((one) => one.isNew() && one.state() !== "disconnected")
  if (fresh.length) await waitFor(own, fresh, signal)
  tendLater(own)
}

/** Servers that something in use brings with it, until the instance ends. One that is configured stays in their place. */
export function add(list: readonly Added[]): void {
  const { added } = servers()
  for (const one of list) added.set(one.id, one)
}

/** Every server that is configured, with how it stands. Starts none. */
export async function list(): Promise<Status[]> {
  const own = await current()
  return own.found.map((found) => statusOf(own, found))
}

/** Start a server, or reach it. That it failed is in its status. */
export async function connect(id: string): Promise<Status> {
  const { own, found, one } = await find(id)
  await one.connect().catch((error) => Log.debug("an MCP server did not start", { id, error }))
  return statusOf(own, found)
}

/** End a server. Its tools are gone until it is connected again. */
export async function disconnect(id: string): Promise<Status> {
  const { own, found, one } = await find(id)
  await one.disconnect()
  return statusOf(own, found)
}

/** One that can be used. Throws `NotFound` or `Unusable`. */
export async function get(id: string): Promise<ConfiguredServer> {
  return (await find(id)).one
}

/** Those that can be used, for who searches or reads what they offer. */
export async function usable(): Promise<ConfiguredServer[]> {
  return [...(await current()).usable.values()]
}

async function find(id: string) {
  const own = await current()
  const found = own.found.find((one) => one.id === id)
  if (!found)
    throw new NotFound(
      id,
      own.found.map((one) => one.id),
    )
  const one = own.usable.get(id)
  if (!one) throw new Unusable(found)
  return { own, found, one }
}

/** As the files, the configuration and the trust of the folder are now. */
async function current(): Promise<Servers> {
  const own = servers()
  const done = own.work.then(() => reconcile(own))
  own.work = done.catch(() => undefined)
  await done
  return own
}

async function reconcile(own: Servers): Promise<void> {
  const { worktree } = Instance
  const { mcp } = await Config.get()
  const trusted = await Trust.check(worktree)
  const configured = mcp?.servers ?? []
  const added = [...own.added.values()]
  const key = JSON.stringify([stampOf(worktree), trusted, configured, added])
  if (key === own.key) return
  const loaded = await loadServers({ worktree, trusted, configured, added })
  sayProblems(loaded, own.said)
  own.found = loaded.servers
  const wanted = new Map(loaded.servers.flatMap(({ id, server }) => (server ? [[id, server] as const] : [])))
  for (const [id, one] of own.usable) {
    if (isSame(one.server, wanted.get(id))) continue
    own.usable.delete(id)
    await ToolRegistry.removeFromMCP(id)
    await one.close()
  }
  for (const { id, source, server } of loaded.servers) {
    if (!server || own.usable.has(id)) continue
    const one = createConfiguredServer({
      server,
      source,
      hooks: mcp?.hooks as MCPHooks | undefined,
      roots: [worktree],
      onChange: (changed) => adopt(own, changed),
    })
    own.usable.set(id, one)
    if (one.manifest()) await takeTools(own, one)
  }
  own.key = key
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

async function adopt(own: Servers, one: ConfiguredServer): Promise<void> {
  const { id } = one.server
  if (own.usable.get(id) !== one) return
  if (one.state() === "disconnected") await ToolRegistry.removeFromMCP(id)
  else if (one.state() === "connected") await takeTools(own, one)
  const found = own.found.find((one) => one.id === id)
  if (found) Bus.publish(Changed, statusOf(own, found))
}

async function takeTools(own: Servers, one: ConfiguredServer): Promise<void> {
  own.problems.set(one.server.id, await ToolRegistry.loadFromMCP(one))
}

/** All of them begin at once as far as the machine bears it; who is too slow goes on beside the work. */
async function waitFor(own: Servers, fresh: ConfiguredServer[], signal: AbortSignal): Promise<void> {
  const end = new AbortController()
  const all = withSlots(atOnce, fresh, (one) => start(own, one))
  await Promise.race([
    all,
    sleep(firstWait, undefined, { signal: AbortSignal.any([signal, end.signal]) }),
  ]).catch(() => undefined)
  end.abort()
  if (signal.aborted) return
  for (const one of fresh.filter((one) => one.isNew())) {
    one.giveUpWaiting()
    Log.warn(`MCP server ${one.server.id} is not up yet; "vitamin mcp test ${one.server.id}" waits for it`)
  }
}

async function start({ end }: Servers, one: ConfiguredServer): Promise<void> {
  if (end.signal.aborted) return
  await one.connect().catch((error) => {
    if (end.signal.aborted) return
    Log.warn(`MCP server ${one.server.id} did not start`, { error: errorText(error) })
  })
}

function tendLater(own: Servers): void {
  own.tending ??= setTimeout(
    AsyncLocalStorage.bind(() => {
      own.tending = undefined
      const due = [...own.usable.values()].filter((one) => one.isDue())
      void withSlots(2, due, (one) => start(own, one))
    }),
    tendAfter,
  ).unref()
}

function statusOf(own: Servers, { id, source, server, problem }: Found): Status {
  const one = own.usable.get(id)
  const manifest = one?.manifest()
  const error = problem ?? one?.error()
  const { info } = manifest ?? {}
  return {
    id,
    name: server?.name ?? id,
    source,
    ...(server ? { transport: server.transport } : {}),
    state: one?.state() ?? "unusable",
    ...(error === undefined ? {} : { error }),
    ...(info ? { protocol: info.protocol, version: `${info.name} ${info.version}` } : {}),
    tools: manifest?.tools.length ?? 0,
    resources: manifest?.resources.length ?? 0,
    prompts: manifest?.prompts.length ?? 0,
    problems: [...(manifest?.problems ?? []), ...(own.problems.get(id) ?? [])],
  }
}
