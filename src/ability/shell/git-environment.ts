// Disables the programs that an untrusted folder defines for git (hooks, fsmonitor, filters, drivers, aliases, helpers)
// by environment variables that override its configuration. In a trusted folder, git only shows less of submodules.
import { type Dirent, readdirSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { promisify } from "node:util"
import * as Permission from "#ability/permission/permission.ts"
import { Instance } from "#kernel/instance.ts"
import * as Env from "#kernel/process/env.ts"
import * as Trust from "#kernel/trust/trust.ts"
import * as Vcs from "#kernel/vcs.ts"
import { realOf, statOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { ownCommand } from "#util/own-command.ts"
import { childProcess } from "#util/process.ts"
import { type Entry, lastingSetting, overrides, shown } from "./git-off.ts"

type Variables = Record<string, string>

const moves = /^(cd|pushd|-C|--chdir|--directory|--git-dir|--work-tree)$/
const maxFolders = 10
const maxFiles = 200
const maxOutput = 256 << 20
const timeout = 10_000
const known = Instance.state(() => new Map<string, { stamp: string; entries: Entry[] }>())
const links = Instance.state(() => new Map<string, { stamp: string; paths: string[] }>())

/** Variables for a command that starts in `cwd`. */
export async function gitEnvironment(command: string, cwd: string): Promise<Variables> {
  if (!Instance.isProvided) return {}
  if (await Trust.check(Instance.directory)) return /\bgit\b/.test(command) ? settings(shown) : {}
  const found = new Map<string, Entry[]>()
  try {
    for (const folder of foldersOf(command, cwd)) await addRepository(folder, found)
    const entries = [...found.values()].flat()
    const lasting = lastingSetting(entries)
    if (lasting) return gitOff(`${lasting} of this folder runs a program`)
    const variables = variablesFor(overrides(entries))
    // A reading command runs without a question, so it must not fetch missing objects from a remote.
    return Permission.onlyReadsGit(command) ? { ...variables, GIT_ALLOW_PROTOCOL: "none" } : variables
  } catch {
    return gitOff("the git configuration of this folder cannot be read")
  }
}

/** Git reports the missing path, and with it the reason. */
function gitOff(reason: string): Variables {
  return { GIT_DIR: `/off in an untrusted folder: ${reason}; see ${ownCommand} trust` }
}

function variablesFor(pairs: [string, string][]): Variables {
  return {
    ...settings(pairs),
    // "ext" is missing because it is a command. "file" is missing because git starts the other side without these
    // variables, so hooks would run there; and `remote.*.uploadpack` of the folder could not be overridden.
    GIT_ALLOW_PROTOCOL: Env.get("GIT_ALLOW_PROTOCOL") ?? "git:http:https:ssh",
    GIT_PROXY_COMMAND: Env.get("GIT_PROXY_COMMAND") ?? "",
    GIT_SEQUENCE_EDITOR: "true",
  }
}

/** Variables that git takes as settings, after those that the person set in this way. */
function settings(pairs: readonly [string, string][]): Variables {
  const first = Number(Env.get("GIT_CONFIG_COUNT") ?? 0) || 0
  const variables: Variables = { GIT_CONFIG_COUNT: String(first + pairs.length) }
  for (const [i, [key, value]] of pairs.entries()) {
    variables[`GIT_CONFIG_KEY_${first + i}`] = key
    variables[`GIT_CONFIG_VALUE_${first + i}`] = value
  }
  return variables
}

/** The start folder of the command, and each folder that it changes to. */
function foldersOf(command: string, cwd: string): Set<string> {
  const words = command.split(/[\s;&|()<>"'`=]+/)
  const folders = new Set([Instance.worktree, cwd])
  let here = cwd
  for (const [i, word] of words.entries()) {
    if (!moves.test(words[i - 1] ?? "") || folders.size >= maxFolders) continue
    here = resolve(here, word)
    folders.add(here).add(resolve(cwd, word))
  }
  return folders
}

/** Adds the settings of the repository at a folder and of its submodules, because git also runs in submodules, with
 * their filters. */
async function addRepository(folder: string, found: Map<string, Entry[]>): Promise<void> {
  const repository = statOf(folder)?.isDirectory() ? Vcs.find(realOf(folder) ?? folder) : undefined
  if (!repository || found.has(repository.gitDir)) return
  if (found.size >= maxFiles) throw new Error("there are too many repositories inside")
  const entries = await read(repository)
  found.set(repository.gitDir, entries)
  const trees = entries.filter(({ key, isOwn }) => isOwn && key === "core.worktree")
  for (const tree of [repository.worktree, ...trees.map(({ value }) => resolve(repository.gitDir, value))])
    for (const path of await linkedPaths(repository)) await addRepository(join(tree, path), found)
}

/** Paths in the index that are repositories of their own. */
async function linkedPaths({ gitDir }: Vcs.Repository): Promise<string[]> {
  const stamp = stampOf(join(gitDir, "index"))
  const before = links().get(gitDir)
  if (before?.stamp === stamp) return before.paths
  const staged = await git(gitDir, ["-c", "core.fsmonitor=false", "ls-files", "--stage", "--full-name", "-z"])
  const paths = staged
    .split("\0")
    .filter((line) => line.startsWith("160000 "))
    .map((line) => line.slice(line.indexOf("\t") + 1))
  links().set(gitDir, { stamp, paths })
  return paths
}

/** The settings that apply in a repository, and those of its submodules, as `git config` lists them. It runs no program
 * of the folder. */
async function read(repository: Vcs.Repository): Promise<Entry[]> {
  const { gitDir, commonDir } = repository
  const submodules = submoduleConfigs(join(commonDir, "modules"))
  const files = [join(commonDir, "config"), join(gitDir, "config.worktree"), ...personFiles(), ...submodules]
  const stamp = JSON.stringify(files.map(stampOf))
  const before = known().get(gitDir)
  if (before?.stamp === stamp) return before.entries
  const entries = await list(gitDir, [])
  refuseForeignTree(entries, gitDir)
  // Conditions of an include may become true later.
  const waiting = [...submodules, ...conditional(entries, commonDir)]
  for (const [i, file] of waiting.entries()) {
    if (i >= maxFiles) throw new Error("it includes too many files")
    const more = await list(gitDir, ["--file", file])
    refuseForeignTree(more, dirname(file))
    waiting.push(...conditional(more, dirname(file)).filter((path) => !waiting.includes(path)))
    entries.push(...more)
  }
  // Included files may change without these files.
  const includes = entries.some(({ key, isOwn }) => isOwn && /^include(if\..*)?\.path$/s.test(key))
  if (!includes) known().set(gitDir, { stamp, entries })
  return entries
}

async function list(gitDir: string, from: string[]): Promise<Entry[]> {
  const fields = (await git(gitDir, ["config", ...from, "--list", "-z", "--show-scope", "--includes"])).split(
    "\0",
  )
  const entries: Entry[] = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [scope, text] = [fields[i]!, fields[i + 1]!]
    const at = text.indexOf("\n")
    const [key, value] = at < 0 ? [text, "true"] : [text.slice(0, at), text.slice(at + 1)]
    entries.push({ key, value, isOwn: from.length > 0 || scope === "local" || scope === "worktree" })
  }
  return entries
}

/** Returns stdout of a git command that runs nothing of the folder. */
async function git(gitDir: string, args: string[]): Promise<string> {
  const env = { ...Env.forChild(), GIT_DIR: gitDir, GIT_CEILING_DIRECTORIES: dirname(gitDir) }
  const options = { cwd: gitDir, env, timeout, maxBuffer: maxOutput }
  return (await promisify(childProcess().execFile)("git", args, options)).stdout
}

/** Files that are included conditionally. */
function conditional(entries: Entry[], folder: string): string[] {
  return entries
    .filter(({ key, isOwn }) => isOwn && /^includeif\..*\.path$/s.test(key))
    .map(({ value }) => resolve(folder, value))
    .filter((file) => statOf(file)?.isFile())
}

/** `core.worktree` names the folder that git writes to, and no variable overrides it. */
function refuseForeignTree(entries: Entry[], folder: string): void {
  for (const { key, value, isOwn } of entries)
    if (isOwn && key === "core.worktree" && !isInWorkspace(resolve(folder, value)))
      throw new Error("core.worktree leads out of the workspace")
}

function isInWorkspace(path: string): boolean {
  return isInside(Instance.worktree, realOf(path) ?? path)
}

function submoduleConfigs(modules: string, depth = 0): string[] {
  if (depth > 3 || !statOf(modules)?.isDirectory()) return []
  const entries: Dirent[] = readdirSync(modules, { withFileTypes: true })
  const found = entries.flatMap((entry) => {
    const path = join(modules, entry.name)
    if (!entry.isDirectory()) return []
    if (!statOf(join(path, "HEAD"))) return submoduleConfigs(path, depth + 1)
    return [join(path, "config"), ...submoduleConfigs(join(path, "modules"), depth + 1)]
  })
  if (found.length > maxFiles) throw new Error("there are too many submodules")
  return found.filter((file) => statOf(file)?.isFile())
}

function personFiles(): string[] {
  const home = Env.get("HOME") ?? "/"
  return [join(home, ".gitconfig"), join(Env.get("XDG_CONFIG_HOME") ?? join(home, ".config"), "git/config")]
}

function stampOf(file: string): string {
  const stat = statOf(file)
  return stat ? `${file} ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}` : ""
}
