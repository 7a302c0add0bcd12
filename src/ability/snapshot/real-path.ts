// Where a file that is to be written really lies, whether it is there yet or not.
import { readlinkSync, realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { errorCode } from "#util/error.ts"

const maxLinks = 40

export function realPath(path: string, links = 0): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || links > maxLinks) throw error
  }
  const parent = realPath(dirname(path), links)
  const target = linkAt(path)
  return target === undefined ? join(parent, basename(path)) : realPath(resolve(parent, target), links + 1)
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
