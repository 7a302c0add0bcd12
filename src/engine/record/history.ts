// The messages of a branch in order, and their repair after a crash or an interruption.
import { revertedFrom } from "#knowledge/message/conversation-order.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"

type Open = Message.Of<"tool_request">["data"]["calls"][number]

/** From the first message to the newest one of a branch, along the parents. */
export async function historyOf(sessionId: string, branch: string): Promise<Message.Info[]> {
  return pathTo(await MessageStore.list(sessionId), branch)
}

export function pathTo(messages: Message.Info[], branch: string): Message.Info[] {
  if (isChain(messages, branch)) return messages.slice()
  const byId = new Map<string, Message.Info>()
  for (const message of messages) byId.set(message.id, message)
  const path: Message.Info[] = []
  let next = newest(messages, branch)
  while (next && byId.delete(next.id)) {
    path.push(next)
    next = next.parentId === null ? undefined : byId.get(next.parentId)
  }
  return path.reverse()
}

/** True for most sessions: each message follows the one before it, and nothing was reverted. */
function isChain(messages: Message.Info[], branch: string): boolean {
  let before: string | null = null
  for (const message of messages) {
    if (message.parentId !== before || message.branch !== branch || revertedFrom(message)) return false
    before = message.id
  }
  return true
}

/** The last message without a successor. */
function newest(messages: Message.Info[], branch: string): Message.Info | undefined {
  const followed = new Set<string | null>()
  for (const message of messages)
    if (message.branch === branch) followed.add(message.parentId).add(revertedFrom(message))
  const isOwn = (message: Message.Info) => message.branch === branch
  return messages.findLast((one) => isOwn(one) && !followed.has(one.id)) ?? messages.findLast(isOwn)
}

/** Results for the calls of a history that have none. A call id can come again in a later turn. */
export function missingResults(history: Message.Info[]): Message.Info[] {
  const last = history.at(-1)
  if (!last) return []
  const open: Open[] = []
  const unanswered = new Map<string, Open>()
  const giveUp = () => {
    open.push(...unanswered.values())
    unanswered.clear()
  }
  for (const message of history) {
    if (message.type === "tool_result") unanswered.delete(message.data.requestId)
    if (message.type !== "tool_request") continue
    // Results may come late, so a call stays open until its id is used again.
    if (message.data.calls.some(({ id }) => unanswered.has(id))) giveUp()
    for (const call of message.data.calls) unanswered.set(call.id, call)
  }
  giveUp()
  let parentId = last.id
  return open.map((call) => {
    const message = interrupted(call, { ...last, parentId })
    parentId = message.id
    return message
  })
}

/** Marks answers that were still streaming when their process ended as interrupted. */
export function cutOff(history: Message.Info[]): Message.Of<"text">[] {
  return history.flatMap((message) =>
    message.type === "text" && message.data.role === "assistant" && message.data.finish === undefined
      ? [{ ...message, data: { ...message.data, finish: "interrupted" as const } }]
      : [],
  )
}

function interrupted(
  call: Open,
  place: Pick<Message.Info, "sessionId" | "branch" | "parentId">,
): Message.Info {
  const { sessionId, branch, parentId } = place
  return Message.make({
    sessionId,
    parentId,
    branch,
    type: "tool_result",
    data: {
      requestId: call.id,
      toolName: call.name,
      status: "interrupted",
      output: "interrupted",
      error: { message: "The work was interrupted before this call had a result.", recoverable: true },
      duration: 0,
      timestamp: Date.now(),
    },
  })
}
