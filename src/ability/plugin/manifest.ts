// Reads what a plugin consists of, from its manifest (`.claude-plugin/plugin.json` or `.codex-plugin/plugin.json`) and its
// usual folders. Paths of a manifest must stay inside the plugin.
import { posix } from "node:path"
import { z } from "zod"
import { Parts } from "#kernel/plugin/plugins.ts"
import { Refused, type Tree } from "./tree.ts"

export type Manifest = {
  name: string
  version: string
  description: string
  parts: Parts
  /** What is not used, and why. */
  problems: string[]
}

export const manifestFiles = [".claude-plugin/plugin.json", ".codex-plugin/plugin.json"]
const isName = /^[a-zA-Z0-9][\w.-]{0,63}$/
const paths = z.union([z.string(), z.array(z.string()), z.record(z.string(), z.unknown())])
const Fields = z.object({
  name: z.string().optional(),
  version: z.string().max(100).optional(),
  description: z.string().optional(),
  commands: paths.optional(),
  agents: paths.optional(),
  skills: paths.optional(),
  guards: paths.optional(),
  hooks: paths.optional(),
  mcpServers: paths.optional(),
  lspServers: paths.optional(),
})
type Fields = z.infer<typeof Fields>

/** Kinds of parts: the key of the manifest and the usual place. */
const folders = { commands: "commands", agents: "agents", skills: "skills", guards: "guards" } as const
/** Paths of the manifest count instead of the usual folder, as in Claude Code. Those of other kinds count beside it. */
const replaced: readonly string[] = ["commands", "agents"]
const files = {
  hooks: ["hooks", "hooks/hooks.json"],
  mcp: ["mcpServers", ".mcp.json"],
  lsp: ["lspServers", ".lsp.json"],
} as const

/** `entry`: the entry of a marketplace, whose fields count below those of the manifest. `usualName`: if neither has one. */
export function readManifest(
  tree: Tree,
  { entry = {}, usualName }: { entry?: object; usualName: string },
): Manifest {
  const file = manifestFiles.find((name) => tree.has(name))
  const fields: Fields = {
    ...fieldsOf(entry, "the marketplace"),
    ...(file ? fieldsOf(jsonOf(tree, file), file) : {}),
  }
  const name = fields.name ?? usualName
  if (!isName.test(name))
    throw new Refused(
      `its name ${JSON.stringify(name.slice(0, 100))} may have letters, digits, "_", "-" and ".", at most 64`,
    )
  const problems: string[] = []
  const parts = Parts.parse({
    ...Object.fromEntries(
      Object.entries(folders).map(([kind, folder]) => {
        const given = fields[kind as keyof typeof folders]
        const isUsual = hasFolder(tree, folder) && !(given !== undefined && replaced.includes(kind))
        return [kind, [...(isUsual ? [folder] : []), ...named(given, kind)]]
      }),
    ),
    ...Object.fromEntries(
      Object.entries(files).map(([kind, [key, usual]]) => [
        kind,
        [...(tree.has(usual) ? [usual] : []), ...configured(fields[key], { key, file })],
      ]),
    ),
  })
  for (const [kind, list] of Object.entries(parts) as [keyof Parts, string[]][])
    parts[kind] = [...new Set(list)].filter((path) => isThere(tree, path) || missing(kind, path))
  const { version = "0.0.0", description = "" } = fields
  return { name, version, description, parts, problems }

  function missing(kind: string, path: string): false {
    problems.push(`${kind}: ${path} is not there`)
    return false
  }
}

function fieldsOf(value: unknown, source: string): Fields {
  const read = Fields.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new Refused(`${source}: ${issue!.path.join(".") || "it"}: ${issue!.message}`)
}

export function jsonOf(tree: Tree, path: string): unknown {
  try {
    return JSON.parse(tree.get(path)!.bytes.toString("utf8"))
  } catch (error) {
    throw new Refused(`${path} is no JSON: ${(error as Error).message}`)
  }
}

/** A path, several, or a table of names with a `source` each. */
function named(given: Fields["commands"], kind: string): string[] {
  if (given === undefined) return []
  const list =
    typeof given === "string" ? [given] : Array.isArray(given) ? given : Object.values(given).map(sourceOf)
  return list.map((path) => insidePath(path, kind))
}

function sourceOf(value: unknown): string {
  const { source } = (value ?? {}) as { source?: unknown }
  if (typeof source === "string") return source
  throw new Refused("a command without a source file is not supported")
}

/** A path, several, or the value itself, which stays in the manifest. */
function configured(
  given: Fields["hooks"],
  { key, file }: { key: string; file: string | undefined },
): string[] {
  if (given === undefined) return []
  if (typeof given === "string" || Array.isArray(given)) return named(given, key)
  if (!file) throw new Refused(`${key}: only a manifest may have it inline, not the entry of a marketplace`)
  return [`${file}#${key}`]
}

/** A path from the plugin. Throws `Refused` if it leads out. */
export function insidePath(path: string, what: string): string {
  const isOdd = /[\0-\x1f\x7f\\#]/.test(path) || posix.isAbsolute(path) || path.split("/").includes("..")
  if (isOdd || path.startsWith("~"))
    throw new Refused(`${what}: the path ${JSON.stringify(path.slice(0, 200))} leads out of the plugin`)
  const plain = posix.normalize(path).replace(/\/$/, "")
  return plain === "." ? "" : plain
}

function isThere(tree: Tree, path: string): boolean {
  return path.includes("#") || tree.has(path) || hasFolder(tree, path)
}

function hasFolder(tree: Tree, folder: string): boolean {
  const start = folder === "" ? "" : `${folder}/`
  return tree.keys().some((path) => path.startsWith(start))
}
