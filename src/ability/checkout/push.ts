// Pushes the work of a session's checkout as a branch, or writes it as a patch. The commit is made in a
// repository of our own that only borrows the objects of the checkout: nothing that the agent configured there runs.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NamedError } from "#util/error.ts"
import { current, read, refresh } from "./checkout.ts"
import { headOf } from "./mirror.ts"
import { gitText, runGit } from "./run-git.ts"

class NothingToPush extends NamedError {
  constructor(sessionId: string) {
    super("Project.NothingToPushConflict", `Session ${sessionId} has changed nothing.`, { sessionId })
  }
}

class InvalidBranch extends NamedError {
  constructor(branch: string, reason: string) {
    super("Project.InvalidBranch", `The branch ${JSON.stringify(branch)} is not pushed to: ${reason}.`, {
      branch,
    })
  }
}

const pushWithin = 300_000

/** Pushes the files of this instance's checkout as a commit, behind those that the session made itself. It is never forced. */
export async function pushBranch(options: {
  branch: string
  /** True: the default branch may be pushed to. */
  isDefaultAllowed: boolean
  message: string
  author: { name: string; email: string } | undefined
}): Promise<{ branch: string; commit: string }> {
  const { branch, message } = options
  return withTree(async ({ address, sessionId, git, tree, head, base }) => {
    await git(["check-ref-format", "--branch", branch]).catch(() => {
      throw new InvalidBranch(branch, "git does not allow this name")
    })
    if (branch === (await headOf(address)).branch && !options.isDefaultAllowed)
      throw new InvalidBranch(branch, "it is the default branch; --default-branch allows it")
    const isSame = tree === (await git(["rev-parse", `${head}^{tree}`]))
    if (isSame && head === base) throw new NothingToPush(sessionId)
    const commit = isSame
      ? head
      : await git(
          ["commit-tree", tree, "-p", head, "-m", message],
          identity(options.author ?? (await ownIdentity())),
        )
    const ref = `${commit}:refs/heads/${branch}`
    await git(["push", "--quiet", "--no-verify", "--", address, ref], {}, true)
    return { branch, commit }
  })
}

/** All changes since the commit at which the session began, in the form of `git diff`. */
export function makePatch(): Promise<string> {
  return withTree(async ({ sessionId, tree, base, raw }) => {
    const patch = await raw(["diff", "--binary", "--full-index", "--no-renames", base, tree])
    if (!patch.length) throw new NothingToPush(sessionId)
    return patch.toString()
  })
}

type Made = {
  address: string
  sessionId: string
  tree: string
  head: string
  base: string
  git(args: string[], variables?: Record<string, string>, isRemote?: boolean): Promise<string>
  raw(args: string[]): Promise<Buffer>
}

async function withTree<T>(work: (made: Made) => Promise<T>): Promise<T> {
  await refresh()
  const { address, owner, folder } = current()!
  const { commit: base } = (await read(owner!))!
  const own = await mkdtemp(join(tmpdir(), "vitamin-push-"))
  try {
    const format = await gitText(["rev-parse", "--show-object-format"], { cwd: folder })
    await runGit(["init", "--quiet", "--bare", "--template=", `--object-format=${format}`, own], { cwd: own })
    const variables = {
      GIT_DIR: own,
      GIT_WORK_TREE: folder,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(folder, ".git", "objects"),
    }
    const git: Made["git"] = (args, more = {}, isRemote = false) =>
      gitText(args, { cwd: folder, variables: { ...variables, ...more }, isRemote, timeout: pushWithin })
    const raw: Made["raw"] = (args) => runGit(args, { cwd: folder, variables })
    const head = await gitText(["rev-parse", "HEAD"], { cwd: folder })
    await git(["read-tree", head])
    await git(["add", "--all", "--", "."])
    const tree = await git(["write-tree"])
    return await work({ address, sessionId: owner!, git, raw, tree, head, base })
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

/** As git on this machine knows the person. */
async function ownIdentity(): Promise<{ name: string; email: string }> {
  const ask = (key: string) =>
    gitText(["config", "--global", key], { cwd: "/", isRemote: true }).catch(() => "")
  return {
    name: (await ask("user.name")) || "vitamin",
    email: (await ask("user.email")) || "vitamin@localhost",
  }
}

function identity({ name, email }: { name: string; email: string }): Record<string, string> {
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  }
}
