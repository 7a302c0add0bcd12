// The record of a session: agent, folder, model, status. Each message has a record of its own.
import { z } from "zod"
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import * as Grant from "#ability/permission/grant.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { about } from "#util/about.ts"
import { errorText } from "#util/error.ts"
import { createId } from "#util/id.ts"
import {
  Busy,
  Failure,
  Info,
  Invalid,
  isAlive,
  isOwn,
  NotFound,
  ownOwner,
  type Status,
} from "./session-info.ts"

export { addChanged, addUsage, Busy, Info, Invalid, NotFound, Status, Totals } from "./session-info.ts"

const Payload = z.object({ sessionId: z.string(), session: Info })
const OnlyId = z.object({ sessionId: z.string() })
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

/** `create` for an agent that `chooseAgent` has just returned, so that the agent files are not read again. */
export async function createFor(agent: AgentDefinition, options: Omit<Options, "directory">): Promise<Info> {
  const now = Date.now()
  const session = Info.parse({
    ...options,
    id: createId("sess"),
    agent: agent.id,
    projectId: Instance.project.id,
    directory: Instance.directory,
    time: { created: now, updated: now },
  })
  await write(session)
  Bus.publish(Created, { sessionId: session.id, session })
  return session
}

/** A session of any project. Works outside an instance too. */
export async function get(sessionId: string): Promise<Info> {
  const near = Instance.isProvided && (await readKey(["session", Instance.project.id, sessionId]))
  if (near) return near
  for (const projectId of await otherProjects()) {
    const found = await readKey(["session", projectId, sessionId])
    if (found) return found
  }
  throw new NotFound(sessionId)
}

/** The sessions of the current project, the last used first. `everywhere`: of all projects; this needs no instance.
 * `tasks`: also sessions of tasks. An unreadable session is reported and does not hide the others. */
export async function list(options: { tasks?: boolean; everywhere?: boolean } = {}): Promise<Info[]> {
  const projects = options.everywhere ? await Storage.list(["session"]) : [Instance.project.id]
  const found = await Promise.all(projects.map(listProject))
  const last = options.everywhere ? undefined : await lastUsed(Instance.project.id)
  return found
    .flat()
    .filter((session) => session !== undefined)
    .filter(({ taskOf }) => options.tasks || !taskOf)
    .sort(
      (a, b) =>
        Number(b.id === last) - Number(a.id === last) ||
        b.time.updated - a.time.updated ||
        (a.id < b.id ? 1 : -1),
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

/** Make a session busy for this process, or throw `Busy`. The lock decides who owns it, so the caller can continue before
 * the record is acknowledged; `kept` resolves then. `before` is the session before the claim. */
export async function claim(
  sessionId: string,
): Promise<{ session: Info; before: Pick<Info, "status" | "error" | "tip">; kept: Promise<unknown> }> {
  const found = await get(sessionId)
  return new Promise((resolve, reject) => {
    const kept = update(found, (draft) => {
      refuseBusy(draft)
      const { status = "idle", error, tip } = draft
      const before = { status: isWorking(status) ? ("interrupted" as const) : status, error, tip }
      delete draft.error
      delete draft.tip
      Object.assign(draft, { status: "busy", owner: ownOwner() })
      resolve({ session: Info.parse(draft), before, kept })
    }).then(() => setLastUsed(found))
    kept.catch(reject)
  })
}

/** Remove a session and its messages. A missing session is an error, so that a typo is noticed. */
export async function remove(sessionId: string): Promise<void> {
  const session = await get(sessionId)
  refuseBusy(session)
  await Grant.removeOfSession(session)
  await MessageStore.remove(sessionId)
  await Storage.remove(["session", session.projectId, sessionId])
  await Storage.discard(["session", session.projectId, sessionId])
  Bus.publish(Removed, { sessionId })
}

/** Store a complete session record, for forks and imports. */
export async function write(session: Info): Promise<void> {
  const { id: sessionId, projectId, taskOf } = session
  await Promise.all([
    Storage.write(["session", projectId, sessionId], session),
    // In the same batch, and without a check: a new session is never the last used one already.
    ...(taskOf ? [] : [Storage.write(lastUsedKey(projectId), { sessionId })]),
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
  const isHere = owner.pid === process.pid
  throw new Busy(id, isHere ? `in the instance of ${owner.directory}` : `in process ${owner.pid}`)
}

async function listProject(projectId: string): Promise<(Info | undefined)[]> {
  const kept = await Storage.list(["session", projectId])
  const lost = Storage.quarantined(["session", projectId]).flatMap(({ key }) => key[2] ?? [])
  const names = new Set([...kept, ...lost])
  return Promise.all([...names].map((name) => readKey(["session", projectId, name]).catch(warn)))
}

/** An unreadable record is rebuilt from its messages; throws if there are none. */
async function readKey(key: string[]): Promise<Info | undefined> {
  try {
    return settled(parse(key, await Storage.read(key)))
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
function settled(session: Info): Info {
  if (!isWorking(session.status) || isAlive(session.owner)) return session
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

/** Notes which session of a project was used last, in a record of its own: the clock may go back between two sessions,
 * and `--continue` would then take the wrong one. Sessions that do a task for another one do not count. */
async function setLastUsed({ id: sessionId, projectId, taskOf }: Info): Promise<void> {
  if (taskOf || (await lastUsed(projectId)) === sessionId) return
  await Storage.write(lastUsedKey(projectId), { sessionId })
}

async function lastUsed(projectId: string): Promise<string | undefined> {
  try {
    return (await Storage.read<{ sessionId?: string }>(lastUsedKey(projectId))).sessionId
  } catch (error) {
    if (error instanceof Storage.NotFound || error instanceof Storage.Corrupt) return undefined
    throw error
  }
}

function lastUsedKey(projectId: string): Storage.Key {
  return ["last-session", projectId]
}
