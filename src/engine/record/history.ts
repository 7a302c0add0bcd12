// The messages of a branch in order: all of them, or only those that a prompt needs, which begin at the last
// compaction. The cost of a prompt then depends on the model's window, not on the length of the session. Also repairs a
// history after a crash or an interruption.
import { compactionOf, windowOf } from "#knowledge/memory/window.ts"
import { isOneChain, revertedFrom } from "#knowledge/message/conversation-order.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { createId } from "#util/id.ts"
import type { Tip } from "./session-info.ts"
import * as SessionRecord from "./session-record.ts"

type Open = Message.Of<"tool_request">["data"]["calls"][number]

/** From the first message to the newest one of a branch, along the parents. */
export async function historyOf(sessionId: string, branch: string): Promise<Message.Info[]> {
  return pathTo(await MessageStore.list(sessionId), branch)
}

export function pathTo(messages: Message.Info[], branch: string): Message.Info[] {
  if (isOneChain(messages) && messages.every((message) => message.branch === branch)) return messages.slice()
  return lineTo(messages, newest(messages, branch))
}

/** From the first message to the given one, along the parents. */
function lineTo(messages: Message.Info[], last: Message.Info | undefined): Message.Info[] {
  const byId = new Map<string, Message.Info>()
  for (const message of messages) byId.set(message.id, message)
  const path: Message.Info[] = []
  let next = last
  while (next && byId.delete(next.id)) {
    path.push(next)
    next = next.parentId === null ? undefined : byId.get(next.parentId)
  }
  return path.reverse()
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

/** The answers that were still streaming when their process ended, marked as interrupted. */
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

type Place = { id: string; branch: string }

/** The messages of a branch from the first one that the last compaction keeps. Reads only these if `tip` is given; reads
 * the whole session if it is not, or if a message cannot be read. */
export async function recentHistory({ id, branch }: Place, tip: Tip | undefined): Promise<Message.Info[]> {
  const warm = MessageStore.warm()
  const known = warm.take(id, tip?.mark)
  const isFirst = createIsFirst()
  const recent = tip?.branch === branch && (await MessageStore.listBack(id, tip.id, { isFirst, known }))
  // Nothing is cached: unreadable messages may be replaced by notes here, and the next read may succeed.
  if (!recent) return fromKept(await historyOf(id, branch))
  warm.keep(id, recent)
  return recent
}

/** What `recentHistory` gives the next prompt, read without beginning one. That prompt finds the messages in the cache. */
export async function peekHistory({ id, branch, tip }: SessionRecord.Info): Promise<Message.Info[]> {
  const warm = MessageStore.warm()
  if (tip?.branch !== branch) return fromKept(await historyOf(id, branch))
  const known = warm.peek(id, tip.mark)
  const recent = await MessageStore.listBack(id, tip.id, { isFirst: createIsFirst(), known })
  if (!recent) return fromKept(await historyOf(id, branch))
  // Otherwise a prompt has begun meanwhile, and messages may have changed after they were read.
  if (known.size < recent.length && (await SessionRecord.get(id)).tip?.mark === tip.mark) {
    warm.keep(id, recent)
    warm.mark(id, tip.mark)
  }
  return recent
}

/** The newest messages of the active branch. Reads only these while no prompt runs. */
export async function newestMessages(session: SessionRecord.Info, count: number): Promise<Message.Info[]> {
  const { id, branch, tip } = session
  let left = count
  const isFirst = () => --left <= 0
  const newest = tip?.branch === branch && (await MessageStore.listBack(id, tip.id, { isFirst }))
  return newest || (await historyOf(id, branch)).slice(-count)
}

/** The messages that lead to a message of any branch, without it; the newest `count` of them. Reads only these. */
export async function messagesBefore(
  { id: sessionId }: Pick<SessionRecord.Info, "id">,
  messageId: string,
  count = Number.POSITIVE_INFINITY,
): Promise<Message.Info[]> {
  let left = count
  const isFirst = () => left-- <= 0
  const found = await MessageStore.listBack(sessionId, messageId, { isFirst })
  if (found) return found.slice(0, -1)
  const all = await MessageStore.list(sessionId)
  const line = lineTo(
    all,
    all.find(({ id }) => id === messageId),
  )
  return line.slice(0, -1).slice(-count)
}

function fromKept(whole: Message.Info[]): Message.Info[] {
  return whole.slice(windowOf(whole).start)
}

/** Extends a history of `recentHistory` to the whole branch. */
export async function wholeHistory(
  { id, branch }: Place,
  history: readonly Message.Info[],
): Promise<readonly Message.Info[]> {
  const [first] = history
  if (!first || first.parentId === null) return history
  const older =
    (await MessageStore.listBack(id, first.parentId)) ?? before(first, await historyOf(id, branch))
  return older.concat(history)
}

function before(first: Message.Info, whole: Message.Info[]): Message.Info[] {
  const at = whole.findIndex(({ id }) => id === first.id)
  return whole.slice(0, Math.max(0, at))
}

/** Messages must be passed from the newest to the oldest. True for the oldest one that is needed. */
function createIsFirst(): (message: Message.Info) => boolean {
  let keptFrom: string | null | undefined
  let isCompacted = false
  return (message) => {
    if (isCompacted) return message.id === keptFrom
    const compaction = compactionOf(message)
    if (!compaction) return false
    isCompacted = true
    keptFrom = compaction.keptFrom
    return keptFrom === null
  }
}

/** The tip at the end of a prompt; `before` if the prompt never read the history. If the tip message was not stored, the
 * next prompt does not find it and reads the whole session. */
export function tipOf(session: Place, history: readonly { id: string }[], before?: Tip): Tip | undefined {
  const id = history.at(-1)?.id
  return id === undefined ? before : tipAt(session, id)
}

/** The tip at a message. Its mark lets the next prompt use the messages that this one read. */
export function tipAt(session: Place, id: string): Tip {
  const mark = createId("mark")
  MessageStore.warm().mark(session.id, mark)
  return { branch: session.branch, id, mark }
}

/** The answer of a prompt that ended with its worker before that was noted. Notes for the model may follow it. */
export function finalAnswer(history: readonly Message.Info[]): Message.Info | undefined {
  const last = history.findLast((message) => message.type !== "text" || message.data.role !== "system")
  if (last?.type !== "text" || last.data.role !== "assistant") return undefined
  const { finish } = last.data
  return finish === undefined || finish === "interrupted" || finish === "error" ? undefined : last
}
