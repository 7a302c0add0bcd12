// The record of a session: agent, folder, model, status. Each message has a record of its own.
import { z } from "zod"
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import * as Grant from "#ability/permission/grant.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import type { Access } from "#kernel/session-access.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Worker from "#kernel/worker/worker.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { about } from "#util/about.ts"
import { errorText } from "#util/error.ts"
import { createId } from "#util/id.ts"
import * as LastUsed from "./last-used.ts"
import { checkAccess, isVisible, ownPerson, visibleOf } from "./session-access.ts"
import {
  Busy,
  Failure,
  Info,
  Invalid,
  isAlive,
  isHere,
  isOwn,
  NotFound,
  ownOwner,
  type Status,
} from "./session-info.ts"

export { addChanged, addUsage, Busy, Info, Invalid, NotFound, Status, Totals } from "./session-info.ts"

const Payload = z.object({ sessionId: z.string(), session: Info })
const OnlyId = z.object({ sessionId: z.string() })
/** Records that are read at the same time. */
const readTogether = 100
export const Created = Bus.define("session.created", Payload, { when: "A session was created." })
export const Updated = Bus.define("session.updated", Payload, {
  when: "The record of a session changed: its title, model, mode, branch, status, usage.",
})
export const Removed = Bus.define("session.removed", OnlyId, {
  when: "A session and its messages were removed.",
})
export const Idle = Bus.define("session.idle", OnlyId, {
  when: "A prompt ended with an answer. Another one may follow at once.",
})
export const Failed = Bus.define(
  "session.error",
  z.object({
    sessionId: z.string(),
    error: about("Why.", Failure),
    promptId: z.string().optional().describe("the prompt that failed, if it was a stored one"),
  }),
  { when: "A prompt ended with an error." },
)

export type Options = Partial<
  Pick<Info, "directory" | "agent" | "model" | "title" | "mode" | "parentId" | "taskOf" | "metadata">
>

/** Creates a session and stores it before the event is published. Default `directory`: that of the current instance. */
export async function create(options: Options = {}): Promise<Info> {
  const { directory = Instance.directory, ...rest } = options
  if (directory !== Instance.directory) return Instance.provide({ directory, fn: () => create(rest) })
  return createFor(await chooseAgent(rest.agent), rest)
}

/** `create` for an agent that `chooseAgent` has just returned, so that the agent files are not read again. `id`: default: a new
 * one. */
export async function createFor(
  agent: AgentDefinition,
  { id = createId("sess"), ...options }: Omit<Options, "directory"> & { id?: string },
): Promise<Info> {
  const now = Date.now()
  const session = Info.parse({
    ...options,
    ...ownPerson(options),
    id,
    agent: agent.id,
    projectId: Instance.project.id,
    directory: placeOf(id, options),
    time: { created: now, updated: now },
  })
  await write(session)
  Bus.publish(Created, { sessionId: session.id, session })
  return session
}

/** The folder of a new session. In a project that is a repository, each session has a checkout of its own, which the sessions
 * of its tasks share. */
export function placeOf(sessionId: string, { taskOf }: Pick<Info, "taskOf">): string {
  const { place } = Instance.project
  if (place === undefined || taskOf) return Instance.place
  return `${place.replace(/#.*/, "")}#${sessionId}`
}

/** A session of any project. Works outside an instance too. One that is hidden from the person counts as missing. */
export async function get(sessionId: string): Promise<Info> {
  const found = await find(sessionId)
  if (found && (await isVisible(found, find))) return found
  throw new NotFound(sessionId)
}

/** Like `get`; throws `Session.Denied` if the person may see the session but not do more with it. */
export async function getFor(sessionId: string, needed: Access): Promise<Info> {
  const session = await get(sessionId)
  await checkAccess(session, needed, find)
  return session
}

/** A session of any project, whoever may see it. */
export async function find(sessionId: string): Promise<Info | undefined> {
  const near = Instance.isProvided && (await readKey(["session", Instance.project.id, sessionId]))
  if (near) return near
  for (const projectId of await otherProjects()) {
    const found = await readKey(["session", projectId, sessionId])
    if (found) return found
  }
  return undefined
}

/** The sessions of the current project, the last used first. `everywhere`: of all projects; this needs no instance.
 * `tasks`: also sessions of tasks. `limit`: so many, without reading the others. An unreadable session is reported and
 * does not hide the others. */
