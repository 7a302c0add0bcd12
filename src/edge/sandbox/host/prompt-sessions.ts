// The sessions that a prompt inside a sandbox may touch: its own, and those of the tasks that it creates. Decides what of a
// session record the guest may change.
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { ownOwner } from "#engine/record/session-info.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { Refused } from "./refused.ts"

type Info = SessionRecord.Info

const mostTasks = 200
/** What a turn changes in the record of its session. The rest stays as it is, whatever the guest sends. */
const changing: readonly (keyof Info)[] = [
  ...(["title", "status", "error", "tip", "usage", "changed"] as const),
  ...(["offered", "toolServers", "fallbackModel"] as const),
]

export type PromptSessions = ReturnType<typeof createPromptSessions>

/** `agent` and `model` are those that the prompt named. */
export function createPromptSessions(
  root: Info,
  { agent, isSettled }: { agent: string | undefined; isSettled(model: string): boolean },
) {
  const all = new Map<string, Info>([[root.id, root]])

  /** Throws for a session of somebody else. */
  function get(sessionId: unknown): Info {
    const found = typeof sessionId === "string" ? all.get(sessionId) : undefined
    if (!found) throw new Refused("other sessions")
    return found
  }

  /** The record that is stored if the guest wants this one. `before` is the present one. */
  function accept(sessionId: string, value: unknown, before: unknown): Info {
    const wanted = parse(value)
    if (before === undefined) return create(sessionId, wanted)
    const current = parse(before)
    const known = get(sessionId)
    if (isWorking(wanted) && !isWorking(current)) SessionRecord.refuseBusy(current)
    const next: Info = { ...current, time: { ...current.time, updated: Date.now() } }
    for (const name of changing)
      if (wanted[name] === undefined) Reflect.deleteProperty(next, name)
      else Object.assign(next, { [name]: wanted[name] })
    // Skipped prompts are the person's words: the guest can only say that one was sent again.
    const left = current.skipped?.filter(({ id }) => wanted.skipped?.some((one) => one.id === id))
    if (left?.length) next.skipped = left
    else delete next.skipped
    if (agent !== undefined && wanted.agent === agent) next.agent = agent
    if (wanted.model && (wanted.model === current.model || isSettled(wanted.model))) next.model = wanted.model
    if (isWorking(next)) next.owner = ownOwner()
    else delete next.owner
    all.set(known.id, next)
    return next
  }

  /** A task begins: a session of its own, with no more rights than the one that gives it. */
  function create(sessionId: string, wanted: Info): Info {
    const giver = get(wanted.taskOf?.sessionId)
    const { agent, model, title, taskOf } = wanted
    if (wanted.id !== sessionId || all.size > mostTasks) throw new Refused("more sessions")
    // An agent that does not exist throws.
    AgentRegistry.get(agent)
    const now = Date.now()
    const session = SessionRecord.Info.parse({
      ...{ id: sessionId, title, agent, taskOf },
      ...(model ? { model } : {}),
      ...{ projectId: root.projectId, directory: root.directory, mode: giver.mode },
      time: { created: now, updated: now },
    })
    all.set(sessionId, session)
    return session
  }

  return Object.freeze({
    root,
    get,
    has: (id: unknown) => typeof id === "string" && all.has(id),
    accept,
    ids: () => [...all.keys()],
  })
}

function parse(value: unknown): Info {
  const parsed = SessionRecord.Info.safeParse(value)
  if (!parsed.success) throw new Refused("a session record of this shape")
  return parsed.data
}

function isWorking({ status }: Info): boolean {
  return status === "busy" || status === "waiting"
}
