// Whether a command reaches what decides what runs by another name: through a link, or from a folder inside of it. What
// it plainly names is known to the rules already.
import { dirname, resolve } from "node:path"
import * as Permission from "#ability/permission/permission.ts"
import { realOf } from "#util/real-of.ts"
import { readPath } from "#util/wildcard.ts"
import { isSkillScript } from "./is-skill-script.ts"
import * as KeptFolder from "./shell/kept-folder.ts"
import { startFolders } from "./start-folders.ts"

/** A command with more words than this is not looked at word by word. */
const maxPaths = 1_000

export async function changesWhatRuns(command: string, sessionId: string): Promise<boolean> {
  const folders = startFolders(command, KeptFolder.get(sessionId).cwd)
  const paths = new Set(Permission.pathsIn(command).slice(0, maxPaths))
  for (const folder of folders)
    for (const path of [".", ...paths]) {
      const target = resolve(folder, path)
      // Where it is, or would be made.
      const real = realOf(target) ?? realOf(dirname(target)) ?? target
      const isNamed = [target, real].some((one) => Permission.isOwnConfiguration(readPath(one)))
      if (isNamed || (await isSkillScript(real))) return !Permission.onlyLooks(command)
    }
  return false
}
