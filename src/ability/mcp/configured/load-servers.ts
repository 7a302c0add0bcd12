// Which MCP servers a work tree has: those of its files, those of the configuration, those of clients; of equal ids the
// later one counts. One that cannot be used does not keep the others from it. Servers of a file that is not reviewed are not
// used, nor those whose command is a project file that is not.
import { homedir } from "node:os"
import { join } from "node:path"
import { localId } from "#ability/mcp/registry/local-tools.ts"
import {
  checkEntry,
  InvalidEntry,
  isCredential,
  normalizeServer,
} from "#ability/mcp/server/normalize-server.ts"
import type { MCPServerConfig } from "#ability/mcp/server/types.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/process/secret.ts"
import { serverFiles } from "#kernel/reviewed/places.ts"
import type { Reviewed } from "#kernel/reviewed/reviewed.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import type { McpServer } from "#kernel/schema/schema.ts"
import { errorText } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"
import { parseJsonc } from "#util/parse/jsonc.ts"
import { type Places, placeBrought } from "./place-brought.ts"
import { unreviewedProgram } from "./unreviewed-program.ts"

/** `server` is undefined if it cannot be used, and `problem` says why. */
export type Found = {
  id: string
  source: string
  server?: MCPServerConfig
  problem?: string
  /** The problem is that a person has not reviewed it. */
  isUntrusted?: boolean
  /** It is the person's own, from outside of the project: nothing of the project has to be reviewed for it. */
  isOwn?: boolean
  /** Brought by a client with a session: visible to that session only, or to all as a replacement of one that they
   * had. */
  brought?: "private" | "shared"
}
/**
 * One that something in use brings with it. `isOwn`: it is the person's, and no trust in the project is needed.
 * `isLiteral`: a `${NAME}` in it is not a variable.
 */
export type Added = {
  id: string
  entry: unknown
  source: string
  folder: string
  isOwn: boolean
  isLiteral?: boolean
}
export type Loaded = {
  servers: Found[]
  /** Where those of clients stand. */
  places: Places
  /** Files that could not be read, servers that were replaced. */
  problems: string[]
  /** Servers that would be used if they were trusted. */
  untrusted: number
}

const maxServers = 200
const maxSaid = 20

