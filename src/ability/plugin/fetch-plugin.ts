// Fetches a plugin from a folder, a git repository or an npm registry, without running anything of it. A folder or a
// repository may be a marketplace, from which one plugin is chosen.
import { basename, resolve } from "node:path"
import { z } from "zod"
import { contentOf, type Entry, type Source } from "#kernel/plugin/plugins.ts"
import { statOf } from "#util/file/path-info.ts"
import { nearest } from "#util/nearest.ts"
import { insidePath, jsonOf, type Manifest, manifestFiles, readManifest } from "./manifest.ts"
import { readGit } from "./read-git.ts"
import { readNpm, readTgz } from "./read-npm.ts"
import { below, hashesOf, Refused, readFolder, type Tree } from "./tree.ts"

export type Fetched = { entry: Entry; tree: Tree; problems: string[] }
type Found = { tree: Tree; source: Source; usualName: string; version?: string }

const marketplaceFiles = [".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"]
const Marketplace = z.object({
  metadata: z.object({ pluginRoot: z.string().optional() }).optional(),
  plugins: z.array(z.looseObject({ name: z.string(), source: z.unknown() })),
})

/** `address` as a person types it: a folder, a .tgz file, an address of git, `owner/repository` of GitHub, or `npm:NAME`;
 * with `#plugin` for one plugin of a marketplace. Relative folders start at `directory`. */
export function readAddress(
  address: string,
  options: { directory: string; ref?: string | undefined },
): Source {
  const [, place = "", plugin] = /^(.*?)(?:#([\w.-]+))?$/s.exec(address) ?? []
  const chosen = { ...(plugin ? { plugin } : {}), ...(options.ref ? { ref: options.ref } : {}) }
  const folder = resolve(options.directory, place)
  if (place.startsWith("npm:")) return { type: "npm", address: place.slice("npm:".length), ...chosen }
  if (/^(https?|ssh|git|file):\/\/|^git@|\.git$/.test(place) && !statOf(folder)?.isDirectory())
    return { type: "git", address: place.replace(/^git\+/, ""), ...chosen }
  if (options.ref && statOf(folder)?.isDirectory()) return { type: "git", address: folder, ...chosen }
  if (/\.tgz$/.test(place)) return { type: "npm", address: folder, ...chosen }
  if (statOf(folder)?.isDirectory()) return { type: "folder", address: folder, ...chosen }
  if (/^[\w-]+\/[\w.-]+$/.test(place) && !place.startsWith("."))
    return { type: "git", address: `https://github.com/${place}.git`, ...chosen }
  throw new Refused(
    `"${place}" is no folder and no address of git. A package of npm is npm:NAME, a repository of GitHub owner/name.`,
  )
}

export async function fetchPlugin(source: Source): Promise<Fetched> {
  const found = await read(source)
  const { manifest, tree } = choose(found)
  const hashes = hashesOf(tree)
  const version = manifest.version === "0.0.0" ? (found.version ?? "0.0.0") : manifest.version
  const { name, description, parts, problems } = manifest
  if (!Object.values(parts).some((list) => list.length))
    throw new Refused(
      `${name} has no commands, agents, skills, hooks, MCP servers, language servers or guards`,
    )
  const content = contentOf(hashes)
  const entry = { name, version, description, source: found.source, content, parts, ...hashes }
  return { entry, tree, problems }
}

async function read(source: Source): Promise<Found> {
  const { type, address, ref } = source
  if (type === "folder") {
    if (!statOf(address)?.isDirectory()) throw new Refused(`the folder ${address} does not exist`)
    return { tree: readFolder(address), source, usualName: basename(address) }
  }
  if (type === "git") {
    const { tree, commit } = await readGit(address, ref)
    return { tree, source: { ...source, commit }, usualName: basename(address, ".git") }
  }
  const { tree, integrity } = address.endsWith(".tgz") ? readTgz(address) : await readNpm(address)
  const { name, version } = (tree.has("package.json") ? jsonOf(tree, "package.json") : {}) as Record<
    string,
    string
  >
  const usualName = basename(name ?? address).replace(/\.tgz$/, "")
  return { tree, source: { ...source, integrity }, usualName, ...(version ? { version } : {}) }
}

/** The plugin itself, or the chosen one of a marketplace. */
function choose({ tree, source, usualName }: Found): { manifest: Manifest; tree: Tree } {
  const file = marketplaceFiles.find((name) => tree.has(name))
  const isPlugin = manifestFiles.some((name) => tree.has(name))
  if (!file || (isPlugin && source.plugin === undefined)) {
    if (source.plugin !== undefined)
      throw new Refused("it is no marketplace, so it has no plugins to choose from")
    const own = file || isPlugin ? tree : onlyPlugin(tree)
    return { manifest: readManifest(own, { usualName }), tree: own }
  }
  const { metadata, plugins } = marketplaceOf(tree, file)
  const names = plugins.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw new Refused(`${file} has two plugins of the name "${twice}"`)
  const wanted = source.plugin ?? (names.length === 1 ? names[0] : undefined)
  const entry = plugins.find(({ name }) => name === wanted)
  if (!entry) {
    const near = wanted === undefined ? undefined : nearest(wanted, names)
    const hint = near ? ` Did you mean "#${near}"?` : ""
    throw new Refused(`name one of its plugins, as ADDRESS#NAME: ${names.join(", ")}.${hint}`)
  }
  const path = pathOf(entry.source)
  if (path === undefined)
    throw new Refused(
      `"${entry.name}" is in another place: ${JSON.stringify(entry.source)}. Add it from there.`,
    )
  const base = metadata?.pluginRoot === undefined ? "" : insidePath(metadata.pluginRoot, "pluginRoot")
  const folder = insidePath(path, "source")
  const own = below(tree, base && !path.startsWith("./") ? `${base}/${folder}` : folder)
  if (!own.size) throw new Refused(`the folder ${path} of "${entry.name}" is not there`)
  return { manifest: readManifest(own, { entry, usualName: entry.name }), tree: own }
}

/** A package may have its plugin in a folder beside its program. The tree itself, unless exactly one folder is a plugin. */
function onlyPlugin(tree: Tree): Tree {
  const ends = manifestFiles.map((name) => `/${name}`)
  const found = [...tree.keys()].flatMap((path) => {
    const end = ends.find((one) => path.endsWith(one))
    const folder = end === undefined ? "" : path.slice(0, -end.length)
    return folder && !folder.includes("/") ? [folder] : []
  })
  return new Set(found).size === 1 && !hasParts(tree) ? below(tree, found[0]!) : tree
}

function hasParts(tree: Tree): boolean {
  return Object.values(readManifest(tree, { usualName: "plugin" }).parts).some((list) => list.length)
}

/** The folder of a plugin inside of its marketplace: a path, or in the form of Codex `{ source: "local", path }`. */
function pathOf(source: unknown): string | undefined {
  if (typeof source === "string") return source
  const { source: kind, path } = (source ?? {}) as { source?: unknown; path?: unknown }
  return kind === "local" && typeof path === "string" ? path : undefined
}

function marketplaceOf(tree: Tree, file: string): z.infer<typeof Marketplace> {
  const { success, data, error } = Marketplace.safeParse(jsonOf(tree, file))
  if (success) return data
  throw new Refused(`${file}: ${error.issues[0]!.path.join(".")}: ${error.issues[0]!.message}`)
}
