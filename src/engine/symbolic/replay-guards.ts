// What guards did in a stored session, and what other guards would have done. The session stays as it was recorded: an action
// that other guards would have blocked has still happened.
import type * as Message from "#knowledge/message/message.ts"
import { createProgram, type Problem } from "./create-program.ts"
import type { Guard } from "./guard.ts"
import type { GuardEvent } from "./guard-event.ts"
import { type Blocking, blockingOf } from "./guard-record.ts"
import { eventsOf } from "./read-events.ts"

/** An event of a session. `blocked`: by guards of then. `simulated`: by other guards. */
export type Replayed = {
  time: number
  event: string
  isAction: boolean
  blocked: readonly Blocking[]
  simulated?: readonly Blocking[]
}

export function replayGuards(messages: Iterable<Message.Info>): Replayed[] {
  return eventsOf(messages).map(({ event, message, blocked = [] }) => ({
    time: message.time,
    event: nameOf(event),
    isAction: isAction(event),
    blocked,
  }))
}

export function simulateGuards(
  messages: readonly Message.Info[],
  guards: readonly Guard[],
): { events: Replayed[]; problems: Problem[] } {
  const problems: Problem[] = []
  const program = createProgram(guards, (problem) => problems.push(problem))
  const told = eventsOf(messages)
  const events = replayGuards(messages).map((replayed, i): Replayed => {
    const { event, blocked } = told[i]!
    const found = isAction(event) ? program.offer(event) : []
    if (!isAction(event) || (found.length && !blocked)) program.tell(event)
    return { ...replayed, simulated: found.map(blockingOf) }
  })
  return { events, problems }
}

function isAction({ type, detail }: GuardEvent): boolean {
  return type === "answer" || type === "mode" || detail.tool === type
}

function nameOf({ type, detail: { target } }: GuardEvent): string {
  return target === undefined ? type : `${type}:${target}`
}
