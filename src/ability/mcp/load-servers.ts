// Collects the MCP servers of a work tree: from its files, the configuration, clients and skills. Of equal ids the
// later one wins, except that those of skills never replace another. An unusable server does not affect the others.
// Servers of an unreviewed file are not used, nor those whose command would run an unreviewed file of the project.
import { homedir } from "node:os"
import { join, relative } from "node:path"
import {
  checkEntry,
  InvalidEntry,
  normalizeServer,
  registerSecrets,
} from "#ability/mcp/server/normalize-server.ts"
import type { MCPServerConfig } from "#ability/mcp/server/types.ts"
import { maxProgram, serverFiles } from "#kernel/reviewed/places.ts"
import { namedByCommand, withImports } from "#kernel/reviewed/project-code.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import type { McpServer } from "#kernel/schema/schema.ts"
import { errorText } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import { ownCommand } from "#util/own-command.ts"
import { parseJsonc } from "#util/parse/jsonc.ts"
import { type AssignedIds, assignServerIds } from "./assign-server-ids.ts"
import { idOf, localId } from "./server-ids.ts"
import { Unusable } from "./server-status.ts"

export { InvalidEntry }

/** `server` is undefined if it cannot be used, and `problem` says why. */
export type Found = {
  id: string
  source: string
  server?: MCPServerConfig
  problem?: string
  /** It cannot be used because nobody has reviewed it. */
  isUntrusted?: boolean
  /** It is the person's own, from outside of the project, so nothing has to be reviewed. */
  isOwn?: boolean
  /** A client added it to a session. `private`: only that session sees it. `shared`: it replaces a server of all
   * sessions, so all see it. */
  forSession?: "private" | "shared"
}
/**
 * A server of a skill in use, of a plugin or of a client. `isOwn`: it is the person's own, so the project need not be trusted.
 * `isLiteral`: a `${NAME}` in it is not a variable.
 */
export type Added = {
  id: string
  entry: unknown
  source: string
  folder: string
  isOwn: boolean
  isLiteral?: boolean
  /** The content of the plugin that has it. */
  reviewed?: Reviewed.Reviewed
}
export type Loaded = {
  servers: Found[]
  /** The ids of the servers that clients added. */
  assigned: AssignedIds
  /** Files that could not be read, servers that were replaced. */
  problems: string[]
  /** How many servers are unused only because they are not trusted. */
  untrusted: number
}

const maxServers = 200

