// Reports tool calls in the order of messages: requested, running, finished, and the images that they returned, which
// are messages after the results.
import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk"
import { tail } from "#edge/acp/show/markdown.ts"
import { block, finished, type Place, plain, requested } from "#edge/acp/show/tool-call.ts"
import type * as Message from "#knowledge/message/message.ts"

type Told = {
  call: Message.Call
  place: Place
  toolCallId: string
  /** The output of a running call. */
  printed: string
  content: ToolCallContent[]
  isOver: boolean
}

const maxPrinted = 8_000

export type CallReporter = ReturnType<typeof createCallReporter>

export function createCallReporter(options: { directory: string; send(update: SessionUpdate): void }) {
  const { directory, send } = options
  /** Those that are not over, by the id that the model gave. A later turn may give it again. */
  const open = new Map<string, Told>()
  /** Those of the last request. */
  let last: Told[] = []

  function ask(message: Message.Of<"tool_request">, calls = message.data.calls): void {
    last = []
    for (const call of calls) {
      const place = { messageId: message.id, directory }
      const shown = requested(call, place)
      const { toolCallId, content = [] } = shown
      const before = open.get(call.id)
      if (before?.toolCallId === toolCallId) continue
      if (before) fail(before, "It has no result.")
      const told = { call, place, toolCallId, content, printed: "", isOver: false }
      open.set(call.id, told)
      last.push(told)
      send({ sessionUpdate: "tool_call", ...shown })
    }
  }

  function start(callId: string): void {
    const told = open.get(callId)
    if (told) update(told, { status: "in_progress" })
  }

  function print(callId: string, text: string): void {
    const told = open.get(callId)
    if (!told) return
    told.printed = tail(told.printed + text, maxPrinted)
    update(told, { status: "in_progress", content: [...told.content, block(told.printed)] })
  }

  /** Replaces the output by the progress of a task, in Markdown. */
  function report(callId: string, text: string): void {
    const told = open.get(callId)
    if (told) update(told, { status: "in_progress", content: [plain(text)] })
  }

  function finish({ data }: Message.Of<"tool_result">): void {
    const told = open.get(data.requestId)
    if (!told) return
    open.delete(data.requestId)
    const { toolCallId: _, ...shown } = finished(told.call, data, told.place)
    told.isOver = true
    told.content = shown.content ?? []
    update(told, shown)
  }

  /** An image of the last results; false where there are none that it could be of. Records of earlier versions do not say
   * which call gave it. */
  function attach(content: ToolCallContent, callId: unknown): boolean {
    const over = last.filter(({ isOver }) => isOver)
    const told = callId === undefined ? over.at(-1) : over.find(({ call }) => call.id === callId)
    if (!told) return false
    told.content = [...told.content, content]
    update(told, { content: told.content })
    return true
  }

  /** Nothing more comes for those that are open. */
  function giveUp(why: string): void {
    for (const told of open.values()) fail(told, why)
    open.clear()
  }

  function fail(told: Told, why: string): void {
    update(told, { status: "failed", content: [plain(why)] })
  }

  function update(told: Told, change: object): void {
    send({ sessionUpdate: "tool_call_update", toolCallId: told.toolCallId, ...change })
  }

  function isOpen(callId: string): boolean {
    return open.has(callId)
  }

  /** What comes now is not of tools. */
  function turn(): void {
    last = []
  }

  return Object.freeze({ ask, start, print, report, finish, attach, giveUp, isOpen, turn })
}
