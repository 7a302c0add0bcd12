// Reports tool calls: requested, running, finished. Images that a call returned are messages after its result; they are
// added to the call's content.
import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk"
import { tail } from "#edge/acp/show/markdown.ts"
import { block, finished, type Place, plain, requested } from "#edge/acp/show/tool-call.ts"
import type * as Message from "#knowledge/message/message.ts"

type Reported = {
  call: Message.Call
  place: Place
  toolCallId: string
  /** The last output of a running call. */
  printed: string
  content: ToolCallContent[]
  /** The client's terminal in which the call runs. */
  terminal?: ToolCallContent
  isOver: boolean
}
/** A call by the message that contains it and the model's id: calls of tasks may have the same ids. */
export type CallPlace = { messageId: string; callId: string }

const maxPrinted = 8_000

export type CallReporter = ReturnType<typeof createCallReporter>

export function createCallReporter(options: { directory: string; send(update: SessionUpdate): void }) {
  const { directory, send } = options
  /** Calls without a result, by the model's id. A later turn may use the same id again. */
  const open = new Map<string, Reported>()
  /** The calls of the last request. */
  let last: Reported[] = []

  function ask(message: Message.Of<"tool_request">, calls = message.data.calls): void {
    last = []
    for (const call of calls) {
      const place = { messageId: message.id, directory }
      const shown = requested(call, place)
      const { toolCallId, content = [] } = shown
      const before = open.get(call.id)
      if (before?.toolCallId === toolCallId) continue
      if (before) fail(before, "It has no result.")
      const reported: Reported = { call, place, toolCallId, content, printed: "", isOver: false }
      open.set(call.id, reported)
      last.push(reported)
      send({ sessionUpdate: "tool_call", ...shown })
    }
  }

  function start(callId: string): void {
    const reported = open.get(callId)
    if (reported) update(reported, { status: "in_progress" })
  }

  function print(callId: string, text: string): void {
    const reported = open.get(callId)
    // A terminal shows the output itself.
    if (!reported || reported.terminal) return
    reported.printed = tail(reported.printed + text, maxPrinted)
    update(reported, { status: "in_progress", content: [...reported.content, block(reported.printed)] })
  }

  /** Shows a terminal of the client as the output of a call, also after its end. */
  function showTerminal({ callId }: CallPlace, terminalId: string): void {
    const reported = open.get(callId)
    if (!reported) return
    reported.terminal = { type: "terminal", terminalId }
    update(reported, { status: "in_progress", content: [...reported.content, reported.terminal] })
  }

  /** Replaces the call's output with the progress of a task, as Markdown. */
  function report(callId: string, text: string): void {
    const reported = open.get(callId)
    if (reported) update(reported, { status: "in_progress", content: [plain(text)] })
  }

  function finish({ data }: Message.Of<"tool_result">): void {
    const reported = open.get(data.requestId)
    if (!reported) return
    open.delete(data.requestId)
    const { toolCallId: _, ...shown } = finished(reported.call, data, reported.place)
    const { content, terminal } = reported
    reported.isOver = true
    reported.content = shown.content ?? []
    if (terminal)
      reported.content = [...content, terminal, ...(shown.status === "failed" ? reported.content : [])]
    update(reported, { ...shown, content: reported.content })
  }

  /** Adds an image to the call that returned it; false if there is no such call. */
  function attach(content: ToolCallContent, callId: unknown): boolean {
    const reported = last.find(({ isOver, call }) => isOver && call.id === callId)
    if (!reported) return false
    reported.content = [...reported.content, content]
    update(reported, { content: reported.content })
    return true
  }

  /** Fails the open calls, which will get no result. */
  function giveUp(why: string): void {
    for (const reported of open.values()) fail(reported, why)
    open.clear()
  }

  function fail(reported: Reported, why: string): void {
    update(reported, { status: "failed", content: [plain(why)] })
  }

  function update(reported: Reported, change: object): void {
    send({ sessionUpdate: "tool_call_update", toolCallId: reported.toolCallId, ...change })
  }

  function isOpen(callId: string): boolean {
    return open.has(callId)
  }

  function isShown({ messageId, callId }: CallPlace): boolean {
    return open.get(callId)?.place.messageId === messageId
  }

  /** Later images do not belong to the calls so far. */
  function endRequest(): void {
    last = []
  }

  return Object.freeze({
    ask,
    start,
    print,
    showTerminal,
    report,
    finish,
    attach,
    giveUp,
    isOpen,
    isShown,
    endRequest,
  })
}
