// The text of a message, as far as it is one of a person or an answer.
import type { Message, TextMessage } from "#client/client.ts"

/** A prompt of the person. A command that the person ran with `!` is none. */
export function isPrompt(message: Message): message is TextMessage {
  return message.type === "text" && message.data.role === "user" && message.data.origin === undefined
}

export function isAnswer(message: Message): message is TextMessage {
  return message.type === "text" && message.data.role === "assistant"
}

/** Without reasoning; empty for other messages. */
export function textOf(message: Message): string {
  if (!isPrompt(message) && !isAnswer(message)) return ""
  const texts = message.data.parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
  return texts.join("\n")
}
