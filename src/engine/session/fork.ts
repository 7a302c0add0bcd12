// Forks a session: a new session that begins with the messages of another one.
import { isAddress } from "#ability/checkout/address.ts"
import * as ImageStore from "#ability/image/image-store.ts"
import * as TodoList from "#ability/plan/todo-list.ts"
import { cutOff, historyOf } from "#engine/record/history.ts"
import { ownPerson } from "#engine/record/session-access.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"

export class MessageNotFound extends NamedError {
  constructor(sessionId: string, messageId: string, where = "the active branch of session") {
    super("Session.MessageNotFound", `Message ${messageId} is not in ${where} ${sessionId}.`, {
      sessionId,
      messageId,
    })
  }
}

/** Copies the messages up to and including the given one (default: all). The source does not change. */
export async function fork(sessionId: string, messageId?: string): Promise<SessionRecord.Info> {
  const source = copyable(await SessionRecord.get(sessionId))
  const history = await historyOf(sessionId, source.branch)
  const cut = messageId === undefined ? history.length - 1 : history.findIndex(({ id }) => id === messageId)
  if (messageId !== undefined && cut < 0) throw new MessageNotFound(sessionId, messageId)
  const now = Date.now()
  const id = createId("sess")
  const isCheckout = isAddress(source.directory)
  const session: SessionRecord.Info = {
    ...source,
    ...ownPerson({}),
    id,
    ...(isCheckout ? { directory: source.directory.replace(/#.*/, `#${id}`) } : {}),
    parentId: sessionId,
    branch: "main",
    status: "idle",
    usage: SessionRecord.Totals.parse({}),
    time: { created: now, updated: now },
  }
  // The source may be running: an answer that is still streaming there is marked as interrupted here.
  const ended = new Map(cutOff(history).map((message) => [message.id, message]))
  const copies = history.slice(0, cut + 1).map((message) => ({
    ...(ended.get(message.id) ?? message),
    sessionId: session.id,
    branch: "main",
  }))
  await ImageStore.copy(sessionId, session.id)
  await Promise.all(copies.map((message) => MessageStore.write(message)))
  const { planIn, planNodes } = await import("#engine/record/plan-nodes.ts")
  const isWhole = cut === history.length - 1
  await TodoList.write(session.id, isWhole ? await planNodes(sessionId, copies) : planIn(copies))
  if (isCheckout) await (await import("#ability/checkout/checkout.ts")).copy(source.directory, id)
  await SessionRecord.write(session)
  Bus.publish(SessionRecord.Created, { sessionId: session.id, session })
  return session
}

/** The fields of a session that a fork or an import takes over, without its running state. */
export function copyable(session: SessionRecord.Info) {
  const { owner: _, error: __, taskOf: ___, tip: ____, skipped: _____, ...rest } = session
  const { person: ______, shared: _______, ...copied } = rest
  return copied
}
