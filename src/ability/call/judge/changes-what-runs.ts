// Whether a command reaches a file that decides what runs under another name: through a link, or from a folder inside
// it. The rules already know names that are written plainly. Skills and their scripts need no guard here: they count
// only after a person has reviewed them.
import { resolve } from "node:path"
import * as Permission from "#ability/permission/permission.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { realOf } from "#util/file/path-info.ts"
import { readPath } from "#util/wildcard.ts"
import { reachedPaths } from "./reached-paths.ts"
import { isReviewedScript, isSkillScript } from "./skill-scripts.ts"

/** A longer command is not checked word by word. */
const maxPaths = 1_000

/** `folders`: where relative paths of the command may start. */
export async function changesWhatRuns(command: string, folders: string[]): Promise<boolean> {
  const words = [".", ...Permission.pathsIn(command).slice(0, maxPaths)]
  for (const { target, real } of reachedPaths({ folders, words, telling: await tellingNames() })) {
    const isNamed = [target, real].some((one) => Permission.isOwnConfiguration(readPath(one)))
    const decides = isNamed || ((await isSkillScript(real)) && !(await isReviewedScript(real)))
    if (decides) return !Permission.onlyLooks(command)
  }
  return false
}

/** Every path that matters here has one of these names, unless its start folder does. */
async function tellingNames(): Promise<Set<string>> {
  const root = (await Config.get()).skills?.root
  const named = root === undefined ? "" : resolve(Instance.worktree, root)
  const names = [...Permission.ownNames(), ...named.split("/"), ...(realOf(named) ?? "").split("/")]
  return new Set(names.map((name) => name.toLowerCase()))
}
