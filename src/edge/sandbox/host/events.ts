// The events that a guest may publish: those of a turn, about its own sessions, in their form. A flood ends it. The parent
// itself publishes that a message was stored.
import * as Permission from "#ability/permission/permission.ts"
import * as TodoList from "#ability/plan/todo-list.ts"
import * as Tool from "#ability/tool/tool.ts"
import { Event } from "#edge/sandbox/wire/doors.ts"
import { BrokenFrame } from "#edge/sandbox/wire/frames.ts"
import * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import type { PromptSessions } from "./prompt-sessions.ts"

/** More events than a model and its tools cause, in two seconds. */
const most = 10_000
const span = 2_000

const published = new Map<string, Bus.Definition>(
  [
    ...[
      MessageStore.Delta,
      Session.Created,
      Session.Updated,
      Session.Idle,
      Session.Failed,
      Session.Notice,
      Session.Retry,
    ],
    ...[Session.Blocked, Session.Compacted, Session.AgentChosen, Session.Skipped],
    ...[Tool.Started, Tool.Progress, TodoList.Updated, Permission.Denied],
  ].map((definition) => [definition.type, definition as Bus.Definition]),
)
/** Declared by folders that this one does not import: an event of theirs exists only if they are loaded. */
const others = new Set(["task.rejected", "story.finished", "request.started", "request.ended"])

export function createEventDoor(sessions: PromptSessions): (args: unknown) => void {
  let since = performance.now()
  let count = 0

  /** Throws what ends the guest. */
  return (args) => {
    const now = performance.now()
    if (now - since > span) {
      since = now
      count = 0
    }
    if (++count > most) throw new BrokenFrame("a flood of events")
    const { type, payload } = parse(args)
    const definition = published.get(type) ?? (others.has(type) ? find(type) : undefined)
    if (!definition) return
    const { sessionId, session } = payload as Record<string, { id?: unknown }>
    const ids = [sessionId, session?.id].filter((id) => id !== undefined)
    if (!ids.length || !ids.every((id) => sessions.has(id)))
      throw new BrokenFrame(`an event about another session (${type})`)
    Bus.publish(definition, payload)
  }
}

function parse(args: unknown): { type: string; payload: object } {
  const { data } = Event.safeParse(args)
  if (!data || typeof data.payload !== "object" || data.payload === null)
    throw new BrokenFrame("an event of an unknown form")
  return { type: data.type, payload: data.payload }
}

function find(type: string): Bus.Definition | undefined {
  return Bus.list().find((definition) => definition.type === type)
}
