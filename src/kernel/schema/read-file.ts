// Reads a file of a project, bounded, and never waits on a pipe or a device.
import { constants } from "node:fs"
import { type FileHandle, open, realpath, stat } from "node:fs/promises"
import { basename } from "node:path"
import { isGuest } from "#kernel/process/guest.ts"
import { isMissing } from "#util/error.ts"
import { isAbsent, namesIn } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"

const maxBytes = 1 << 20

/** The content, or undefined if there is no such file. Throws for anything but a regular file of at most `limit` bytes
 * and, with `root`, for a file whose real path is outside it. */
export async function readSmallFile(
  path: string,
  root?: string,
  limit = maxBytes,
): Promise<Buffer | undefined> {
  if (isAbsent(path)) return undefined
  const handle = await openInside(path, root).catch((error) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (!handle) return undefined
  try {
    const found = await handle.stat()
    if (found.isDirectory() && (isGuest() || isPlaceholder(path))) return undefined
    if (!found.isFile()) throw new Error("it is not a regular file")
    if (found.size > limit) throw new Error(`${found.size} bytes are too many; the limit is ${limit}`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

async function openInside(path: string, root: string | undefined): Promise<FileHandle> {
  const target = root === undefined ? path : await realPathInside(path, root)
  const handle = await open(target, constants.O_RDONLY | constants.O_NONBLOCK)
  if (root === undefined) return handle
  try {
    // A folder on the way may have become a link before the file was opened, and may be a folder again by now.
    const [opened, now] = await Promise.all([handle.stat(), stat(await realPathInside(target, root))])
    if (opened.dev !== now.dev || opened.ino !== now.ino) throw new Error("it changed while it was opened")
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function realPathInside(path: string, root: string): Promise<string> {
  const [real, realRoot] = await Promise.all([realpath(path), realpath(root)])
  if (isInside(realRoot, real)) return real
  throw new Error(`it leads outside the work tree, to ${real}, which only a trusted folder may do`)
}

/** While a sandbox runs, an empty folder stands where this file must not be created. */
function isPlaceholder(path: string): boolean {
  return basename(path) === ".mcp.json" && namesIn(path).length === 0
}
