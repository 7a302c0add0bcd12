// What a search found by its name, opened and known to be at exactly that place: no link is on the way, so that what the
// rules say about the name holds for it.
import { join } from "node:path"
import { errorCode } from "#util/error.ts"
import { type Handle, openInside, PathInvalid, PathOutside } from "#util/file/resolve-inside.ts"

/** By its path from the folder that is really at `root`. Undefined where that leads elsewhere, or nowhere. */
export function openReal(root: string, path: string): Handle | undefined {
  let handle: Handle | undefined
  try {
    handle = openInside([root], path)
    if (handle.place === join(root, path)) return handle
  } catch (error) {
    const isExpected = error instanceof PathOutside || error instanceof PathInvalid
    if (!isExpected && errorCode(error) === undefined) throw error
  }
  handle?.[Symbol.dispose]()
  return undefined
}
