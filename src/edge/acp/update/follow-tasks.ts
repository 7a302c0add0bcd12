// The sessions that do a task for another one: what they do shows in the call that gave it. A call of theirs that a person
// is asked about is shown as well, so that it does not stay open on the editor's screen.
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import { titleOf } from "#edge/acp/show/tool-look.ts"
import type * as Session from "#engine/session/session.ts"
import { createInOrder } from "#knowledge/message/in-order.ts"
import type * as Message from "#knowledge/message/message.ts"
import { type CallReporter, createCallReporter } from "./report-calls.ts"

type Task = {
  /** The call of the followed session that it works for, itself or for another task. */
  rootCall: string
  depth: number
  order: ReturnType<typeof createInOrder>
  /** Of the calls that somebody is asked about. */
  calls: CallReporter
  lines: Map<string, string>
}

const maxLines = 12

export function createTaskFollower(options: {
  sessionId: string
  directory: string
  /** Of the followed session. */
  calls: CallReporter
  send(update: SessionUpdate): void
}) {
  const { sessionId, directory, calls, send } = options
  const tasks = new Map<string, Task>()
  /** What was done last for a call, by it. */
  const done = new Map<string, string[]>()

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

  /** A call may come to wait for a person after its message was written. */
  function change(message: Message.Info): void {
    const task = tasks.get(message.sessionId)
    if (task && message.type === "tool_request")
      task.order.add({ parentId: message.id, show: () => askPending(task, message) })
  }

  function start(of: { sessionId: string; messageId: string; callId: string }): void {
    const task = tasks.get(of.sessionId)
    task?.order.add({
      parentId: of.messageId,
      show() {
        task.calls.start(of.callId)
        note(task, task.lines.get(of.callId))
      },
    })
  }

  /** The call that it was for is over. */
  function end(rootCall: string): void {
    done.delete(rootCall)
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
    const lines = [...(done.get(rootCall) ?? []), line].slice(-maxLines)
    done.set(rootCall, lines)
    calls.report(rootCall, lines.join("\n"))
  }

  return Object.freeze({ begin, add, change, start, end, has: (id: string) => tasks.has(id) })
}
