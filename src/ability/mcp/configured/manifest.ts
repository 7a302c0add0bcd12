// The manifest: what a server offered when it last ran, stored so that its tools are known before it starts. Changed
// settings make another server. A failure is stored too, so that nobody waits for it a second time.
import { createHash } from "node:crypto"
import { readFileSync, utimes } from "node:fs"
import { join } from "node:path"
import type { Offers } from "#ability/mcp/registry/list-offers.ts"
import type { MCPServerConfig, MCPServerInfo } from "#ability/mcp/server/types.ts"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { replaceFile } from "#util/file/write-file.ts"

export type Manifest = Offers & {
  version: 1
  /** When it was last up, or was last tried. */
  time: number
  info?: MCPServerInfo
  /** Why it was not up. */
  error?: string
}

/** When a server was asked for its lists, and for how long they hold. */
export type Look = Pick<Manifest, "time" | "ttl">

/** For which lists are taken for true where the server does not say. */
const usualTtl = 300_000
/** Many say that theirs are old at once; they are not asked at every call for that. */
const leastTtl = 5_000
const mostTtl = 86_400_000
const maxBytes = 8 << 20
/** One that is not used for long is removed; that one is used is noted when it was not written for this time. */
const usedAge = 86_400_000
const nothing = { tools: [], resources: [], templates: [], prompts: [] }

export function folder(): string {
  return join(Global.cache(), "mcp")
}

/** Undefined for a server that was never tried. */
export function read(server: MCPServerConfig): Manifest | undefined {
  try {
    const file = fileOf(server)
    const manifest = JSON.parse(readFileSync(file, "utf8")) as Manifest
    if (!isWhole(manifest)) return undefined
    if (Date.now() - manifest.time > usedAge) noteUse(file)
    return manifest
  } catch {
    return undefined
  }
}

/** Nobody waits for it. */
function noteUse(file: string): void {
  const now = new Date()
  utimes(file, now, now, () => undefined)
}

/** That it cannot be kept costs the next start some time, and nothing else. */
export async function write(server: MCPServerConfig, manifest: Manifest): Promise<void> {
  try {
    const json = JSON.stringify(manifest)
    await replaceFile(fileOf(server), json.length > maxBytes ? JSON.stringify(tooLarge(manifest)) : json)
  } catch (error) {
    Log.warn("what an MCP server offers could not be kept", { server: server.id, error: errorText(error) })
  }
}

/** Nobody waits for it a second time; it is retried in the background. */
function tooLarge({ version }: Manifest): Manifest {
  const error = `it offers more than can be kept (${maxBytes} bytes); its tools are known once it is up`
  return { version, ...nothing, time: 0, error }
}

export function failed(error: string, before: Manifest | undefined): Manifest {
  return { version: 1, ...nothing, ...before, time: Date.now(), error }
}

/** Whether the server may have changed its lists since, without saying so. */
export function isStale({ time, ttl = usualTtl }: Look): boolean {
  const age = Date.now() - time
  return age < 0 || age >= Math.min(Math.max(ttl, leastTtl), mostTtl)
}

/** Whether two say the same of a server. */
export function isSame(one: Manifest, other: Manifest): boolean {
  const offersOf = ({ info, tools, resources, templates, prompts, error, problems = [] }: Manifest) =>
    JSON.stringify([info, tools, resources, templates, prompts, error, problems])
  return offersOf(one) === offersOf(other)
}

/** A damaged manifest counts as missing. */
function isWhole({ version, time, tools, resources, templates, prompts }: Manifest): boolean {
  if (version !== 1 || typeof time !== "number") return false
  const lists = [tools, resources, templates, prompts]
  return lists.every((list) => Array.isArray(list) && list.every((item) => typeof item?.name === "string"))
}

/** By everything that decides which server it is; secrets are in it only as a sum. */
function fileOf({ id, transport, url, command, env, cwd, headers }: MCPServerConfig): string {
  const key = JSON.stringify([id, transport, url, command, env, cwd, headers])
  return join(folder(), `${createHash("sha256").update(key).digest("hex").slice(0, 40)}.json`)
}
