// The entry file of this folder. A project may be a git repository: each session works in a checkout of its own, on any
// machine. What it changed is kept after each call, so that another machine makes the same files of it.
import { existsSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { z } from "zod"
import { applyState, keepBytes, readBytes, readState, WholeState } from "#ability/snapshot/whole-state.ts"
import { Instance } from "#kernel/instance.ts"
import * as Objects from "#kernel/objects/objects.ts"
import * as Space from "#kernel/space.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { createId } from "#util/id.ts"
import { idOf, parsePlace } from "./address.ts"
import { applyGitState, GitState, packOf, readGitState } from "./git-state.ts"
import * as Mark from "./mark.ts"
import { headOf, mirrorWith, workFolder } from "./mirror.ts"
import * as Project from "./project.ts"
import { runGit } from "./run-git.ts"

export { isAddress } from "./address.ts"
export * as Project from "./project.ts"

/** The checkout of a session: where it began, and what was kept last. */
const Kept = z.object({
  commit: z.string().regex(/^[0-9a-f]{40,64}$/),
  branch: z.string(),
  state: z
    .object({
      id: z.string(),
      body: z.string().describe("the name of the bytes of a `Body`"),
      pack: z.string().optional(),
    })
    .optional(),
})
export type Kept = z.infer<typeof Kept>

const Body = z.object({ git: GitState, worktree: WholeState, also: z.array(z.string()) })

const maxAlso = 1_000
/** Checkouts that are being made, so that two requests share one. */
const opening = new Map<string, Promise<string>>()

/** The folder on this machine for the name of a checkout: `ADDRESS#SESSION`, or the address for what belongs to no session. It is
 * made if it is missing; `refresh` then brings it up to date. */
export async function open(place: string, named?: string): Promise<string> {
  const { address, sessionId = named } = parsePlace(place)
  const project = await Project.get(address)
  const owner = sessionId === undefined ? undefined : await rootOf(project.id, sessionId)
  const folder = join(workFolder(project.id), owner ?? "home", project.name)
  const known = opening.get(folder)
  if (known) return known
  const made = make(project, owner, folder).finally(() => opening.delete(folder))
  opening.set(folder, made)
  return made
}

async function make(project: Project.Info, owner: string | undefined, folder: string): Promise<string> {
  if (isMade(folder)) return realpathSync(folder)
  const begin = owner ? await beginningOf(project, owner) : await headOf(project.address)
  const aside = join(dirname(folder), createId("tmp"))
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 })
  try {
    await clone(project, aside, begin)
    // Another process of this machine may have made it meanwhile, and work in it.
    if (isMade(folder)) return realpathSync(folder)
    rmSync(folder, { recursive: true, force: true })
    renameSync(aside, folder)
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
  const real = realpathSync(folder)
  const place = owner ? `${project.address}#${owner}` : project.address
  await Space.assign(real, { id: project.id, place })
  // The files as they are in the repository: what the agent changes later is not trusted with them.
  if (project.trusted) await Trust.grant(real)
  Mark.write(folder, "")
  return real
}

function isMade(folder: string): boolean {
  return existsSync(join(folder, ".git")) && Mark.read(folder) !== undefined
}

async function clone(
  project: Project.Info,
  folder: string,
  { commit, branch }: Pick<Kept, "commit" | "branch">,
): Promise<void> {
  const mirror = await mirrorWith(project, commit)
  const from = ["--no-hardlinks", "--no-checkout", "--template=", "--", mirror, folder]
  await runGit(["clone", "--quiet", ...from], { cwd: dirname(folder) })
  await runGit(["remote", "set-url", "origin", project.address], { cwd: folder })
  await runGit(["checkout", "--quiet", "--force", "-B", branch, commit], { cwd: folder })
}

/** The commit at which a session began. The first machine decides. */
async function beginningOf(project: Project.Info, owner: string): Promise<Kept> {
  const known = await read(owner)
  if (known) return known
  const head = await headOf(project.address)
  const begin = (draft: Kept) => {
    if (draft.commit === undefined) Object.assign(draft, head)
  }
  return Storage.update<Kept>(keyOf(owner), begin, { initial: {} })
}

