// The guards of one session: offers its actions to the program, tells it what the messages say, and collects what the
// messages must keep so that the program can be told the same again.
import type * as Message from "#knowledge/message/message.ts"
import { type Blocked, createProgram, type Problem } from "./create-program.ts"
import type { Guard } from "./guard.ts"
import { actionOf, approvalOf, deedOf, type GuardEvent, type Offer, plainEvent } from "./guard-event.ts"
import { blockingOf, type Kept, type Offered, type TaskResult } from "./guard-record.ts"
import { matches } from "./pattern.ts"
import { createReader, eventsOf, type Told } from "./read-events.ts"

export type { Blocked } from "./create-program.ts"
export type SessionGuards = ReturnType<typeof createSessionGuards>

/** Of a task with more results, only the last ones are told to its parent. */
const maxTaskResults = 2_000

export function createSessionGuards(guards: readonly Guard[], onProblem: (problem: Problem) => void) {
  const program = createProgram(guards, onProblem)
  const reader = createReader(hear)
  let offered: Offered[] = []
  /** Results of tasks, by the call that started them. */
  const tasks = new Map<string, TaskResult[]>()
  /** Results since the last `takeResults`, for the session that gave this one its task. */
  let results: TaskResult[] = []
  let last: string | undefined
  return Object.freeze({
    list: guards,
    /** The message that was read last. */
    last: () => last,
    read,
    offerCall,
    approveCall,
    offerAnswer,
    offerMode: (to: string) => program.offer(plainEvent("mode", { target: to })),
    /** Before the first message of a task: what happened in the sessions above it. */
    inherit: (events: readonly GuardEvent[]) => events.forEach(program.tell),
    takeKept,
    takeResults,
    addTask: (callId: string, found: TaskResult[]) =>
      void tasks.set(callId, [...(tasks.get(callId) ?? []), ...found]),
  })

  /** Tells the program what a message says. */
  function read(message: Message.Info): void {
    last = message.id
    if (message.type === "tool_request") offered = []
    reader.read(message)
  }

  function hear({ event, blocked }: Told): void {
    if (blocked) return
    program.tell(event)
    results.push(...taskResults(event))
    if (results.length > maxTaskResults) results.shift()
  }

  /** Returns the guards that block a call. */
  function offerCall(step: Offer): Blocked[] {
    const deed = deedOf(step)
    const { id: call } = step.call
    const blocked = program.offer(actionOf(deed))
    const by = blocked.map(blockingOf)
    offered.push({ call, needs: deed.needs, ...(by.length ? { by } : {}) })
    reader.skip(call, blocked.length ? "blocked" : deed)
    return blocked
  }

  /** Offers a blocked call again, after a person said yes to it. */
  function approveCall(step: Offer): Blocked[] {
    program.tell(approvalOf(actionOf(deedOf(step))))
    offered = offered.filter(({ call }) => call !== step.call.id)
    const blocked = offerCall(step)
    offered.at(-1)!.approved = true
    return blocked
  }

  /** Returns the guards that hold back the final answer, which was read last. */
  function offerAnswer(): Blocked[] {
    const blocked = program.offer(plainEvent("answer"))
    if (!blocked.length) reader.skipAnswer()
    return blocked
  }

  /** What the next result must keep. */
  function takeKept(callId: string): Kept {
    const own = tasks.get(callId)
    tasks.delete(callId)
    const kept = { ...(offered.length ? { offered } : {}), ...(own?.length ? { tasks: own } : {}) }
    offered = []
    return kept
  }

  function takeResults(): TaskResult[] {
    const taken = results
    results = []
    return taken
  }
}

/** What the messages of a task say to the session that gave it. */
export function resultsIn(messages: Iterable<Message.Info>): TaskResult[] {
  const happened = eventsOf(messages).filter(({ blocked }) => !blocked)
  return happened.flatMap(({ event }) => taskResults(event)).slice(-maxTaskResults)
}

const isSecretShown = matches(["secret.read.done", "secret.show.done"])

/** What the messages of a session say to the tasks that it gives: which secrets were read, and what was used. */
export function inheritedFrom(messages: Iterable<Message.Info>): GuardEvent[] {
  return eventsOf(messages).flatMap(({ event, blocked }): GuardEvent[] => {
    if (blocked) return []
    if (event.type === "usage") return [event]
    if (!isSecretShown(event)) return []
    const keys = event.detail.keys.filter(({ name }) => name.startsWith("secret."))
    return [{ type: "secret.read.done", detail: { keys } }]
  })
}

function taskResults({ type, detail }: GuardEvent): TaskResult[] {
  const { tokens, cost, exitCode, needs = [] } = detail
  if (type === "usage") return [{ type, needs: [], tokens: tokens ?? 0, cost: cost ?? 0 }]
  if (!/\.(done|failed)$/.test(type)) return []
  return [{ type, needs, ...(exitCode === undefined ? {} : { exit: exitCode }) }]
}

/** Whether the approval of a person would end the block. */
export function canApprove(blocked: readonly Blocked[], step: Offer): boolean {
  const approval = approvalOf(actionOf(deedOf(step)))
  return blocked.every(({ waits }) => waits(approval))
}
