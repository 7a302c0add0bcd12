// Finds the files to analyze and reads them, as UTF-8 and up to a limit.
import { readFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import { compileGlob } from "#ability/file/glob-pattern.ts"
import * as Ripgrep from "#knowledge/grounding/ripgrep.ts"
import { errorCode, isMissing } from "#util/error.ts"
import { realOf, statOf } from "#util/file/path-info.ts"
import { openInside, PathInvalid, PathOutside } from "#util/file/resolve-inside.ts"
import type { RuleName } from "./term/finding.ts"

/** Larger files are named and left out. */
const maxBytes = 4_000_000
const maxFiles = 5_000
/** Without ignored files, also outside git. */
const listing = ["--files", "--null", "--no-messages", "--no-require-git"]

type Files = { names: string[]; more: boolean }
type ReadFile = { text: string } | { rule: RuleName; message: string }

/** Files below `root` in order. A glob that names a file means this file; without one, all files that can be analyzed. */
export async function findFiles(
  root: string,
  glob: string | undefined,
  signal?: AbortSignal,
): Promise<Files> {
  const named = glob === undefined ? "" : relative(root, resolve(root, glob))
  const stat = statOf(join(root, named))
  if (stat?.isFile()) return { names: [named], more: false }
  const pattern = !stat?.isDirectory() ? glob : named ? `${named}/**` : undefined
  const { matches, filter, hidden } = compileGlob(pattern ?? "*")
  const names: string[] = []
  await Ripgrep.run({
    args: [...listing, ...(hidden ? ["--hidden", "--glob=!.git"] : []), ...filter],
    cwd: root,
    separator: "\0",
    ...(signal ? { signal } : {}),
    onPiece: (file) => {
      if (canAnalyze(file) && matches(file)) names.push(file)
      return names.length <= maxFiles
    },
  })
  return { names: names.sort().slice(0, maxFiles), more: names.length > maxFiles }
}

export function canAnalyze(file: string): boolean {
  return /\.(?:html?|css|[cm]?[jt]sx?)$/i.test(file) && !/\.d\.[cm]?ts$/.test(file)
}

/** Reads a file by its path from the root. `accepts` is asked for its real path, from the real root. */
export function readText(root: string, file: string, accepts: (file: string) => boolean): ReadFile {
  try {
    using handle = openInside([root], file)
    const { fd, stat, place } = handle
    if (!stat.isFile() || !accepts(relative(realOf(root) ?? root, place)))
      return { rule: "file/unreadable", message: "The file may not be read." }
    if (stat.size > maxBytes)
      return { rule: "file/too-large", message: `The file has more than ${maxBytes / 1e6} MB.` }
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(fd)) }
  } catch (error) {
    if (error instanceof TypeError) return { rule: "file/not-utf8", message: "The file is not UTF-8." }
    if (error instanceof PathOutside || error instanceof PathInvalid)
      return { rule: "file/unreadable", message: "The file is outside the folder, or no file." }
    const reason = isMissing(error)
      ? "does not exist"
      : `cannot be read (${errorCode(error) ?? "unknown error"})`
    return { rule: "file/unreadable", message: `The file ${reason}.` }
  }
}
