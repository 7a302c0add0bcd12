// Collects the MCP servers of a work tree: of its files, of the configuration, of clients; the later one of equal ids counts. An
// unusable one does not affect the others. Servers of an unreviewed file are not used, nor those whose command would run an
// unreviewed file of the project.
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
import { type Places, placeBrought } from "./place-brought.ts"
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
  /** It is the person's own, from outside of the project: nothing of the project has to be reviewed for it. */
  isOwn?: boolean
  /** Brought by a client with a session: visible to that session only, or to all as a replacement of one that they
   * had. */
  brought?: "private" | "shared"
}
/**
 * A server of a skill in use or of a client. `isOwn`: it is the person's, and no trust in the project is needed.
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
  /** The ids of the servers of clients. */
  places: Places
  /** Files that could not be read, servers that were replaced. */
  problems: string[]
  /** Servers that would be used if they were trusted. */
  untrusted: number
}

const maxServers = 200

export async function loadServers(options: {
  reviewed: Reviewed.Reviewed
  configured: readonly McpServer[]
  /** Servers of skills. Any other server of the same id replaces them. */
  added?: readonly Added[]
  /** Servers of clients, by session. They replace configured ones of the same id. */
  brought?: ReadonlyMap<string, readonly Added[]>
  /** The ids that these have had so far. */
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
  for (const { server } of loaded.servers) if (server) registerSecrets(server)
  return loaded
}

/** Whether all sessions see a server: an unusable one, none does. */
function isForAll(before: Found | undefined): boolean {
  return before?.brought ? before.brought === "shared" : before?.server !== undefined
}

/** The command or URL of a server that a client brought: grants hold for it only, because another client may bring another
 * program under the same name. */
export function programOf({ brought, server }: Partial<Found> = {}): readonly string[] | undefined {
  if (!brought || !server) return undefined
  return server.command ?? [server.url ?? ""]
}

async function readFile(name: string, reviewed: Reviewed.Reviewed): Promise<Found[]> {
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

/** A stamp of the files that name servers; it changes whenever one of them does. */
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
  if (found.brought || found.isOwn || !found.server || !reviewed.isTrusted) return
  const problem = await unreviewedProgram(found.server, reviewed)
  if (problem) throw new Unusable({ ...found, problem, isUntrusted: true })
}

/** Why it must not start: its command would run a project file, or a file that this one imports, that nobody reviewed. The
 * program reads these files itself later, so the check runs when servers are listed and again right before each start. */
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
