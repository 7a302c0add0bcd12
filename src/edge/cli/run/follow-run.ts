// Shows the messages of a run on a screen in the order of the conversation: the answer as it arrives, a line per tool
// call, and those of tasks indented below the call that started them.

import { createInOrder } from "#client/in-order.ts"
import { callLine } from "#edge/cli/terminal/call-line.ts"
import { describeAttachment } from "#edge/cli/terminal/describe-attachment.ts"
import type { Screen } from "#edge/cli/terminal/screen.ts"
import * as Session from "#engine/session/session.ts"
import * as Log from "#kernel/process/log.ts"
import * as Message from "#knowledge/message/message.ts"
import { shorten } from "#util/shorten.ts"

type Task = { depth: number; order: ReturnType<typeof createInOrder> }
type Delta = { sessionId: string; kind: string; parentId?: string | null | undefined; text: string }

const maxTask = 200

export function createFollower(sessionId: string, screen: Screen) {
  const tasks = new Map<string, Task>([[sessionId, { depth: 0, order: createInOrder() }]])
  const calls = new Map<string, Message.Call>()
  const attachments = new Map<string, string>()

  function addDelta({ sessionId: id, kind, parentId, text }: Delta): void {
    if (id !== sessionId || kind !== "text" || !screen.isLive) return
    tasks.get(id)!.order.add({ parentId, show: () => screen.say(text) })
  }

  function addMessage(message: Message.Info): void {
    const task = tasks.get(message.sessionId)
    if (!task) return
    if (message.type === "tool_request") for (const call of message.data.calls) calls.set(call.id, call)
    task.order.add({
      id: message.id,
      parentId: message.parentId,
      isFirst: message.type === "text" && message.data.role === "user",
      show: () => show(message, task.depth),
    })
  }

  function show(message: Message.Info, depth: number): void {
    const indent = "  ".repeat(depth)
    if (message.type === "tool_result") {
      const call = calls.get(message.data.requestId)
      screen.note(indent + callLine(call, message.data, (process.stderr.columns || 100) - indent.length))
    }
    if (depth > 0) return
    if (message.type === "system_control") screen.note(`· ${Session.describeControl(message.data)}`)
    if (message.type === "text") showAnswer(message)
    showAttachment(message)
  }

  /** A pipe gets only complete answers, so that a retried answer is printed once. */
  function showAnswer(message: Message.Of<"text">): void {
    if (screen.isLive || message.data.role !== "assistant") return
    screen.say(Message.textOf(message))
    screen.endLine()
  }

  function showAttachment(message: Message.Info): void {
    const line = describeAttachment(message)
    if (line && attachments.get(message.id) !== line) screen.note(line)
    if (line) attachments.set(message.id, line)
  }

  /** Shows an attachment that has been resolved, or notes that an answer is retried. */
  function changeMessage(message: Message.Info): void {
    if (message.sessionId !== sessionId) return
    showAttachment(message)
    if (message.type !== "text" || message.data.parts.length > 0) return
    const show = () => screen.note("✗ the answer broke off and is requested again")
    tasks.get(sessionId)!.order.add({ parentId: message.parentId, show })
  }

  /** Notes that another agent starts a task. */
  function addSession({ id, agent, taskOf }: Session.Info): void {
    const parent = taskOf && tasks.get(taskOf.sessionId)
    if (!taskOf || !parent) return
    tasks.set(id, { depth: parent.depth + 1, order: createInOrder() })
    const given = calls.get(taskOf.callId)?.arguments as { task?: unknown } | undefined
    const task = typeof given?.task === "string" ? shorten(given.task.trim().split("\n", 1)[0]!, maxTask) : ""
    screen.note(`${"  ".repeat(parent.depth)}↳ ${Log.escapeControls(`${agent}${task ? `: ${task}` : ""}`)}`)
  }

  function flush(): void {
    for (const { order } of tasks.values()) order.flush()
  }

  return Object.freeze({ addDelta, addMessage, changeMessage, addSession, flush })
}
