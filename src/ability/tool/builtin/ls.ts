// The `ls` tool: lists a folder, folders first, without ignored entries. Entries that may not be read are counted but
// not named, so that the folder does not look empty.
import { lstat, readdir, readlink } from "node:fs/promises"
import { join } from "node:path"
import { z } from "zod"
import type { Context, Definition, Output } from "#ability/call/types.ts"
import { mayRead, needsReading, openTarget } from "#ability/file/open-target.ts"
import * as Ripgrep from "#knowledge/grounding/ripgrep.ts"
import { NamedError } from "#util/error.ts"
import { descriptions } from "./descriptions.ts"

const limit = 500
const Parameters = z.strictObject({ path: z.string().min(1).optional() })
type Args = z.infer<typeof Parameters>

/** For docs/tools.md; models are not sent it. */
export const manual = {
  example: { path: "src" },
  arguments: { path: "Folder to list; without it the working folder." },
  limits: `${limit} entries. Ignored entries are counted, not listed.`,
}

export const ls = {
  id: "ls",
  routingName: "fs_ls",
  description: descriptions.ls,
  category: "file",
  parameters: Parameters,
  readOnly: true,
  permission: ({ path }: Args) => needsReading(path),
  execute,
} satisfies Definition

async function execute({ path = "." }: Args, context: Context): Promise<Output> {
  await using target = await openTarget(path, context)
  if (!target.isDirectory)
    throw new NamedError(
      "Ls.NotAFolder",
      `${JSON.stringify(target.shown)} is a file. Use read to see what is in it.`,
      { path: target.shown },
    )
  const [all, ignored] = await Promise.all([
    readdir(target.path, { withFileTypes: true }),
    ignoredIn(target.path, context.signal),
  ])
  const isReadable = mayRead(target, context)
  const entries = all.filter(({ name }) => isReadable(name))
  const left = entries.filter(({ name }) => !ignored.has(name) && name !== ".git")
  const hidden = entries.filter(({ name }) => ignored.has(name)).map(({ name }) => name)
  const order = (entry: { isDirectory(): boolean; name: string }) =>
    `${entry.isDirectory() ? 0 : 1}${entry.name}`
  left.sort((a, b) => (order(a) < order(b) ? -1 : 1))
  const shown = left.slice(0, limit)
  const lines = await Promise.all(shown.map(({ name }) => describe(target.path, name)))
  const notes = [
    ...(left.length > limit
      ? [`${left.length} entries, the first ${limit} are shown; glob finds others`]
      : []),
    ...(entries.length < all.length ? [`${all.length - entries.length} that may not be read`] : []),
    ...(hidden.length ? [`ignored: ${shorten(hidden.sort())}`] : []),
  ]
  return {
    text: (lines.join("\n") || "(empty folder)") + (notes.length ? `\n[${notes.join("; ")}]` : ""),
    title: `${target.shown} (${left.length})`,
    data: { entries: left.length, ignored: hidden.length },
  }
}

async function describe(folder: string, name: string): Promise<string> {
  const stat = await lstat(join(folder, name)).catch(() => undefined)
  if (stat?.isDirectory()) return `${name}/`
  if (stat?.isSymbolicLink()) return `${name} -> ${await readlink(join(folder, name)).catch(() => "?")}`
  return stat ? `${name}  ${stat.isFile() ? size(stat.size) : "special file"}` : name
}

function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const [value, unit] =
    bytes < 1e6 ? [bytes / 1e3, "KB"] : bytes < 1e9 ? [bytes / 1e6, "MB"] : [bytes / 1e9, "GB"]
  return `${value.toFixed(1)} ${unit}`
}

function shorten(names: string[]): string {
  return names.length > 10
    ? `${names.slice(0, 10).join(", ")} and ${names.length - 10} more`
    : names.join(", ")
}

/** Names that ignore files exclude. ripgrep reports folders only in its debug lines; without them nothing is
 * excluded. */
async function ignoredIn(folder: string, signal: AbortSignal): Promise<Set<string>> {
  const args = ["--files", "--hidden", "--max-depth=1", "--no-require-git", "--debug"]
  const ignored = new Set<string>()
  await Ripgrep.run({
    args,
    cwd: folder,
    separator: "\n",
    signal,
    onPiece: () => {},
    onError: (line) => {
      const name = /: ignoring (?:\.\/)?(.+?): Ignore\(/.exec(line)?.[1]
      if (name) ignored.add(name)
    },
  })
  return ignored
}
