// Whether a command runs the script of a skill that came with a folder nobody trusted. A rule with a wildcard does not
// allow that; a person must name it.
import { homedir } from "node:os"
import { isAbsolute, resolve } from "node:path"
import * as Permission from "#ability/permission/permission.ts"
import { ownPlaces } from "#ability/skill/skill-places.ts"
import { Instance } from "#kernel/instance.ts"
import * as Trust from "#kernel/trust.ts"
import { realOf } from "#util/real-of.ts"
import { isInside } from "#util/resolve-inside.ts"
import { readPath } from "#util/wildcard.ts"
import { isSkillScript } from "./is-skill-script.ts"
import * as KeptFolder from "./shell/kept-folder.ts"
import { startFolders } from "./start-folders.ts"

export async function runsUntrustedScript(command: string, sessionId: string): Promise<boolean> {
  const scripts = Permission.skillScriptsRun(command).map((path) => path.replace(/^~(?=\/)/, homedir()))
  if (!scripts.length) return false
  const folders = startFolders(command, KeptFolder.get(sessionId).cwd)
  for (const script of scripts) {
    if (isOwn(script)) continue
    for (const folder of folders) {
      const path = resolve(folder, script)
      const real = realOf(path) ?? path
      const isNamed = [path, real].some((one) => Permission.isOwnConfiguration(readPath(one)))
      if (isNamed || (await isSkillScript(real))) return !(await Trust.check(Instance.worktree))
    }
  }
  return false
}

/** The person's own are known by their whole path; links and other names for the project's are not among them. */
function isOwn(path: string): boolean {
  if (!isAbsolute(path) || isInside(Instance.worktree, realOf(path) ?? path)) return false
  return ownPlaces().some((folder) => isInside(folder, path))
}
