// Decides which files of a folder a call may show. The call may read the folder; rules about files in it still apply.
import { join } from "node:path"
import type { Context } from "#ability/call/types.ts"
import { isStricter } from "#ability/permission/permission.ts"
import type { Target } from "./open-target.ts"

/**
 * Judges a file by its path from the folder. What is denied is not shown, nor what would be asked for, unless the same
 * holds for the folder: then that was asked for.
 */
export function mayRead({ places }: Target, { judge }: Context): (file: string) => boolean {
  if (!judge) return () => true
  const actionOf = (target: string) => judge({ permission: "file.read", target })
  const folders = [...new Set(places)].map((path) => ({ path, action: actionOf(path) }))
  return (file) => folders.every(({ path, action }) => !isStricter(actionOf(join(path, file)), action))
}
