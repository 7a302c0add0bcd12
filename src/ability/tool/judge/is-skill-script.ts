// Whether a file is a script of a skill in the configured skill folder. Those of the usual folders are known by their
// names.
import { relative, resolve } from "node:path"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { realOf } from "#util/file/real-of.ts"
import { isInside } from "#util/file/resolve-inside.ts"

/** `path` must be a real path. */
export async function isSkillScript(path: string): Promise<boolean> {
  const root = (await Config.get()).skills?.root
  if (root === undefined) return false
  const named = resolve(Instance.worktree, root)
  const folder = realOf(named) ?? named
  if (!isInside(folder, path)) return false
  return relative(folder, path).split("/").slice(0, 2).includes("scripts")
}
