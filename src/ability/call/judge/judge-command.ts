// Judges a shell command by the rules, and by where its words lead: under another name it may reach our secrets, files that
// decide what runs, or a script that nobody has reviewed.
import { homedir } from "node:os"
import { isAbsolute, resolve } from "node:path"
import * as Permission from "#ability/permission/permission.ts"
import { ownPlaces } from "#ability/skill/skill-places.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as SecretFiles from "#kernel/process/secret-files.ts"
import { realOf, statOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { readPath } from "#util/wildcard.ts"
import { isReviewedScript, isSkillScript } from "./protected-files.ts"
import { reachedPaths } from "./reached-paths.ts"
import { runsAsset } from "./runs-asset.ts"

/** A longer command is not checked word by word. */
const maxPaths = 1_000
const moves = new Set(["cd", "pushd", "-C", "--chdir", "--directory"])
const maxFolders = 10
/** Commands that change no file. */
const quiet = new Set("cd pushd popd echo printf test [ [[ : true false pwd export set".split(" "))

/** `cwd`: the folder that the command starts in. */
export async function judgeCommand(options: {
  need: Permission.Need
  cwd: string
  decide(need: Permission.Need): Permission.Decision
}): Promise<Permission.Decision> {
  const { need, cwd, decide } = options
  const decision = decide({ ...need, cwd })
  const command = need.target
  const folders = startFolders(command, cwd)
  if (reachesSecrets(command, folders)) return Permission.sealed(decision)
  if (await runsAsset(command, folders)) return { action: "deny", asset: true }
  const isGuarded = (await changesWhatRuns(command, folders)) || (await runsUntrustedScript(command, folders))
  return isGuarded ? Permission.guarded(decision) : decision
}

/** Relative paths of a command start in its own folder, or in a folder that it changes to. Returns all of these. */
function startFolders(command: string, cwd: string): string[] {
  const words = Permission.pathsIn(command)
  const folders = new Set([cwd])
  let here = cwd
  for (const [i, word] of words.entries()) {
    if (!moves.has(words[i - 1] ?? "") || folders.size >= maxFolders) continue
    here = resolve(here, word)
    // `cd` in parentheses does not affect the rest.
    folders.add(here).add(resolve(cwd, word))
  }
  return [...folders]
}

/** True if a command reaches our files with keys and tokens under another name: from a folder near them, or through a
 * link. The rules already know names that are written plainly. */
function reachesSecrets(command: string, folders: string[]): boolean {
  const names = SecretFiles.places().flatMap(({ path }) => path.split("/"))
  for (const { target, real } of reachedBy(command, folders, new Set(names)))
    if (SecretFiles.isSecret(target) || SecretFiles.isSecret(real)) return true
  return false
}

/** True if a command reaches, under another name, a file that decides what runs: through a link, or from a folder inside it.
 * The rules already know names that are written plainly. Skills and their scripts need no guard here: they count only
 * after a person has reviewed them. */
async function changesWhatRuns(command: string, folders: string[]): Promise<boolean> {
  for (const { target, real } of reachedBy(command, folders, await protectedNames())) {
    const isNamed = [target, real].some((one) => Permission.isOwnConfiguration(readPath(one)))
    const decides = isNamed || ((await isSkillScript(real)) && !(await isReviewedScript(real)))
    if (decides) return !Permission.onlyLooks(command)
  }
  return false
}

/** Every protected path has one of these names, or starts in a folder that has one. */
async function protectedNames(): Promise<Set<string>> {
  const root = (await Config.get()).skills?.root
  const named = root === undefined ? "" : resolve(Instance.worktree, root)
  const names = [...Permission.ownNames(), ...named.split("/"), ...(realOf(named) ?? "").split("/")]
  return new Set(names.map((name) => name.toLowerCase()))
}

function reachedBy(command: string, folders: string[], names: ReadonlySet<string>) {
  const words = [".", ...Permission.pathsIn(command).slice(0, maxPaths)]
  return reachedPaths({ folders, words, protectedNames: names })
}

/** True if a command runs a script of a project's skill that changed since its review, or was never reviewed. A rule with a
 * wildcard does not allow that; a person must name it. The gate checks again right before the command runs. */
async function runsUntrustedScript(command: string, folders: string[]): Promise<boolean> {
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
