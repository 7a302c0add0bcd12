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
    if (!tasks.has(taskOf.sessionId)) lineOf(id)?.entry.tasks.begin(id, { agent, step: taskOf.step })
  }

  /** The call that shows a task, and the task of this call that it belongs to: tasks have tasks of their own. */
  function lineOf(sessionId: string): { entry: CallEntry; id: string } | undefined {
    const place = tasks.get(sessionId)
    if (!place) return undefined
    const entry = running.get(keyOf(place.sessionId, place.callId))
    return lineOf(place.sessionId) ?? (entry && { entry, id: sessionId })
  }

  /** Shows an event below the running call that it is about. False if there is none. */
  function tell(event: StreamEvent, text: string): boolean {
    if (event.type === "session.retry") {
      const line = lineOf(event.payload.sessionId)
      line?.entry.tasks.tell(line.id, text)
      return line !== undefined
    }
    if (event.type !== "session.notice" || event.payload.callId === undefined) return false
    const entry = running.get(keyOf(event.payload.sessionId, event.payload.callId))
    entry?.tasks.note(text)
    return entry !== undefined
  }

  /** False if the session is none of a task. One that works for another task is not shown. */
  function endTask(sessionId: string): boolean {
    const line = lineOf(sessionId)
    if (line?.id === sessionId) line.entry.tasks.end(sessionId)
    return tasks.has(sessionId)
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
    tell,
    isTask: (sessionId: string) => tasks.has(sessionId),
    addTaskCall(sessionId: string, call: ToolCall): void {
      const line = lineOf(sessionId)
      line?.entry.addTaskCall(line.id, call)
    },
    endTask,
  })
}
