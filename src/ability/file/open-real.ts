// Opens what a search found by name and checks that it is exactly there: no link is on the way, so the rules about
// the name apply to it.
import { join } from "node:path"
import { errorCode } from "#util/error.ts"
import { type Handle, openInside, PathInvalid, PathOutside } from "#util/file/resolve-inside.ts"

/** By its path from the folder that is really at `root`. Undefined if it leads elsewhere, or nowhere. */
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
