// The manifest: what a server offered when it last ran, stored so that its tools are known before it starts. A server with
// other settings has another manifest. A failure is stored too, so that the next start does not wait for it.
import { createHash } from "node:crypto"
import { readFileSync, utimes } from "node:fs"
import { lstat, readdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Offers } from "#ability/mcp/client/lists.ts"
import { placeOf } from "#ability/mcp/registry/local-tools.ts"
import { LoginNeeded } from "#ability/mcp/server/errors.ts"
import type { MCPServerConfig, MCPServerInfo, MCPTool } from "#ability/mcp/server/types.ts"
import { serverToolId } from "#ability/tool/server-tools.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorCode, errorText } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import { replaceFile } from "#util/file/write-file.ts"

export type Manifest = Offers & {
  version: 1
  /** When the server was last connected, or was last tried. */
  time: number
  info?: MCPServerInfo
  /** Why it could not be connected. */
  error?: string
  /** That reason is a login that a person has to make. */
  needsLogin?: boolean
}

/** When the lists of a server were read, and for how long they are valid. */
export type Freshness = Pick<Manifest, "time" | "ttl">

/** For servers that do not state how long their lists are valid. */
const defaultTtl = 300_000
/** Many servers state 0; even those are not asked again at every call. */
const minTtl = 5_000
const maxTtl = 86_400_000
const maxBytes = 8 << 20
const maxChangedTools = 20
const day = 86_400_000
/** A manifest that was not read for this long is removed. Once a day, a read updates the time of the file. */
const maxAge = 60 * day
/** Files that one run of `prune` checks. */
const maxChecked = 1_000
/** Manifests, and temporary files of writes that did not end. */
const ownFile = /^[0-9a-f]{40}\.json(?:\.[0-9a-f-]{36}\.tmp)?$/
const nothing = { tools: [], resources: [], templates: [], prompts: [] }

export function folder(): string {
  return join(Global.cache(), "mcp")
}

/** Undefined for a server that was never tried. */
export function read(server: MCPServerConfig): Manifest | undefined {
  try {
    const file = fileOf(server)
    const manifest = JSON.parse(readFileSync(file, "utf8")) as Manifest
    if (!isValid(manifest)) return undefined
    const now = new Date()
    if (now.getTime() - manifest.time > day) utimes(file, now, now, () => undefined)
    return manifest
  } catch {
    return undefined
  }
}

/** A failed write only makes the next start slower. */
export async function write(server: MCPServerConfig, manifest: Manifest): Promise<void> {
  try {
    const json = JSON.stringify(manifest)
    await replaceFile(fileOf(server), json.length > maxBytes ? JSON.stringify(tooLarge()) : json)
  } catch (error) {
    Log.warn("the manifest of an MCP server could not be written", {
      server: server.id,
      error: errorText(error),
    })
  }
}

/** Its time is 0, so that the server is started again in the background at once. */
function tooLarge(): Manifest {
  const error = `it offers more than can be stored (${maxBytes} bytes); its tools are known once it has started`
  return { version: 1, ...nothing, time: 0, error }
}

export function failed(reason: unknown, { needsLogin: _, ...before }: Partial<Manifest> = {}): Manifest {
  const error = Secret.redact(errorText(reason))
  const isLogin = reason instanceof LoginNeeded
  return {
    ...nothing,
    ...before,
    version: 1,
    time: Date.now(),
    error,
    ...(isLogin ? { needsLogin: true } : {}),
  }
}

/** Whether the server may have changed its lists since without a notification. */
export function isStale({ time, ttl = defaultTtl }: Freshness): boolean {
  const age = Date.now() - time
  return age < 0 || age >= Math.min(Math.max(ttl, minTtl), maxTtl)
}

export function hasMoreThanTools({ resources, templates, prompts }: Manifest): boolean {
  return resources.length + templates.length + prompts.length > 0
}

/** Whether two manifests differ in nothing but their times. */
export function isSame(one: Manifest, other: Manifest): boolean {
  const offersOf = ({ info, tools, resources, templates, prompts, error, problems = [] }: Manifest) =>
    JSON.stringify([info, tools, resources, templates, prompts, error, problems])
  return offersOf(one) === offersOf(other)
}

/** One line for each tool whose description has changed, because grants were given for the earlier one. */
export function describeChangedTools(
  serverId: string,
  { before, now }: { before: MCPTool[]; now: MCPTool[] },
): string[] {
  const known = new Map(before.map((tool) => [tool.name, JSON.stringify(tool)]))
  return now
    .filter((tool) => (known.get(tool.name) ?? JSON.stringify(tool)) !== JSON.stringify(tool))
    .slice(0, maxChangedTools)
    .map(({ name }) => `tool "${modelId(serverId, name)}" has another description than before`)
}

/** The id that models see. It differs from the usual one if another tool has that. */
function modelId(serverId: string, name: string): string {
  const place = `${serverId}/${name}`
  const tool = ToolRegistry.list().find((tool) => tool.server === serverId && placeOf(tool) === place)
  return tool?.id ?? serverToolId(serverId, name)
}

/** Removes unused manifests, once a day and a limited number at a time. There may be many: a client whose keys change
 * adds another server with every session. Files that cannot be removed are tried again another day. */
export async function prune(folder: string): Promise<void> {
  try {
    const now = Date.now()
    const stamp = join(folder, "pruned")
    if (now - (statOf(stamp)?.mtimeMs ?? 0) < day) return
    await writeFile(stamp, "", { mode: 0o600 })
    const names = (await readdir(folder)).filter((name) => ownFile.test(name))
    // If there are more, other files are checked every day.
    const from = (Math.floor(now / day) * maxChecked) % Math.max(1, names.length)
    for (const name of [...names.slice(from), ...names.slice(0, from)].slice(0, maxChecked))
      await removeOld(join(folder, name), now)
  } catch (error) {
    // Without the folder there is nothing to remove.
    if (errorCode(error) === "ENOENT") return
    Log.debug("manifests of MCP servers are not pruned", { folder, error: errorText(error) })
  }
}

async function removeOld(path: string, now: number): Promise<void> {
  try {
    const stat = await lstat(path)
    if (stat.isFile() && now - stat.mtimeMs > maxAge) await rm(path, { force: true })
  } catch (error) {
    // Another process may remove files at the same time.
    if (errorCode(error) !== "ENOENT") Log.debug("a manifest stays", { path, error: errorText(error) })
  }
}

/** A damaged manifest counts as missing. */
function isValid({ version, time, tools, resources, templates, prompts }: Manifest): boolean {
  if (version !== 1 || typeof time !== "number") return false
  const lists = [tools, resources, templates, prompts]
  return lists.every((list) => Array.isArray(list) && list.every((item) => typeof item?.name === "string"))
}

/** The file name is a hash of all settings that identify the server. Secrets are among them, but only in the hash. */
function fileOf({ id, transport, url, command, env, cwd, headers }: MCPServerConfig): string {
  const key = JSON.stringify([id, transport, url, command, env, cwd, headers])
  return join(folder(), `${createHash("sha256").update(key).digest("hex").slice(0, 40)}.json`)
}