export async function loadServers(options: {
  reviewed: Reviewed.Reviewed
  configured: readonly McpServer[]
  /** Servers of skills. Any other server of the same id replaces them. */
  added?: readonly Added[]
  /** Servers that clients added, by session. They replace configured ones of the same id. */
  ofSessions?: ReadonlyMap<string, readonly Added[]>
  /** The ids that these servers had so far. */
  assigned?: AssignedIds
}): Promise<Loaded> {
  const { added = [], ofSessions = new Map(), assigned: before = new Map(), reviewed } = options
  const untrusted = reviewed.isTrusted ? undefined : reviewed.refusal(reviewed.root, "")
  const loaded: Loaded = { servers: [], assigned: before, problems: [], untrusted: 0 }
  const byId = new Map<string, Found>()
  const add = (found: Found, most = maxServers) => {
    const before = byId.get(found.id)
    const isKnown = before?.forSession && JSON.stringify(before.server) === JSON.stringify(found.server)
    if (before && !isKnown)
      loaded.problems.push(`${found.id} of ${before.source} is replaced by the one of ${found.source}`)
    if (!before && byId.size >= most)
      return void loaded.problems.push(`${found.id} is left out: there are more than ${most} servers`)
    byId.set(found.id, found)
  }
  for (const name of serverFiles)
    try {
      for (const found of await readServerFile(name, reviewed)) add(found)
    } catch (error) {
      loaded.problems.push(`${name} is not used: ${errorText(error)}`)
    }
  // npx and similar programs run packages of the folder in which they start.
  const folder = untrusted ? homedir() : reviewed.root
  for (const server of options.configured) {
    const found = readEntry({ id: server.id, entry: server, source: "configuration", folder })
    add(untrusted ? found : await checked(found, reviewed))
  }
  const skills = new Set(added.map(({ id }) => id))
  const sessionServers = assignServerIds({
    ofSessions,
    before,
    read: (one) => readEntry({ ...one, refusal: one.isOwn ? undefined : untrusted }),
    isTaken: (id) => byId.has(id) || skills.has(id),
  })
  for (const found of sessionServers.found)
    add({ ...found, forSession: isForAll(byId.get(found.id)) ? "shared" : "private" }, 2 * maxServers)
  loaded.assigned = sessionServers.assigned
  loaded.problems.push(...sessionServers.problems)
  for (const one of added)
    if (byId.has(one.id))
      loaded.problems.push(`${one.id} of ${one.source} is not used: there is a server of this name`)
    else if (one.isOwn) {
      const found = readEntry(one)
      add({ ...(one.reviewed ? await checked(found, one.reviewed) : found), isOwn: true })
    } else add(await checked(readEntry({ ...one, refusal: untrusted }), reviewed))
  loaded.servers = [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  loaded.untrusted = loaded.servers.filter(({ isUntrusted }) => isUntrusted).length
  for (const { server } of loaded.servers) if (server) registerSecrets(server)
  return loaded
}

/** Whether all sessions see a server. No session sees an unusable one. */
function isForAll(before: Found | undefined): boolean {
  return before?.forSession ? before.forSession === "shared" : before?.server !== undefined
}

/** The command or URL of a server that a client added. Grants hold for this program only, because another client may
 * add another program under the same name. */
export function programOf({ forSession, server }: Partial<Found> = {}): readonly string[] | undefined {
  if (!forSession || !server) return undefined
  return server.command ?? [server.url ?? ""]
}

async function readServerFile(name: string, reviewed: Reviewed.Reviewed): Promise<Found[]> {
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

/** Marks a server as unusable if its command would run an unreviewed file of the project. */
async function checked(found: Found, reviewed: Reviewed.Reviewed): Promise<Found> {
  const { id, source, server } = found
  const problem = server && (await unreviewedProgram(server, reviewed))
  return problem ? { id, source, problem, isUntrusted: true } : found
}

/** Tries plain JSON first: comments are rare, and a parser for them would slow down the start. */
function parse(bytes: Buffer, name: string): Record<string, unknown> {
  try {
    const value = JSON.parse(bytes.toString("utf8"))
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value
  } catch {
    // The parser below reports the problem.
  }
  return parseJsonc(bytes, name).value
}

/** The entries of a file: a list, or an object with a name for each. */
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
  // The variables of an untrusted entry are not expanded either.
  if (refusal) return { ...found, problem: refusal, isUntrusted: true }
  try {
    if (!/^[\w.-]+$/.test(id)) throw new InvalidEntry("its id may have letters, digits, '.', '_' and '-'")
    if (id === localId) throw new InvalidEntry(`"${localId}" is reserved for the tools of this program`)
    const entry = checkEntry(options.entry)
    if (entry.disabled || entry.enabled === false) throw new InvalidEntry("it is disabled")
    return { ...found, server: normalizeServer(entry, { id, folder, isLiteral }) }
  } catch (error) {
    if (error instanceof InvalidEntry) return { ...found, problem: error.message }
    throw error
  }
}

/** A text that changes whenever a file that names servers changes. */
export function stampOf(worktree: string): string {
  return serverFiles
    .flatMap((name) => {
      const stat = statOf(join(worktree, name))
      return stat ? [`${name} ${stat.mtimeMs} ${stat.size} ${stat.ino}`] : []
    })
    .join("\n")
}

/** Throws if a server must not start now: a file that its command names may have changed since the list was made.
 * Servers of a client, or of the person's own skills, need no review. */
export async function mayStart(found: Found, worktree: string): Promise<void> {
  const reviewed = await Reviewed.of(worktree)
  if (found.forSession || found.isOwn || !found.server || !reviewed.isTrusted) return
  const problem = await unreviewedProgram(found.server, reviewed)
  if (problem) throw new Unusable({ ...found, problem, isUntrusted: true })
}

/** Why a server must not start: its command would run an unreviewed file of the project, or one that imports such a
 * file. The program itself reads these files later, so this is checked when servers are listed and again right before
 * each start. */
async function unreviewedProgram(
  server: MCPServerConfig,
  reviewed: Reviewed.Reviewed,
): Promise<string | undefined> {
  const { root } = reviewed
  const programs = namedByCommand(server, server.cwd ?? root, root)
  for (const file of new Set(programs.flatMap((program) => withImports(program, root)))) {
    const bytes = await readSmallFile(file, undefined, maxProgram)
    const reason = bytes && reviewed.refusal(file, bytes)
    const name = relative(root, file)
    if (reason) return `it runs ${name}: ${reason} (${ownCommand} trust --file ${name})`
  }
  return undefined
}
