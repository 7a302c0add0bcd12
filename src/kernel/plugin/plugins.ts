// The plugins that a person has installed: the lock file in the configuration folder, and for each plugin a copy in the
// data folder that is named by its content. A part whose file differs from what was reviewed is not used.
import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { errorText } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"

/** Where each kind of part is, by path from the plugin. `file#key` is a value of a JSON file. */
export const Parts = z.object({
  commands: z.array(z.string()),
  agents: z.array(z.string()),
  skills: z.array(z.string()),
  hooks: z.array(z.string()),
  mcp: z.array(z.string()),
  lsp: z.array(z.string()),
  guards: z.array(z.string()),
})
export type Parts = z.infer<typeof Parts>

/** Where a plugin came from: what was typed, and what that was when it was installed. */
const Source = z.object({
  type: z.enum(["folder", "git", "npm"]),
  address: z.string(),
  /** The plugin of a marketplace. */
  plugin: z.string().optional(),
  ref: z.string().optional(),
  commit: z.string().optional(),
  /** npm's integrity of the package. */
  integrity: z.string().optional(),
})
export type Source = z.infer<typeof Source>

export const Entry = z.object({
  name: z.string().regex(/^[a-zA-Z0-9][\w.-]{0,63}$/),
  version: z.string(),
  description: z.string(),
  source: Source,
  /** SHA-256 of all files, and of which can be executed. */
  content: z.string().regex(/^[0-9a-f]{64}$/),
  parts: Parts,
  /** SHA-256 by path. */
  files: z.record(z.string(), z.string()),
  /** The paths of files that can be executed. */
  programs: z.array(z.string()).default([]),
})
export type Entry = z.infer<typeof Entry>

/** `reviewed` knows the content of its files. */
export type Plugin = Entry & { root: string; reviewed: Reviewed.Reviewed }

const Lock = z.object({ version: z.literal(1), plugins: z.array(Entry) })
const maxLock = 32 << 20
let last: { path: string; stamp: string; plugins: readonly Plugin[] } | undefined
const none: readonly Plugin[] = []

export function lockFile(): string {
  return join(Global.config(), "plugins.lock.json")
}

export function rootOf(content: string): string {
  return join(Global.data(), "plugins", content)
}

/** The installed plugins by name. Without a lock file this is one stat. An unreadable lock file is reported, and no plugin
 * is used. */
export function installed(): readonly Plugin[] {
  const path = lockFile()
  const stat = statOf(path)
  if (!stat) return none
  const stamp = JSON.stringify([stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs, Global.data()])
  if (last?.path === path && last.stamp === stamp) return last.plugins
  let plugins = none
  try {
    plugins = readLock().map(open)
  } catch (error) {
    Log.warn(`no plugin is used: ${path} cannot be read: ${errorText(error)}`)
  }
  last = { path, stamp, plugins: plugins.filter(isThere) }
  return last.plugins
}

/** The entries of the lock file. Throws if it cannot be read. */
export function readLock(): Entry[] {
  const path = lockFile()
  const size = statOf(path)?.size
  if (size === undefined) return []
  if (size > maxLock) throw new Error(`${size} bytes are too many; the limit is ${maxLock}`)
  return Lock.parse(JSON.parse(readFileSync(path, "utf8"))).plugins
}

/** The text of the lock file. */
export function lockText(plugins: readonly Entry[]): string {
  const sorted = plugins.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return `${JSON.stringify({ version: 1, plugins: sorted }, null, 2)}\n`
}

/** The value of a JSON part, with the folder of the plugin in place of `${CLAUDE_PLUGIN_ROOT}`. Throws if the file is not
 * as it was reviewed. */
export function readJson(plugin: Plugin, part: string): { file: string; value: unknown } {
  const [name = "", key] = part.split("#")
  const file = join(plugin.root, name)
  const bytes = readFileSync(file)
  const refusal = plugin.reviewed.refusal(file, bytes)
  if (refusal) throw new Error(refusal)
  const whole: unknown = JSON.parse(bytes.toString("utf8"))
  const value = key === undefined ? whole : (whole as Record<string, unknown>)[key]
  return { file, value: withRoot(value, plugin.root) }
}

/** Puts the folder of a plugin into all texts of a value. */
export function withRoot<T>(value: T, root: string): T {
  if (typeof value === "string")
    return value.replace(/\$\{(?:CLAUDE_)?PLUGIN_ROOT\}/g, () => root) as T & string
  if (Array.isArray(value)) return value.map((one) => withRoot(one, root)) as T & unknown[]
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withRoot(one, root)])) as T &
    object
}

/** One hash for all files: their paths, contents and executable bits, in order. */
export function contentOf({ files, programs }: Pick<Entry, "files" | "programs">): string {
  const lines = Object.keys(files)
    .sort()
    .map((path) => `${files[path]} ${programs.includes(path) ? "x" : "-"} ${JSON.stringify(path)}\n`)
  return createHash("sha256").update(lines.join("")).digest("hex")
}

function open(entry: Entry): Plugin {
  const root = rootOf(entry.content)
  return { ...entry, root, reviewed: Reviewed.ofFiles(root, entry.files) }
}

function isThere({ name, root }: Plugin): boolean {
  const isFound = existsSync(root)
  if (!isFound) Log.warn(`the plugin ${name} is not used: its copy ${root} is gone; install it again`)
  return isFound
}
