// The `glob` tool: files by pattern, as ripgrep sees the tree, sorted by path.
import { posix } from "node:path"
import { z } from "zod"
import * as Ripgrep from "#knowledge/grounding/ripgrep.ts"
import { NamedError } from "#util/error.ts"
import { compileGlob } from "../glob-pattern.ts"
import { mayRead } from "../may-read.ts"
import { needsReading, openTarget } from "../open-target.ts"
import type { Context, Definition, Output } from "../tool.ts"
import { descriptions } from "./descriptions.ts"

const limit = 1_000

const Parameters = z.strictObject({ pattern: z.string().min(1), path: z.string().min(1).optional() })
type Args = z.infer<typeof Parameters>

class NotAFolder extends NamedError {
  constructor(path: string) {
    super("Glob.NotAFolder", `${JSON.stringify(path)} is a file; path must be a folder.`, { path })
  }
}

export const glob = {
  id: "glob",
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
  if (!target.isDirectory) throw new NotAFolder(target.shown)
  const isReadable = mayRead(target, context)
  const kept = createFirst(limit)
  const { code, errors } = await Ripgrep.run({
    args: [...listing(hidden), ...filter],
    cwd: target.path,
    separator: "\0",
    signal: context.signal,
    onPiece: (file) => {
      if (matches(file) && isReadable(file)) kept.add(file)
    },
  })
  if (code === 2 && errors) throw new NamedError("Glob.Failed", errors.trim())
  const files = kept.list().map((file) => posix.join(target.shown, file))
  const notes = [
    ...(kept.total() > limit
      ? [`${kept.total()} files match, the first ${limit} are shown; narrow the pattern`]
      : []),
    ...(code === 2 ? ["some folders could not be read"] : []),
  ]
  const text = files.length ? files.join("\n") : `No file matches ${pattern} (ignored files are left out).`
  return {
    text: text + (notes.length ? `\n[${notes.join("; ")}]` : ""),
    title: `${pattern} (${kept.total()})`,
    data: { files: kept.total() },
  }
}

/** How ripgrep lists a tree for us. Ignore files count outside of git too; git's own folder never does. */
function listing(hidden: boolean): string[] {
  return [
    "--files",
    "--null",
    "--no-messages",
    "--no-require-git",
    ...(hidden ? ["--hidden", "--glob=!.git"] : []),
  ]
}

/** The first `size` of any number of strings in their order, holding only a few times as many. */
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
