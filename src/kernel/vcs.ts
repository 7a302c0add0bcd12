// The git repository of a folder: read from its files if possible, because a start must not wait for git processes. If
// git itself must run, hooks, fsmonitor, pager, external diff, fetching and the system's configuration are off, and it
// gets only the variables that it needs. Filters and textconv cannot be switched off by name; they do not run, because
// no command here reads or writes the content of a work tree.
import { existsSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { promisify } from "node:util"
import * as Env from "#kernel/process/env.ts"
import { NamedError } from "#util/error.ts"
import { realOf, statOf, textOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { childProcess } from "#util/process.ts"

export type Info = { type: "git"; branch?: string; commit?: string }

/** A repository seen from one of its work trees. `commonDir` is shared by all of them. */
export type Repository = { worktree: string; gitDir: string; commonDir: string }

const reading = ["rev-list", "rev-parse", "symbolic-ref"] as const
type Command = (typeof reading)[number]

// Without our own keys and tokens: git may pass its environment to programs that a repository names.
const gitVariables = /^(PATH|HOME|USER|LOGNAME|TMPDIR|LANG|LC_ALL|XDG_.+|SYSTEMROOT)$/i

/** A git command that could run code of the repository. */
class CommandRefused extends NamedError {
  declare readonly data: { command: string }

  constructor(command: string) {
    const text = `git ${command} is not run: it could run filters of the repository. Available: ${reading.join(", ")}`
    super("Vcs.CommandRefused", text, { command })
  }
}

/** The repository that a folder belongs to, or undefined outside git. */
export function find(directory: string): Repository | undefined {
  for (let folder = directory; ; folder = dirname(folder)) {
    const gitDir = gitDirOf(folder)
    if (gitDir) return { worktree: folder, gitDir, commonDir: commonDirOf(gitDir) }
    if (folder === dirname(folder)) return undefined
  }
}

/** Whether a folder may use a repository: all files of the repository are in the folder, or the repository itself names
 * the work tree, as a linked work tree or as a submodule. A prepared `.git` file could name any other repository. */
export function belongsTo({ worktree, gitDir, commonDir }: Repository, folder: string): boolean {
  if ([gitDir, commonDir].every((path) => isInside(folder, path))) return true
  if (isInside(folder, gitDir)) return false
  if (gitDir === commonDir) return isSubmodule(gitDir, worktree)
  const linked = textOf(join(gitDir, "gitdir"))?.trim()
  const isListed = dirname(gitDir) === join(commonDir, "worktrees")
  return isListed && linked !== undefined && resolve(gitDir, linked) === join(worktree, ".git")
}

/** The repository of a submodule is in the one around it, and its configuration names the work tree. */
function isSubmodule(gitDir: string, worktree: string): boolean {
  const named = ["config.worktree", "config"].map((name) => worktreeIn(textOf(join(gitDir, name)) ?? ""))
  const path = named.find((path) => path !== undefined)
  return path !== undefined && realOf(resolve(gitDir, path)) === realOf(worktree)
}

function worktreeIn(config: string): string | undefined {
  const core = /^\[core\]$([^[]*)/m.exec(config)?.[1]
  return /^\s*worktree\s*=\s*"?([^"\n]*?)"?\s*$/m.exec(core ?? "")?.[1]
}

/** The current branch and commit. There is no branch on a detached HEAD, and no commit before the first one. */
export async function read(repository: Repository): Promise<Info> {
  const head = textOf(join(repository.gitDir, "HEAD"))?.trim() ?? ""
  const ref = /^ref: (refs\/.+)$/.exec(head)?.[1]
  if (ref === "refs/heads/.invalid") return askGit(repository)
  if (!ref) return { type: "git", ...(isHash(head) ? { commit: head } : {}) }
  const branch = ref.replace(/^refs\/heads\//, "")
  const commit = resolveRef(repository, ref)
  return { type: "git", branch, ...(commit ? { commit } : {}) }
}

/** Run git in a work tree with everything disabled that a repository could use to run code. Returns stdout. */
export async function git(worktree: string, args: [Command, ...string[]]): Promise<string> {
  if (!reading.includes(args[0])) throw new CommandRefused(args[0])
  const off = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "diff.external="]
  // Otherwise git refuses a folder of another user, for which root would then get another project id than its owner.
  off.push(`safe.directory=${worktree}`)
  const { stdout } = await promisify(childProcess().execFile)(
    "git",
    [...off.flatMap((pair) => ["-c", pair]), ...args],
    {
      cwd: worktree,
      env: gitEnvironment(worktree),
      timeout: 30_000,
      maxBuffer: 16 << 20,
    },
  )
  return stdout
}

/** Git must fetch no missing objects, because a repository can name a command as its remote. Only a variable forbids
 * all protocols: the repository's own `protocol.*.allow` would win over an option. The ceiling keeps git from using an
 * outer repository if this one is broken. */
function gitEnvironment(worktree: string): Record<string, string> {
  const own = Object.fromEntries(Object.entries(Env.forChild()).filter(([name]) => gitVariables.test(name)))
  return {
    ...own,
    GIT_ALLOW_PROTOCOL: "none",
    GIT_NO_LAZY_FETCH: "1",
    GIT_CEILING_DIRECTORIES: dirname(worktree),
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_CONFIG_NOSYSTEM: "1",
    LC_ALL: "C",
  }
}

function gitDirOf(folder: string): string | undefined {
  const path = join(folder, ".git")
  const stat = statOf(path)
  if (stat?.isDirectory()) return existsSync(join(path, "HEAD")) ? realOf(path) : undefined
  // As git reads it: up to 1 MB, and a line end belongs to the path unless it is the last. A NUL ends the path.
  if (!stat?.isFile() || stat.size > 1 << 20) return undefined
  const target = /^gitdir: (.*[^\r\n])[\r\n]*$/s.exec(textOf(path) ?? "")?.[1]?.split("\0")[0]
  if (!target) return undefined
  const linked = resolve(folder, target)
  return existsSync(join(linked, "HEAD")) ? realOf(linked) : undefined
}

function commonDirOf(gitDir: string): string {
  const relative = textOf(join(gitDir, "commondir"))
    ?.replace(/[\r\n]+$/, "")
    .split("\0")[0]
  return (relative && realOf(resolve(gitDir, relative))) || gitDir
}

function resolveRef({ gitDir, commonDir }: Repository, ref: string): string | undefined {
  if (ref.split("/").includes("..")) return undefined
  for (const folder of [gitDir, commonDir]) {
    const hash = textOf(join(folder, ref))?.trim()
    if (hash && isHash(hash)) return hash
  }
  const packed = textOf(join(commonDir, "packed-refs"))
  return packed
    ?.split("\n")
    .find((line) => line.endsWith(` ${ref}`) && isHash(line.slice(0, line.indexOf(" "))))
    ?.split(" ")[0]
}

/** Repositories whose refs are not plain files (reftable) answer only through git. */
async function askGit(repository: Repository): Promise<Info> {
  const one = async (args: [Command, ...string[]]) =>
    (await git(repository.worktree, args).catch(() => "")).trim() || undefined
  const branch = await one(["symbolic-ref", "--short", "-q", "HEAD"])
  const commit = await one(["rev-parse", "-q", "--verify", "HEAD"])
  return { type: "git", ...(branch ? { branch } : {}), ...(commit ? { commit } : {}) }
}

function isHash(text: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
}
