// A path as people write it: from the work tree, or from their home folder.
import { homedir } from "node:os"
import { join, relative } from "node:path"
import { Instance } from "#kernel/instance.ts"
import { isInside } from "#util/file/resolve-inside.ts"

export function shortPath(path: string): string {
  if (isInside(Instance.worktree, path)) return relative(Instance.worktree, path)
  return isInside(homedir(), path) ? join("~", relative(homedir(), path)) : path
}
