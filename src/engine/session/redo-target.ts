// Which revert a redo takes back: the last one that was not taken back yet, as long as no prompt follows it.
import { pathTo } from "#engine/record/history.ts"
import type * as SessionRecord from "#engine/record/session-record.ts"
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"

export class NothingToRedo extends NamedError {
  constructor(sessionId: string, why: string) {
    super("Session.NothingToRedo", `There is nothing to redo in session ${sessionId}${why}.`, { sessionId })
  }
}

/** `messages` are all messages of the session. Throws `Session.NothingToRedo`. */
export function redoTarget(messages: Message.Info[], { id, branch }: SessionRecord.Info): Message.Info {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const path = pathTo(messages, branch)
  const place = (message: Message.Info | undefined): Message.Info | undefined =>
    message && isModeChange(message) ? place(byId.get(message.parentId ?? "")) : message
  let head = place(path.at(-1))
  let revert = head && revertOf(head)
  // The revert of a revert is a redo. Before it, the branch stood at its parent.
  while (revert && isRevert(byId.get(revert.to))) {
    head = place(byId.get(head!.parentId ?? ""))
    revert = head && revertOf(head)
  }
  // A fork or an import has the revert, but not always what it took away.
  if (head && revert && byId.has(revert.from)) return head
  const wasReverted = path.some((message) => isRevert(message) && !isRevert(byId.get(revertOf(message)!.to)))
  throw new NothingToRedo(id, !revert && wasReverted ? ": a prompt came after the last revert" : "")
}

function revertOf(message: Message.Info): { to: string; from: string } | undefined {
  if (message.type !== "system_control" || message.data.control !== "revert") return undefined
  const { to, from } = message.data.parameters
  return { to: String(to), from: String(from) }
}

function isRevert(message: Message.Info | undefined): boolean {
  return message !== undefined && revertOf(message) !== undefined
}

function isModeChange({ type, data }: Message.Info): boolean {
  return type === "system_control" && data.control === "mode_change"
}
