// The `glob` tool: files by pattern, as ripgrep sees the tree, sorted by path. Files that may not be read are left
// out, because their names can be secret too.
import { readdirSync } from "node:fs"
import { posix } from "node:path"
import { z } from "zod"
import type { Context, Definition, Output } from "#ability/call/types.ts"
import { compileGlob } from "#ability/file/glob-pattern.ts"
import { mayRead, needsReading, openReal, openTarget } from "#ability/file/open-target.ts"
import * as Ripgrep from "#knowledge/grounding/ripgrep.ts"
import { NamedError } from "#util/error.ts"
import { handlePath } from "#util/file/resolve-inside.ts"
import { descriptions } from "./descriptions.ts"

const limit = 1_000

const Parameters = z.strictObject({ pattern: z.string().min(1), path: z.string().min(1).optional() })
type Args = z.infer<typeof Parameters>

/** For docs/tools.md; models are not sent it. */
export const manual = {
  example: { pattern: "src/**/*.ts" },
  arguments: {
    pattern: "Pattern of paths; one without `/` matches in every folder.",
    path: "Folder to search; without it the working folder.",
  },
  limits: `${limit} files, 20 s. Files that ignore files name, and files that may not be read, are left out.`,
}

export const glob = {
  id: "glob",
  routingName: "search_glob",
  description: descriptions.glob,
  category: "search",
  parameters: Parameters,
  readOnly: true,
  permission: ({ path }: Args) => needsReading(path),
  execute,
} satisfies Definition

async function execute({ pattern, path = "." }: Args, context: Context): Promise<Output> {
  const { matches, filter, hidden } = compileGlob(pattern)
  await using target = await openTarget(path, context)
  if (!target.isDirectory)
    throw new NamedError(
      "Glob.NotAFolder",
      `${JSON.stringify(target.shown)} is a file; path must be a folder.`,
      { path: target.shown },
    )
  const isReadable = mayRead(target, context)
  const kept = createFirst(limit)
  const { code, errors, timedOut } = await Ripgrep.run({
    args: [...listing(hidden), ...filter],
    cwd: target.path,
    separator: "\0",
    signal: context.signal,
    onPiece: (file) => {
      if (matches(file) && isReadable(file)) kept.add(file)
    },
  })
  if (code === 2 && errors) throw new NamedError("Glob.Failed", errors.trim())
  const listed = kept.list()
  const real = keepReal(target.places[1], listed)
  const total = kept.total() - (listed.length - real.length)
  const files = real.map((file) => posix.join(target.shown, file))
  const notes = [
    ...(timedOut ? [Ripgrep.timeLimitNote] : []),
    ...(total > limit ? [`${total} files match, the first ${limit} are shown; narrow the pattern`] : []),
    ...(code === 2 ? ["some folders could not be read"] : []),
  ]
  const text = files.length ? files.join("\n") : `No file matches ${pattern} (ignored files are left out).`
  return {
    text: text + (notes.length ? `\n[${notes.join("; ")}]` : ""),
    title: `${pattern} (${total})`,
    data: { files: total },
  }
}

/** How we run ripgrep to list a tree. Ignore files also count outside git; git's own folder is always left out. */
function listing(hidden: boolean): string[] {
  return [
    "--files",
    "--null",
    "--no-messages",
    "--no-require-git",
    ...(hidden ? ["--hidden", "--glob=!.git"] : []),
  ]
}

/** Keeps files whose folder is really where its name says. ripgrep opens folders by name, and a folder that was
 * swapped for a link meanwhile would show names from elsewhere. */
function keepReal(root: string, files: string[]): string[] {
  const byFolder = Map.groupBy(files, (file) => posix.dirname(file))
  const real = [...byFolder].flatMap(([folder, inside]) => {
    using handle = openReal(root, folder)
    if (!handle?.stat.isDirectory()) return []
    const names = filesIn(handlePath(handle, handle.place))
    return inside.filter((file) => names.has(posix.basename(file)))
  })
  return real.sort()
}

function filesIn(folder: string): Set<string> {
  const entries = readdirSync(folder, { withFileTypes: true })
  return new Set(entries.flatMap((entry) => (entry.isFile() ? [entry.name] : [])))
}

/** The first `size` strings in sorted order, holding only a few times as many in memory. */
function createFirst(size: number) {
  let items: string[] = []
  let total = 0
  let last: string | undefined
  function trim() {
    items.sort()
    items = items.slice(0, size)
    last = items.length === size ? items.at(-1) : undefined
  }
  return {
    add(item: string) {
      total++
      if (last !== undefined && item > last) return
      items.push(item)
      if (items.length >= 8 * size) trim()
    },
    list() {
      trim()
      return items
    },
    total: () => total,
  }
}