export async function list(
  options: { tasks?: boolean; everywhere?: boolean; limit?: number | undefined } = {},
): Promise<Info[]> {
  const found: Info[] = []
  const { limit } = options
  for await (const session of limit === undefined ? each(options) : eachNewest(options, limit))
    if (options.tasks || !session.taskOf) found.push(session)
  const last = options.everywhere ? undefined : await LastUsed.get(Instance.project.id)
  const sorted = found.sort(
    (a, b) =>
      Number(b.id === last) - Number(a.id === last) ||
      b.time.updated - a.time.updated ||
      (a.id < b.id ? 1 : -1),
  )
  return sorted.slice(0, limit)
}

/** At least `limit` sessions of each project that `list` would show, if there are so many: those that were changed last. */
async function* eachNewest(
  { everywhere = false, tasks = false }: { everywhere?: boolean; tasks?: boolean },
  limit: number,
): AsyncGenerator<Info> {
  for (const projectId of everywhere ? await Storage.list(["session"]) : [Instance.project.id]) {
    let shown = 0
    let names: string[] = []
    for (let at = 0, next = limit; shown < limit; at = next, next *= 4) {
      names = await Storage.newest(["session", projectId], next)
      const sessions = await readSessions(projectId, names.slice(at))
      shown += sessions.filter((session) => tasks || !session.taskOf).length
      yield* sessions
      if (names.length < next) break
    }
    const read = new Set(names)
    yield* await readSessions(
      projectId,
      (await lostIn(projectId)).filter((name) => !read.has(name)),
    )
  }
}

/** The sessions of `list` with those of tasks, in no order and not all at once: there may be many. */
export async function* each({ everywhere = false }: { everywhere?: boolean }): AsyncGenerator<Info> {
  const projects = everywhere ? await Storage.list(["session"]) : [Instance.project.id]
  for (const projectId of projects) yield* eachOf(projectId)
}

async function* eachOf(projectId: string): AsyncGenerator<Info> {
  const kept = await Storage.list(["session", projectId])
  const names = [...new Set([...kept, ...(await lostIn(projectId))])]
  for (let at = 0; at < names.length; at += readTogether)
    yield* await readSessions(projectId, names.slice(at, at + readTogether))
}