/** Brings the checkout of this instance to what was kept last, if another machine kept it. Call it when the instance starts,
 * and before work on the session, which no other machine may do meanwhile. */
export async function refresh(): Promise<void> {
  const { owner, folder } = current() ?? {}
  if (!owner || !folder) return
  const kept = await read(owner)
  if (!kept?.state || Mark.read(folder) === kept.state.id) return
  const body = Body.parse(JSON.parse((await readBytes(kept.state.body)).toString()))
  const pack = kept.state.pack ? await readBytes(kept.state.pack) : undefined
  for (const name of readdirSync(folder))
    if (name !== ".git") rmSync(join(folder, name), { recursive: true, force: true })
  await applyGitState(folder, body.git, pack)
  await applyState(body.worktree)
  Mark.write(folder, kept.state.id)
}

/** Keeps the state of this instance's checkout, if a call has changed it. `paths`: what a call wrote, also if git ignores
 * it. */
export async function keep(paths: readonly string[]): Promise<void> {
  const { owner, folder } = current() ?? {}
  if (!owner || !folder) return
  const kept = await read(owner)
  if (!kept) return
  const last = kept.state
  const before = last && Body.safeParse(JSON.parse((await readBytes(last.body)).toString())).data
  const also = [...new Set([...(before?.also ?? []), ...paths])].slice(-maxAlso)
  const git = await readGitState(folder)
  const worktree = await readState(also)
  const bytes = Buffer.from(JSON.stringify({ git, worktree, also }))
  const pack = await packOf(folder, git, kept.commit)
  const [body, packName] = await keepBytes(owner, pack ? [bytes, pack] : [bytes], worktree)
  if (last?.body === body) return
  const state = { id: createId("state"), body: body!, ...(packName ? { pack: packName } : {}) }
  await Storage.update<Kept>(keyOf(owner), (draft) => Object.assign(draft, { state }))
  Mark.write(folder, state.id)
}

/** A fork begins with the files of its source, which has this place. */
export async function copy(place: string, to: string): Promise<void> {
  const { sessionId: from } = parsePlace(place)
  const kept = from && (await read(from))
  if (!kept) return
  await (await Objects.shared())?.copy(from, to)
  await Storage.write(keyOf(to), kept)
}

/** Removes the checkout of a session, here and its record. */
export async function remove(sessionId: string, place: string): Promise<void> {
  const { address } = parsePlace(place)
  const folder = join(workFolder(idOf(address)), sessionId)
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (existsSync(join(folder, name, ".git"))) {
      await Trust.remove(join(folder, name))
      Mark.remove(join(folder, name))
    }
  rmSync(folder, { recursive: true, force: true })
  await Storage.remove(keyOf(sessionId))
}

/** The checkout of this instance; undefined in a plain folder. */
export function current(): { address: string; owner: string | undefined; folder: string } | undefined {
  const { place, worktree } = Instance.project
  if (place === undefined) return undefined
  const { address, sessionId } = parsePlace(place)
  return { address, owner: sessionId, folder: worktree }
}

export async function read(sessionId: string): Promise<Kept | undefined> {
  try {
    return Kept.parse(await Storage.read(keyOf(sessionId)))
  } catch (error) {
    if (error instanceof Storage.NotFound) return undefined
    throw error
  }
}

/** Sessions of tasks work in the checkout of the session that started them. */
async function rootOf(projectId: string, sessionId: string): Promise<string | undefined> {
  for (let id = sessionId, depth = 0; depth < 100; depth++) {
    const session = await Storage.read<{ taskOf?: { sessionId?: string } }>(["session", projectId, id]).catch(
      () => undefined,
    )
    // The route says that there is no such session.
    if (!session) return undefined
    if (!session.taskOf?.sessionId) return id
    id = session.taskOf.sessionId
  }
  return undefined
}

function keyOf(sessionId: string): string[] {
  return ["checkout", sessionId]
}
