// Finds where a history may be cut: before a turn of the person or of the model, never between a call and its result, a
// thought and its call, or a prompt and its attachments.
import type * as Message from "#knowledge/message/message.ts"

export type TurnStart = { index: number; isPerson: boolean }

export function turnStarts(messages: readonly Message.Info[]): TurnStart[] {
  const starts: TurnStart[] = []
  const open = new Set<string>()
  let before: Message.Info | undefined
  for (const [index, message] of messages.entries()) {
    const isPerson = isFromPerson(message)
    // A new prompt ends calls without a result.
    if (isPerson) open.clear()
    if (message.type === "tool_result") open.delete(message.data.requestId)
    else if (!open.size && begins(message, before)) starts.push({ index, isPerson })
    if (message.type === "tool_request") for (const { id } of message.data.calls) open.add(id)
    if (message.type !== "system_control" && message.type !== "unknown") before = message
  }
  return starts
}

/** Something that a person wrote. */
function isFromPerson(message: Message.Info): message is Message.Of<"text"> {
  return message.type === "text" && message.data.role === "user"
}

function begins(message: Message.Info, before: Message.Info | undefined): boolean {
  switch (message.type) {
    case "text":
      return message.data.role !== "system"
    case "tool_request":
      return !(before?.type === "text" && before.data.role === "assistant")
    case "image":
    case "file_reference":
    case "mcp_resource":
      return !before || !isAttachable(before)
    default:
      return false
  }
}

function isAttachable(message: Message.Info): boolean {
  return isFromPerson(message) || ["image", "file_reference", "mcp_resource"].includes(message.type)
}