/** The sessions that do tasks for this one, the oldest first. */
export async function tasks(sessionId: string): Promise<Info[]> {
  const { projectId } = await get(sessionId)
  const found: Info[] = []
  for await (const session of eachOf(projectId))
    if (session.taskOf?.sessionId === sessionId) found.push(session)
  return found.sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Sessions whose record is quarantined: it can be made again of their messages. */
async function lostIn(projectId: string): Promise<string[]> {
  const all = await Storage.quarantined(["session", projectId])
  return [...new Set(all.flatMap(({ key }) => key[2] ?? []))]
}

/** Those that can be read, and that the person may see. */
async function readSessions(projectId: string, names: string[]): Promise<Info[]> {
  const read = (name: string) => readKey(["session", projectId, name]).catch(warn)
  return visibleOf(
    (await Promise.all(names.map(read))).filter((one) => one !== undefined),
    find,
  )
}

/** Change a session under the lock of all processes; stored first, then published. */
export async function update(session: Info, change: (draft: Info) => unknown): Promise<Info> {
  const { id: sessionId, projectId } = session
  try {
    const next = await Storage.update<Info>(["session", projectId, sessionId], (draft) => {
      change(draft)
      draft.time = { ...draft.time, updated: Date.now() }
    })
    return Bus.publish(Updated, { sessionId, session: next }).payload.session
  } catch (error) {
    throw error instanceof Storage.NotFound ? new NotFound(sessionId) : error
  }
}

export type Claimed = {
  session: Info
  before: Pick<Info, "status" | "error" | "tip">
  kept: Promise<unknown>
  lease: Worker.Lease | undefined
}

/** Make a session busy for this process, or throw `Busy`. The lock decides who owns it, so the caller can continue before
 * the record is acknowledged; `kept` resolves then. `before` is the session before the claim. On a database the lease
 * decides; the caller works in `Worker.run(lease)`, and releases it. */
export async function claim(sessionId: string): Promise<Claimed> {
  const found = await getFor(sessionId, "member")
  const lease = await takeLease(sessionId)
  try {
    return await Worker.run(lease, () => claimRecord(found, lease))
  } catch (error) {
    await Worker.release(lease)
    throw error
  }
}

/** The lease of a session on a database, or `Busy`. Release it with `Worker.release`. */
export function takeLease(sessionId: string): Promise<Worker.Lease | undefined> {
  return Worker.take(sessionId).catch((error) => {
    throw error instanceof Worker.Taken ? new Busy(sessionId, `on the worker ${error.worker}`) : error
  })
}

function claimRecord(found: Info, lease: Worker.Lease | undefined): Promise<Claimed> {
  return new Promise((resolve, reject) => {
    const kept = update(found, (draft) => {
      // Whoever has the lease takes over what a dead worker left; other instances of this process have it too.
      if (!lease || isHere(draft.owner)) refuseBusy(draft)
      const { status = "idle", error, tip } = draft
      const before = { status: isWorking(status) ? ("interrupted" as const) : status, error, tip }
      delete draft.error
      delete draft.tip
      Object.assign(draft, { status: "busy", owner: ownOwner() })
      resolve({ session: Info.parse(draft), before, kept, lease })
    }).then(() => LastUsed.set(found))
    kept.catch(reject)
  })
}

/** Remove a session and its messages. A missing session is an error, so that a typo is noticed. */
export async function remove(sessionId: string): Promise<void> {
  const session = await getFor(sessionId, "owner")
  refuseBusy(session)
  await Grant.removeOfSession(session)
  await MessageStore.remove(sessionId)
  await Storage.remove(["session", session.projectId, sessionId])
  await Storage.discard(["session", session.projectId, sessionId])
  Bus.publish(Removed, { sessionId })
}

/** Store a complete session record, for forks and imports. */
export async function write(session: Info): Promise<void> {
  // Both in the same batch.
  await Promise.all([
    Storage.write(["session", session.projectId, session.id], session),
    LastUsed.setNew(session),
  ])
}

/** The agent of the first name that is defined; else the configured or the default one. An unknown name throws
 * `Agent.NotFound`. */
export async function chooseAgent(...names: (string | undefined)[]): Promise<AgentDefinition> {
  const name = names.find(Boolean)
  if (name === undefined) return AgentRegistry.getDefault()
  await AgentRegistry.load()
  return AgentRegistry.get(name)
}

/** Throws `Busy` if another process or instance uses the session. Inside this instance, prompts queue. */
export function refuseBusy({ id, status, owner }: Info): void {
  if (!isWorking(status) || !owner || isOwn(owner) || !isAlive(owner)) return
  const elsewhere = owner.worker === undefined ? `in process ${owner.pid}` : `on the worker ${owner.worker}`
  throw new Busy(id, isHere(owner) ? `in the instance of ${owner.directory}` : elsewhere)
}

/** An unreadable record is rebuilt from its messages; throws if there are none. */
async function readKey(key: string[]): Promise<Info | undefined> {
  try {
    return await settled(parse(key, await Storage.read(key)))
  } catch (error) {
    if (error instanceof Storage.InvalidKey) return undefined
    const isMissing = error instanceof Storage.NotFound
    if (!isMissing && !(error instanceof Storage.Corrupt || error instanceof Invalid)) throw error
    const read = (value: unknown) => Info.safeParse(value).data
    const { rebuildRecord } = await import("./rebuild-record.ts")
    const rebuilt = await rebuildRecord(key, { read, isInPlace: error instanceof Invalid })
    if (!rebuilt && !isMissing) throw error
    return rebuilt && settled(parse(key, rebuilt))
  }
}

function parse(key: string[], value: unknown): Info {
  const parsed = Info.safeParse(value)
  if (parsed.success) return parsed.data
  throw new Invalid(key.at(-1)!, z.prettifyError(parsed.error).replaceAll("\n", " "))
}

/** A session whose process has died is not busy any more. */
async function settled(session: Info): Promise<Info> {
  if (!isWorking(session.status)) return session
  await Worker.alive()
  if (isAlive(session.owner)) return session
  const { owner: _, ...rest } = session
  return { ...rest, status: "interrupted" }
}

function isWorking(status: Status): boolean {
  return status === "busy" || status === "waiting"
}

async function otherProjects(): Promise<string[]> {
  const own = Instance.isProvided ? Instance.project.id : undefined
  return (await Storage.list(["session"])).filter((projectId) => projectId !== own)
}

function warn(error: unknown): undefined {
  Log.warn("a session cannot be read and was left out", { error: errorText(error) })
}
