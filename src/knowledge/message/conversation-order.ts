// Sorts messages in the order of the conversation: each after the message that it follows, and a revert after what it
// reverted. Ids sort that way too, unless the clock went back while an older version wrote them, or they come from an
// import.
import type { Info } from "./schema.ts"

/** `messages` are sorted by id; they are returned unchanged if that is the order already. */
export function conversationOrder(messages: Info[]): Info[] {
  if (isInOrder(messages)) return messages
  const waiting = new Map(messages.map((message) => [message.id, message]))
  const ordered: Info[] = []
  for (const message of messages) {
    // A stack instead of recursion, because a chain may have thousands of messages. A message on the stack is no
    // longer waiting, so a cycle, which only damaged records have, ends too.
    const stack = waiting.delete(message.id) ? [message] : []
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const earlier = waiting.get(top.parentId ?? "") ?? waiting.get(revertedFrom(top) ?? "")
      if (earlier && waiting.delete(earlier.id)) stack.push(earlier)
      else ordered.push(stack.pop()!)
    }
  }
  return ordered
}

/** The tip of the branch before a revert; null for other messages. */
export function revertedFrom(message: Info): string | null {
  if (message.type !== "system_control" || message.data.control !== "revert") return null
  const { from } = message.data.parameters
  return typeof from === "string" ? from : null
}

/** Reverts and switches of the branch continue from another message than the last one. */
export function turnsAway({ type, data }: Info): boolean {
  return type === "system_control" && (data.control === "revert" || data.control === "branch_switch")
}

/** Whether each message follows the one before it, as in most sessions. */
export function isOneChain(messages: readonly Info[]): boolean {
  let before: string | null = null
  for (const message of messages) {
    if (message.parentId !== before || revertedFrom(message)) return false
    before = message.id
  }
  return true
}

function isInOrder(messages: readonly Info[]): boolean {
  if (isOneChain(messages)) return true
  const seen = new Set<string>()
  let all: Set<string> | undefined
  for (const message of messages) {
    seen.add(message.id)
    for (const id of [message.parentId, revertedFrom(message)]) {
      if (id === null || seen.has(id)) continue
      all ??= new Set(messages.map((one) => one.id))
      if (all.has(id)) return false
    }
  }
  return true
}