export async function loadServers(options: {
  reviewed: Reviewed
  configured: readonly McpServer[]
  /** Those that give way to all others. */
  added?: readonly Added[]
  /** Those of clients, by session, which come before all others. */
  brought?: ReadonlyMap<string, readonly Added[]>
  /** Where these stood until now. */
  places?: Places
}): Promise<Loaded> {
  const { added = [], brought = new Map(), places: before = new Map(), reviewed } = options
  const untrusted = reviewed.isTrusted ? undefined : reviewed.refusal(reviewed.root, "")
  const loaded: Loaded = { servers: [], places: before, problems: [], untrusted: 0 }
  const byId = new Map<string, Found>()
  const add = (found: Found, most = maxServers) => {
    const before = byId.get(found.id)
    const isKnown = before?.brought && JSON.stringify(before.server) === JSON.stringify(found.server)
    if (before && !isKnown)
      loaded.problems.push(`${found.id} of ${before.source} is replaced by that of ${found.source}`)
    if (!before && byId.size >= most)
      return void loaded.problems.push(`${found.id} is left out: there are more than ${most} servers`)
    byId.set(found.id, found)
  }
  for (const name of serverFiles)
    try {
      for (const found of await readFile(name, reviewed)) add(found)
    } catch (error) {
      loaded.problems.push(`${name} is not used: ${errorText(error)}`)
    }
  // npx and similar programs search in the folder where they start.
  const folder = untrusted ? homedir() : reviewed.root
  for (const server of options.configured) {
    const found = readEntry({ id: server.id, entry: server, source: "configuration", folder })
    add(untrusted ? found : await checked(found, reviewed))
  }
  const skills = new Set(added.map(({ id }) => id))
  const placed = placeBrought({
    brought,
    before,
    read: (one) => readEntry({ ...one, refusal: one.isOwn ? undefined : untrusted }),
    isTaken: (id) => byId.has(id) || skills.has(id),
  })
  for (const found of placed.found)
    add({ ...found, brought: isForAll(byId.get(found.id)) ? "shared" : "private" }, 2 * maxServers)
  loaded.places = placed.places
  loaded.problems.push(...placed.problems)
  for (const one of added)
    if (byId.has(one.id))
      loaded.problems.push(`${one.id} of ${one.source} is not used: there is a server of this name`)
    else if (one.isOwn) add({ ...readEntry(one), isOwn: true })
    else add(await checked(readEntry({ ...one, refusal: untrusted }), reviewed))
  loaded.servers = [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  loaded.untrusted = loaded.servers.filter(({ isUntrusted }) => isUntrusted).length
  for (const { server } of loaded.servers) if (server) holdSecrets(server)
  return loaded
}

/** If it was unusable, no session had it. */
function isForAll(before: Found | undefined): boolean {
  return before?.brought ? before.brought === "shared" : before?.server !== undefined
}

/** Of one that a client brought: another client may bring another one under its name. */
export function programOf({ brought, server }: Partial<Found> = {}): readonly string[] | undefined {
  if (!brought || !server) return undefined
  return server.command ?? [server.url ?? ""]
}

/** An id is a part of names and rules: no slash, nothing that is a pattern. */
export function idOf(name: string): string {
  return name.replace(/[^\w.-]+/g, "-").slice(0, 64)
}

async function readFile(name: string, reviewed: Reviewed): Promise<Found[]> {
  const { root } = reviewed
  const path = join(root, name)
  let bytes = reviewed.isTrusted ? await readSmallFile(path) : await readSmallFile(path, root)
  if (!bytes) return []
  const refusal = reviewed.refusal(path, bytes)
  // A file that is not reviewed must really be in the work tree.
  if (refusal && reviewed.isTrusted) bytes = (await readSmallFile(path, root)) ?? Buffer.from("{}")
  const found = entriesOf(parse(bytes, name)).map(([id, entry]) =>
    readEntry({ id, entry, source: name, folder: root, refusal }),
  )
  return Promise.all(found.map((one) => checked(one, reviewed)))
}

/** One whose command is a project file that nobody reviewed is not used. */
async function checked(found: Found, reviewed: Reviewed): Promise<Found> {
  const { id, source, server } = found
  const problem = server && (await unreviewedProgram(server, reviewed))
  return problem ? { id, source, problem, isUntrusted: true } : found
}

/** Comments are rare here, and searching for them would slow down the start. */
function parse(bytes: Buffer, name: string): Record<string, unknown> {
  try {
    const value = JSON.parse(bytes.toString("utf8"))
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value
  } catch {
    // The problem is reported below.
  }
  return parseJsonc(bytes, name).value
}

/** Both forms in either file: a list, or an object with a name for each. */
export function entriesOf(value: Record<string, unknown>): [id: string, entry: unknown][] {
  return ["servers", "mcpServers"].flatMap((key) => {
    const part = value[key] ?? []
    if (typeof part !== "object") throw new InvalidEntry(`"${key}" is neither a list nor an object`)
    const named = Array.isArray(part)
      ? part.map((entry, i) => [nameOf(entry) ?? `server-${i + 1}`, entry] as const)
      : Object.entries(part)
    return named.map(([id, entry]): [string, unknown] => [idOf(id), entry])
  })
}

function nameOf(entry: unknown): string | undefined {
  const { id, name } = (entry ?? {}) as { id?: unknown; name?: unknown }
  return [id, name].find((text): text is string => typeof text === "string" && text !== "")
}

function readEntry(options: {
  id: string
  entry: unknown
  source: string
  folder: string
  /** Why it is not trusted. */
  refusal?: string | undefined
  isLiteral?: boolean
}): Found {
  const { id, source, folder, refusal, isLiteral = false } = options
  const found = { id, source }
  // Not even its variables are resolved.
  if (refusal) return { ...found, problem: refusal, isUntrusted: true }
  try {
    if (!/^[\w.-]+$/.test(id)) throw new InvalidEntry("its id may have letters, digits, '.', '_' and '-'")
    if (id === localId) throw new InvalidEntry(`"${localId}" is the name of what belongs to this program`)
    const entry = checkEntry(options.entry)
    if (entry.disabled) throw new InvalidEntry("it is disabled")
    return { ...found, server: normalizeServer(entry, { id, folder, isLiteral }) }
  } catch (error) {
    if (error instanceof InvalidEntry) return { ...found, problem: error.message }
    throw error
  }
}

/** Of what people write into the settings of a server, these are the keys. */
function holdSecrets({ auth, headers = {}, env = {} }: MCPServerConfig): void {
  Secret.hold(auth?.token, "token")
  for (const [name, value] of Object.entries({ ...headers, ...env }))
    if (isCredential(name)) {
      Secret.hold(value, name)
      Secret.hold(/^\S+ (.+)$/.exec(value)?.[1], name)
    }
}

/** Reports each problem once. */
export function sayProblems({ servers, problems }: Loaded, said: Set<string>): void {
  const untrusted = Map.groupBy(
    servers.filter(({ isUntrusted }) => isUntrusted),
    ({ problem }) => problem,
  )
  const lines = [
    ...problems,
    ...servers.flatMap(({ id, source, problem, isUntrusted }) =>
      problem && !isUntrusted ? [`MCP server ${id} (${source}) is not used: ${problem}`] : [],
    ),
    ...[...untrusted].map(([reason, found]) => {
      const sources = [...new Set(found.map(({ source }) => source))].join(", ")
      const what = found.length === 1 ? "server is" : "servers are"
      return `${found.length} MCP ${what} not started: ${reason} (${sources})`
    }),
  ]
  const news = [...new Set(lines)].filter((line) => !said.has(line))
  for (const line of news.slice(0, maxSaid)) Log.warn(line)
  if (news.length > maxSaid)
    Log.warn(`and ${news.length - maxSaid} more about MCP servers (${ownCommand} mcp list)`)
  for (const line of news) said.add(line)
}
