// Whether a file is among the scripts of skills in the folder that the configuration names for them. Those of the usual
// folders are known by their names.
import { relative, resolve } from "node:path"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { realOf } from "#util/file/real-of.ts"
import { isInside } from "#util/file/resolve-inside.ts"

/** `path` is a real one. */
export async function isSkillScript(path: string): Promise<boolean> {
  const root = (await Config.get()).skills?.root
  if (root === undefined) return false
  const named = resolve(Instance.worktree, root)
  const folder = realOf(named) ?? named
  if (!isInside(folder, path)) return false
  return relative(folder, path).split("/").slice(0, 2).includes("scripts")
}
