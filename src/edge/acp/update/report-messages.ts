// Reports the messages of a session as updates, the same for a followed and a replayed session; only streaming texts
// are reported elsewhere.
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
  /** Also the texts of the person and the model, which a connected editor has seen. */
  isReplay: boolean
}) {
  const { directory, client, send, isReplay } = options
  const calls = createCallReporter({ directory, send })
  const texts = createTextReporter(send)
  /** The message of the person that attachments belong to. */
  let said: string | undefined

  function report(message: Message.Info): void {
    if (message.type === "tool_request") calls.ask(message)
    if (message.type === "tool_result") calls.finish(message)
    if (message.type === "text") reportText(message)
    if (message.type === "system_control") reportCompaction(message)
    if (isAttached(message)) reportAttached(message)
    else if (!isNote(message)) said = isPersons(message) ? message.id : undefined
  }

  function reportText(message: Message.Of<"text">): void {
    const { role, parts } = message.data
    if (role === "system") return
    calls.turn()
    if (!isReplay) return
    if (role === "assistant") texts.addAll(message)
    else for (const { text } of parts) sendText("user_message_chunk", message.id, text, send)
  }

  function reportAttached(message: Message.Of<"file_reference" | "image" | "mcp_resource">): void {
    if (message.type === "image" && said === undefined && isOfCall(message)) return
    said ??= message.id
    calls.turn()
    if (!isReplay) return
    const content = attachedContent(message, directory)
    send({ sessionUpdate: "user_message_chunk", messageId: said, content })
  }

  function isOfCall(message: Message.Of<"image">): boolean {
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

function isPersons(message: Message.Info): boolean {
  return message.type === "text" && message.data.role === "user"
}

/** Notes for the model come between the person's text and what follows it. */
function isNote(message: Message.Info): boolean {
  return message.type === "text" && message.data.role === "system"
}
