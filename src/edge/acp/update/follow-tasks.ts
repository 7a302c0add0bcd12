// Reports the work of subtasks in the `subtask` call that started them. A call of a subtask that needs a permission is
// also reported as a call of its own, so that the editor learns when it ends.
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import { createInOrder } from "#client/in-order.ts"
import { titleOf } from "#edge/acp/show/call-title.ts"
import type * as Session from "#engine/session/session.ts"
import type * as Message from "#knowledge/message/message.ts"
import { type CallReporter, createCallReporter } from "./report-calls.ts"

type Task = {
  /** The call of the followed session that started this task, or that started its parent tasks. */
  rootCall: string
  depth: number
  order: ReturnType<typeof createInOrder>
  /** Reports the calls that need a permission. */
  calls: CallReporter
  /** The line for each call, by its id. */
  lines: Map<string, string>
}

const maxLines = 12

export function createTaskFollower(options: {
  sessionId: string
  directory: string
  /** The call reporter of the followed session. */
  calls: CallReporter
  send(update: SessionUpdate): void
}) {
  const { sessionId, directory, calls, send } = options
  const tasks = new Map<string, Task>()
  /** The last lines of each root call. */
  const progress = new Map<string, string[]>()

  function begin({ id, taskOf }: Session.Info): void {
    if (!taskOf) return
    const parent = tasks.get(taskOf.sessionId)
    if (!parent && taskOf.sessionId !== sessionId) return
    const rootCall = parent?.rootCall ?? taskOf.callId
    if (!calls.isOpen(rootCall)) return
    tasks.set(id, {
      rootCall,
      depth: parent ? parent.depth + 1 : 0,
      order: createInOrder(),
      calls: createCallReporter({ directory, send }),
      lines: new Map(),
    })
  }

  function add(message: Message.Info): void {
    const task = tasks.get(message.sessionId)
    task?.order.add({
      id: message.id,
      parentId: message.parentId,
      isFirst: message.type === "text" && message.data.role === "user",
      show() {
        if (message.type === "tool_request") ask(task, message)
        if (message.type === "tool_result") finish(task, message)
      },
    })
  }

  /** A call may need a permission only after its message was written. */
  function change(message: Message.Info): void {
    const task = tasks.get(message.sessionId)
    if (task && message.type === "tool_request")
      task.order.add({ parentId: message.id, show: () => askPending(task, message) })
  }

  function start(started: { sessionId: string; messageId: string; callId: string }): void {
    const task = tasks.get(started.sessionId)
    task?.order.add({
      parentId: started.messageId,
      show() {
        task.calls.start(started.callId)
        note(task, task.lines.get(started.callId))
      },
    })
  }

  /** Forget the tasks of a root call that has its result. */
  function end(rootCall: string): void {
    progress.delete(rootCall)
    for (const [id, task] of tasks) {
      if (task.rootCall !== rootCall) continue
      task.calls.giveUp("It was interrupted.")
      tasks.delete(id)
    }
  }

  function ask(task: Task, message: Message.Of<"tool_request">): void {
    for (const call of message.data.calls)
      task.lines.set(call.id, `${"  ".repeat(task.depth)}- ${titleOf(call)}`)
    askPending(task, message)
  }

  function askPending(task: Task, message: Message.Of<"tool_request">): void {
    for (const call of message.data.calls)
      if (call.approval === "pending" && !task.calls.isOpen(call.id)) task.calls.ask(message, [call])
  }

  function finish(task: Task, message: Message.Of<"tool_result">): void {
    const { requestId, status } = message.data
    task.calls.finish(message)
    const line = task.lines.get(requestId)
    task.lines.delete(requestId)
    if (status !== "success" && line) note(task, `${line}: ${status}`)
  }

  function note({ rootCall }: Task, line: string | undefined): void {
    if (!line) return
    const lines = [...(progress.get(rootCall) ?? []), line].slice(-maxLines)
    progress.set(rootCall, lines)
    calls.report(rootCall, lines.join("\n"))
  }

  return Object.freeze({ begin, add, change, start, end, has: (id: string) => tasks.has(id) })
}
