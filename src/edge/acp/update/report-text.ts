// Reports the model's reasoning and text in chunks. A section of reasoning and a section of text have different message
// ids; an editor joins chunks with the same id.
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import { head } from "#edge/acp/show/markdown.ts"
import type * as Message from "#knowledge/message/message.ts"

type Kind = Message.Part["type"]

const updates = { text: "agent_message_chunk", reasoning: "agent_thought_chunk" } as const
const maxChunk = 50_000

export function createTextReporter(send: (update: SessionUpdate) => void) {
  let current: { messageId: string; kind?: Kind | undefined; section: number } | undefined

  function add(messageId: string, kind: Kind, text: string): void {
    if (!text) return
    if (current?.messageId !== messageId) current = { messageId, section: 0 }
    if (current.kind !== kind) current.section++
    current.kind = kind
    sendText(updates[kind], `${messageId}.${current.section}`, text, send)
  }

  /** The request is retried: say so, and start a new section for the next text. */
  function markRetry(messageId: string): void {
    if (current?.messageId !== messageId || !current.kind) return
    add(messageId, current.kind, "\n\n[The answer broke off and is requested again.]\n\n")
    current.kind = undefined
  }

  /** Report a stored message. */
  function addAll({ id, data }: Message.Of<"text">): void {
    for (const { type, text } of data.parts) add(id, type, text)
  }

  return Object.freeze({ add, markRetry, addAll })
}

/** A long text is sent as several chunks of one message. */
export function sendText(
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk",
  messageId: string,
  text: string,
  send: (update: SessionUpdate) => void,
): void {
  for (let rest = text; rest; ) {
    const chunk = head(rest, maxChunk)
    send({ sessionUpdate, messageId, content: { type: "text", text: chunk } })
    rest = rest.slice(chunk.length)
  }
}
