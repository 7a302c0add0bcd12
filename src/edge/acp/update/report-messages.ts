// Reports the messages of a session as updates, for live and replayed sessions. Live texts are reported by
// `follow-session.ts` as they stream.
import type { ClientCapabilities, SessionUpdate } from "@agentclientprotocol/sdk"
import { attachedContent, imageContent, isAttached } from "#edge/acp/show/attached-content.ts"
import { compactionOf } from "#knowledge/memory/window.ts"
import type * as Message from "#knowledge/message/message.ts"
import { createCallReporter } from "./report-calls.ts"
import { createTextReporter, sendText } from "./report-text.ts"

const maxSummary = 50_000

export function createMessageReporter(options: {
  directory: string
  client: ClientCapabilities
  send(update: SessionUpdate): void
  /** Also report the texts of the person and the model; in a live session the editor has them already. */
  isReplay: boolean
  /** Report the texts of the person in a live session too. */
  reportsPrompts?: boolean
}) {
  const { directory, client, send, isReplay } = options
  const hasPrompts = isReplay || options.reportsPrompts === true
  const calls = createCallReporter({ directory, send })
  const texts = createTextReporter(send)
  /** The prompt that attachments belong to. */
  let promptId: string | undefined

  function report(message: Message.Info): void {
    if (message.type === "tool_request") calls.ask(message)
    if (message.type === "tool_result") calls.finish(message)
    if (message.type === "text") reportText(message)
    if (message.type === "system_control") reportCompaction(message)
    if (isAttached(message)) reportAttached(message)
    else if (!isNote(message)) promptId = isPrompt(message) ? message.id : undefined
  }

  function reportText(message: Message.Of<"text">): void {
    const { role, parts } = message.data
    if (role === "system") return
    calls.endRequest()
    if (role === "assistant" && isReplay) texts.addAll(message)
    if (role !== "user" || !hasPrompts) return
    for (const { text } of parts) sendText("user_message_chunk", message.id, text, send)
  }

  function reportAttached(message: Message.Of<"file_reference" | "image" | "mcp_resource">): void {
    if (message.type === "image" && promptId === undefined && addToCall(message)) return
    promptId ??= message.id
    calls.endRequest()
    if (!hasPrompts) return
    const content = attachedContent(message, directory)
    send({ sessionUpdate: "user_message_chunk", messageId: promptId, content })
  }

  /** Returns false if no call returned the image. */
  function addToCall(message: Message.Of<"image">): boolean {
    const content = imageContent(message, directory)
    return calls.attach({ type: "content", content }, message.data.metadata?.callId)
  }

  function reportCompaction(message: Message.Of<"system_control">): void {
    const compaction = compactionOf(message)
    if (!compaction || !client.session?.compaction) return
    const text = compaction.summary.slice(0, maxSummary)
    send({
      sessionUpdate: "compaction_update",
      compactionId: message.id,
      status: "completed",
      ...(text ? { summary: [{ type: "text", text }] } : {}),
    })
  }

  return Object.freeze({ report, calls, texts })
}

function isPrompt(message: Message.Info): boolean {
  return message.type === "text" && message.data.role === "user"
}

/** Notes for the model may come between a prompt and its attachments. */
function isNote(message: Message.Info): boolean {
  return message.type === "text" && message.data.role === "system"
}
