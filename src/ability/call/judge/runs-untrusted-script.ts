// Whether a command runs the script of a project's skill that is not as a person has reviewed it. A rule with a
// wildcard does not allow that; a person must name it. The gate checks again right before the command runs.
import { homedir } from "node:os"
import { isAbsolute, resolve } from "node:path"
import * as Permission from "#ability/permission/permission.ts"
import { ownPlaces } from "#ability/skill/skill-places.ts"
import { Instance } from "#kernel/instance.ts"
import { realOf, statOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { readPath } from "#util/wildcard.ts"
import { isReviewedScript, isSkillScript } from "./skill-scripts.ts"

/** Commands that change no file. */
const quiet = new Set("cd pushd popd echo printf test [ [[ : true false pwd export set".split(" "))

/** `folders`: where relative paths of the command may start. */
export async function runsUntrustedScript(command: string, folders: string[]): Promise<boolean> {
  const scripts = Permission.skillScriptsRun(command).map((path) => path.replace(/^~(?=\/)/, homedir()))
  if (!scripts.length) return false
  for (const script of scripts) {
    if (isOwn(script)) continue
    const found = await skillScripts(folders.map((folder) => resolve(folder, script)))
    if (!found.length) continue
    // The command may start in one of several folders; a missing file may be created by the same line.
    const existing = found.filter((path) => statOf(path))
    const reviewed = await Promise.all(existing.map(isReviewedScript))
    if (!existing.length || reviewed.includes(false) || mayChangeIt(command)) return true
  }
  return false
}

async function skillScripts(paths: string[]): Promise<string[]> {
  const found: string[] = []
  for (const path of paths) {
    const real = realOf(path) ?? path
    const isNamed = [path, real].some((one) => Permission.isOwnConfiguration(readPath(one)))
    if (isNamed || (await isSkillScript(real))) found.push(path)
  }
  return found
}

/** Another command of the line may change the script before it runs. */
function mayChangeIt(command: string): boolean {
  const commands = Permission.commandsIn(command) ?? []
  return commands.some((simple) => {
    const words = simple.words.map(({ text }) => text)
    const isRun = words.slice(0, 2).includes(Permission.runScript)
    return !isRun && (simple.writes || !(quiet.has(words[0] ?? "") || Permission.isReader(simple)))
  })
}

/** The person's own scripts, by their whole path; links and other names of the project's scripts are excluded. */
function isOwn(path: string): boolean {
  if (!isAbsolute(path) || isInside(Instance.worktree, realOf(path) ?? path)) return false
  return ownPlaces().some((folder) => isInside(folder, path))
}
