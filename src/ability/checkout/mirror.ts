// The local copy of a project's repository, from which sessions are checked out: the second one needs only what is new.
import { existsSync, renameSync, rmSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import * as Global from "#kernel/process/global.ts"
import { errorText, NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { gitText, runGit } from "./run-git.ts"

/** Milliseconds that an address has to answer, and to send everything. */
const answerWithin = 15_000
const sendWithin = 600_000

class Unreachable extends NamedError {
  constructor(address: string, reason: string) {
    super("Project.Unreachable", `The project ${address} cannot be reached: ${reason}`, { address })
  }
}

/** The default branch of an address, and its commit. Throws `Project.Unreachable` if it does not answer in time. */
export async function headOf(address: string): Promise<{ branch: string; commit: string }> {
  const listed = await gitText(["ls-remote", "--symref", "--", address, "HEAD"], {
    cwd: "/",
    timeout: answerWithin,
    isRemote: true,
  }).catch((error) => {
    throw new Unreachable(address, errorText(error))
  })
  const branch = /^ref: refs\/heads\/(\S+)\s+HEAD$/m.exec(listed)?.[1]
  const commit = /^([0-9a-f]{40,64})\s+HEAD$/m.exec(listed)?.[1]
  if (!commit) throw new Unreachable(address, "it has no commit yet")
  return { branch: branch ?? "main", commit }
}

/** The folder of all checkouts of a project on this machine. It is beside our own folders, which no tool may write and which a
 * sandbox hides. */
export function workFolder(projectId: string): string {
  return join(`${Global.data()}-checkout`, projectId)
}

/** The folder with the mirror of a project. No tool may write there. */
export function ownFolder(projectId: string): string {
  return join(Global.data(), "checkout", projectId)
}

/** The mirror, with the given commit in it. The address is asked only if the commit is missing. */
export async function mirrorWith(project: { id: string; address: string }, commit: string): Promise<string> {
  const folder = join(ownFolder(project.id), "mirror.git")
  if (!existsSync(folder)) await clone(project, folder)
  if (await hasCommit(folder, commit)) return folder
  const fetch = ["fetch", "--quiet", "--force", "--no-write-fetch-head", "--", project.address]
  const branches = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]
  const reach = { cwd: folder, timeout: sendWithin, isRemote: true }
  await runGit([...fetch, ...branches], reach).catch(unreachable(project.address))
  // Many git servers send a commit by its id, also if no branch contains it any more.
  if (!(await hasCommit(folder, commit)))
    await runGit([...fetch, commit], reach).catch(unreachable(project.address))
  return folder
}

async function clone({ address, id }: { address: string; id: string }, folder: string): Promise<void> {
  await headOf(address)
  const aside = join(ownFolder(id), createId("tmp"))
  await mkdir(ownFolder(id), { recursive: true, mode: 0o700 })
  try {
    const args = ["clone", "--quiet", "--bare", "--template=", "--", address, aside]
    await runGit(args, { cwd: ownFolder(id), timeout: sendWithin, isRemote: true }).catch(
      unreachable(address),
    )
    if (!existsSync(folder)) renameSync(aside, folder)
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

function unreachable(address: string): (error: unknown) => never {
  return (error) => {
    throw new Unreachable(address, errorText(error))
  }
}

async function hasCommit(folder: string, commit: string): Promise<boolean> {
  return runGit(["cat-file", "-e", `${commit}^{commit}`], { cwd: folder }).then(
    () => true,
    () => false,
  )
}
