// The tool calls of a session, and the tasks that other agents do for them. A call may be reported as started before its
// message comes.
import type { Session, StreamEvent, ToolCall, ToolResultMessage } from "#client/client.ts"
import { type CallEntry, createCall } from "./call-entry.ts"
import type { Entry } from "./entries.ts"
import type { Folded } from "./fold.ts"
import { createRunningShell } from "./person-entry.ts"

type Result = ToolResultMessage["data"]
type Place = { sessionId: string; callId: string }
type Options = { add(entry: Entry): void; fold(folded: Folded): void }

export function createCalls({ add, fold }: Options) {
  const running = new Map<string, CallEntry>()
  const early = new Map<string, number>()
  /** Calls that were shown as stopped before their results came. */
  const stopped = new Set<string>()
  /** By the session that does the task: the call that it is for. */
  const tasks = new Map<string, Place>()
  /** A command that the person runs with `!`. */
  let shell: ReturnType<typeof createRunningShell> | undefined
  const keyOf = (sessionId: string, callId: string) => `${sessionId} ${callId}`

  function begin(sessionId: string, call: ToolCall): void {
    const key = keyOf(sessionId, call.id)
    const entry = createCall(call, fold)
    const started = early.get(key)
    if (started !== undefined) entry.start(started)
    early.delete(key)
    running.set(key, entry)
    add(entry)
  }

  function start({ sessionId, callId }: Place): void {
    const key = keyOf(sessionId, callId)
    const entry = running.get(key)
    if (entry) entry.start(Date.now())
    else early.set(key, Date.now())
  }

  /** Whether the call is known. */
  function finish(sessionId: string, result: Result): boolean {
    const key = keyOf(sessionId, result.requestId)
    const entry = running.get(key)
    entry?.finish(result)
    running.delete(key)
    return entry !== undefined || stopped.has(key)
  }

  /** A result whose call is not shown: it was made before what was loaded. */
  function addResult(result: Result): void {
    const entry = createCall(undefined, fold)
    entry.finish(result)
    add(entry)
  }

  function beginTask({ id, agent, taskOf }: Session): void {
    if (!taskOf) return
    tasks.set(id, taskOf)
    if (!tasks.has(taskOf.sessionId)) lineOf(id)?.beginTask(agent)
  }

  /** The call whose line shows a task, or a task of it. */
  function lineOf(sessionId: string): CallEntry | undefined {
    const place = tasks.get(sessionId)
    return place && (lineOf(place.sessionId) ?? running.get(keyOf(place.sessionId, place.callId)))
  }

  function report({ sessionId, callId, text }: Place & { text: string }): void {
    const isShell = callId.startsWith("shell_")
    if (isShell && !shell) {
      shell = createRunningShell()
      add(shell)
    }
    if (isShell) shell?.report(text)
    else running.get(keyOf(sessionId, callId))?.report(text)
  }

  /** The command of the person has ended, or its message takes the place. */
  function endShell(): void {
    shell?.end()
    shell = undefined
  }

  function apply(event: StreamEvent): void {
    if (event.type === "tool.started") start(event.payload)
    if (event.type === "tool.progress") report(event.payload)
    if (event.type === "session.created") beginTask(event.payload.session)
    if (event.type === "session.updated" && !/^(busy|waiting)$/.test(event.payload.session.status)) endShell()
  }

  /** Nothing more comes. */
  function endAll(): void {
    endShell()
    for (const [key, entry] of running) {
      stopped.add(key)
      entry.finish({
        requestId: "",
        toolName: "",
        status: "interrupted",
        output: "stopped",
        duration: 0,
        timestamp: 0,
      })
    }
    running.clear()
    early.clear()
  }

  return Object.freeze({
    apply,
    begin,
    finish,
    addResult,
    beginTask,
    endAll,
    endShell,
    isTask: (sessionId: string) => tasks.has(sessionId),
    addTaskCall: (sessionId: string, call: ToolCall) => lineOf(sessionId)?.addTaskCall(call),
  })
}
