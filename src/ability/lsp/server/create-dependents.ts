// The files that depend on a file: those with a line that imports it by its name. They are searched once per file; after that
// each changed file is looked at. A search for every edit, or the server's own answer (it would load the types of all packages
// for a rename), takes longer than the diagnostics.
import { readFileSync } from "node:fs"
import { basename, dirname, extname, join } from "node:path"
import { Ended } from "#ability/lsp/wire/connection.ts"
import { createCodeRepo } from "#knowledge/grounding/code-repo.ts"
import { statOf } from "#util/file/path-info.ts"
import { type Server, toPath } from "./create-server.ts"
import { maxFile } from "./documents.ts"

export type Dependents = Readonly<{
  find(path: string): Promise<string[]>
  /** A file has this text now. */
  learn(path: string, text: string): void
  /** These files were changed on disk, or are gone. */
  learnChanged(paths: readonly string[]): void
}>

/** More would delay every edit. */
const maxDependents = 20
const maxLines = 200
const maxKnown = 500
const maxChanged = 200
const reportLimit = 2_000
const keywords = "(?:import|from|require|include|use|mod|source)"
/** Files that are imported by the name of their folder. */
const folderNames = new Set(["index", "__init__", "mod", "main"])

export function createDependents(server: Server): Dependents {
  const known = new Map<string, { files: Set<string>; imports: RegExp }>()
  let reports = server.can.pullsWorkspace

  async function find(path: string): Promise<string[]> {
    const found = reports ? await reported(server) : undefined
    reports &&= found !== undefined
    const files = found ?? known.get(path)?.files ?? (await search(path))
    return [...files].filter((one) => one !== path).slice(0, maxDependents)
  }

  async function search(path: string): Promise<Set<string>> {
    const pattern = `\\b${keywords}\\b.*\\b${RegExp.escape(nameOf(path))}\\b`
    const signal = AbortSignal.timeout(5_000)
    const query = { kind: "line", text: pattern, limit: maxLines, signal } as const
    const { items } = await createCodeRepo(server.root).search(query)
    const files = new Set(
      items.map(({ name }) => join(server.root, name)).filter((one) => isAlike(one, path)),
    )
    if (known.size >= maxKnown) known.clear()
    known.set(path, { files, imports: new RegExp(pattern) })
    return files
  }

  function learn(path: string, text: string): void {
    for (const [one, { files, imports }] of known)
      if (isAlike(one, path) && imports.test(text)) files.add(path)
      else files.delete(path)
  }

  function learnChanged(paths: readonly string[]): void {
    if (paths.length > maxChanged) known.clear()
    if (!known.size) return
    for (const path of paths) {
      const stat = statOf(path)
      learn(path, stat?.isFile() && stat.size <= maxFile ? readFileSync(path, "utf8") : "")
    }
  }

  return Object.freeze({ find, learn, learnChanged })
}

function nameOf(path: string): string {
  const own = basename(path, extname(path))
  return folderNames.has(own) ? basename(dirname(path)) : own
}

/** A file of another language does not import it. */
function isAlike(one: string, other: string): boolean {
  const families = [/\.[cm]?[jt]sx?$/, /\.(c|h)(c|h|pp|xx)?$/, /\.pyi?$/, /\.(ba)?sh$/]
  return extname(one) === extname(other) || families.some((family) => family.test(one) && family.test(other))
}

/** Files with problems, if the server knows those of the whole workspace. Some servers hold this question until something
 * changes: they are not asked again, because every edit would wait for them. */
async function reported(server: Server): Promise<Set<string> | undefined> {
  const params = { previousResultIds: [] }
  const report = await server.request("workspace/diagnostic", params, reportLimit).catch((error) => {
    if (error instanceof Ended) throw error
    return undefined
  })
  if (report === undefined) return undefined
  const { items } = (report ?? {}) as { items?: { uri?: unknown; items?: unknown[] }[] }
  const broken = Array.isArray(items) ? items.filter((one) => one?.items?.length) : []
  return new Set(broken.flatMap(({ uri }) => toPath(uri) ?? []))
}
