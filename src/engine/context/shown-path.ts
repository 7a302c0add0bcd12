// Paths as they are shown: to people, and to models that pass them to tools.
import { homedir } from "node:os"
import { join, relative } from "node:path"
import { Instance } from "#kernel/instance.ts"
import { isInside } from "#util/file/resolve-inside.ts"

/** From the work tree, or from the home folder. */
export function shortPath(path: string): string {
  if (isInside(Instance.worktree, path)) return relative(Instance.worktree, path)
  return isInside(homedir(), path) ? join("~", relative(homedir(), path)) : path
}

/** Relative to the folder that tools work in, or absolute. */
export function pathForTools(file: string): string {
  const { directory } = Instance
  return isInside(directory, file) ? relative(directory, file) || "." : file
}
