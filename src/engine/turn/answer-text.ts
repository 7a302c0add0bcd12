// The text of an answer for readers that see nothing else: another agent, or a client of `vitamin mcp serve`.
import * as Message from "#knowledge/message/message.ts"

/** A cut answer reads like a complete one, so it ends with a note that says so. */
export function answerText(message: Message.Info): string {
  const reason = Message.cutReason(message)
  return `${Message.textOf(message)}${reason ? `\n[${reason}]` : ""}`
}
