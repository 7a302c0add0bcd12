// Messages on disk, one record each below their session, and the events about them. An event is published
// when its record is acknowledged.
import { z } from "zod"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { about } from "#util/about.ts"
import { followId } from "#util/id.ts"
import { adopt, checked, Invalid } from "./codec.ts"
import { conversationOrder, turnsAway } from "./conversation-order.ts"
import { bridgeGaps, fieldsOf, type Lost, lostMessages, removePositions, storePosition } from "./gaps.ts"
import { Info } from "./schema.ts"

const Written = z.object({ sessionId: z.string(), message: Info })

export const Created = Bus.define("message.created", Written, {
  when: "A message was added to a session and is on disk.",
})
export const Updated = Bus.define("message.updated", Written, {
  when: "A message changed: an answer is complete, a call was approved.",
})
export const Delta = Bus.define(
  "message.delta",
  z.object({
    sessionId: z.string(),
    messageId: z.string(),
    parentId: z.string().nullish().describe("the message that it follows, which may not be published yet"),
    kind: about("Part of the answer, or of the reasoning.", z.enum(["text", "reasoning"])),
    text: about("The next piece.", z.string()),
  }),
  { live: true, when: "New text of a message that is still streaming." },
)

type Warm = { mark?: string; messages: Map<string, Info>; size: number }

/** The messages that this instance last read, by session. */
export const warm = Instance.state(() => createWarmMessages())

/** Stores a message, new or changed. Throws `Invalid` if it does not have the shape of a message. `removes`: a record that
 * it replaces. */
export async function write(
  message: Info,
  { removes }: { removes?: Storage.Key | undefined } = {},
): Promise<void> {
  const now = checked(message)
  const { sessionId } = now
  if (Instance.isProvided) warm().forget(sessionId, now.id)
  const [isNew] = await Promise.all([
    put(keyOf(sessionId, now.id), recordOf(now), removes),
    turnsAway(now) && storePosition(now),
  ])
  Bus.publish(isNew ? Created : Updated, { sessionId, message: now })
}

/** A missing one throws `Storage.NotFound`. */
export async function get(sessionId: string, messageId: string): Promise<Info> {
  return adopt(await Storage.read(keyOf(sessionId, messageId)), { id: messageId, sessionId })
}

/** All messages of a session, of every branch, in the order of the conversation. A note replaces one that cannot be
 * read (see `gapsIn`). */
export async function list(sessionId: string): Promise<Info[]> {
  const messages: Info[] = []
  const invalid: Lost[] = []
  const ids = await Storage.list(keyOf(sessionId))
  await Storage.readEach(keyOf(sessionId), ids, (value, id) => {
    try {
      messages.push(adopt(value, { id, sessionId }, ids.length))
    } catch (error) {
      if (!(error instanceof Invalid)) throw error
      Log.warn(error.message, { sessionId })
      invalid.push({ id, reason: error.message, ...fieldsOf(value) })
    }
  })
  const newest = messages.at(-1)
  if (newest) followId(newest.id)
  const ordered = conversationOrder(messages)
  // Call after a read, which has quarantined broken records.
  const lost = await lostMessages(sessionId, ordered, invalid)
  return lost.length ? bridgeGaps(ordered, lost) : ordered
}

/** The messages from `last` back along their parents, the oldest first, up to the first one for which `isFirst` holds or
 * that has no parent. Those that are `known` are not read. Undefined if one of them is missing or cannot be read. */
export async function listBack(
  sessionId: string,
  last: string,
  options: { isFirst?: (message: Info) => boolean; known?: ReadonlyMap<string, Info> } = {},
): Promise<Info[] | undefined> {
  const { isFirst = () => false, known = new Map<string, Info>() } = options
  const messages: Info[] = []
  const asked = new Set<string>()
  let next: string | null = last
  const add = (message: Info) => {
    messages.push(message)
    next = isFirst(message) ? null : message.parentId
  }
  function* names() {
    // An id comes again if its record was not returned, or if the parents form a circle.
    while (next !== null && !asked.has(next)) {
      asked.add(next)
      const message = known.get(next)
      if (message) add(message)
      else yield next
    }
  }
  await Storage.readEach(keyOf(sessionId), names(), (value, id) => {
    try {
      add(adopt(value, { id, sessionId }))
    } catch (error) {
      if (!(error instanceof Invalid)) throw error
    }
  })
  followId(last)
  return next === null ? messages.reverse() : undefined
}

/** Remove all messages of a session. */
export async function remove(sessionId: string): Promise<void> {
  const ids = await Storage.list(keyOf(sessionId))
  await Promise.all(ids.map((id) => Storage.remove(keyOf(sessionId, id))))
  await removePositions(sessionId)
  if (Instance.isProvided) warm().drop(sessionId)
  await Storage.discard(keyOf(sessionId))
}

function keyOf(sessionId: string, ...messageId: string[]): Storage.Key {
  return ["message", sessionId, ...messageId]
}

/** An unknown message is written in its original form. */
function recordOf(message: Info): object {
  if (message.type !== "unknown") return message
  const value: unknown = JSON.parse(message.data.original)
  if (typeof value === "object" && value !== null) return value
  throw new Invalid([{ path: "data.original", message: "an object is expected" }], message.id)
}

/** Returns whether the record is new, which is certain only under the lock of all processes. */
async function put(key: Storage.Key, record: object, removes?: Storage.Key): Promise<boolean> {
  let isNew = true
  try {
    await Storage.update<Record<string, unknown>>(
      key,
      (draft) => {
        const before = Object.keys(draft)
        isNew = before.length === 0
        for (const name of before) delete draft[name]
        for (const [name, value] of Object.entries(record))
          Object.defineProperty(draft, name, { value, enumerable: true, configurable: true, writable: true })
      },
      { initial: {}, removes },
    )
  } catch (error) {
    if (!(error instanceof Storage.Corrupt)) throw error
    // The broken record is in quarantine now.
    await Storage.write(key, record)
  }
  return isNew
}

/** A cache of messages as they were last read from disk, so that the next prompt need not read them again. It is valid
 * while nobody else works on the session: another process writes another mark to the session record. A message that is
 * written leaves the cache, because its form on disk may differ (redaction). `most`: characters of JSON, all sessions
 * together; the sessions that were used last stay. */
export function createWarmMessages(most = 8_000_000) {
  const sessions = new Map<string, Warm>()
  const sizes = new WeakMap<Info, number>()
  let total = 0

  /** Begin to work on a session: its messages by id, none if the mark is another one. They leave the cache. */
  function take(sessionId: string, mark: string | undefined): ReadonlyMap<string, Info> {
    const messages = peek(sessionId, mark)
    drop(sessionId)
    return messages
  }

  /** The same without beginning to work: they stay in the cache. */
  function peek(sessionId: string, mark: string | undefined): ReadonlyMap<string, Info> {
    const warm = sessions.get(sessionId)
    return warm && mark !== undefined && warm.mark === mark ? warm.messages : new Map()
  }

  /** Messages that were just read, or taken. They are valid once the session is marked. */
  function keep(sessionId: string, messages: readonly Info[]): void {
    drop(sessionId)
    const warm: Warm = { messages: new Map(), size: 0 }
    for (const message of messages) {
      warm.messages.set(message.id, message)
      warm.size += sizeOf(message)
    }
    sessions.set(sessionId, warm)
    total += warm.size
    for (const oldest of sessions.keys()) {
      if (total <= most) break
      drop(oldest)
    }
  }

  /** The work on a session is over, and its record says so with this mark. */
  function mark(sessionId: string, mark: string): void {
    const warm = sessions.get(sessionId)
    if (warm) warm.mark = mark
  }

  function forget(sessionId: string, messageId: string): void {
    const warm = sessions.get(sessionId)
    const message = warm?.messages.get(messageId)
    if (!warm || !message) return
    warm.messages.delete(messageId)
    warm.size -= sizeOf(message)
    total -= sizeOf(message)
  }

  function drop(sessionId: string): void {
    total -= sessions.get(sessionId)?.size ?? 0
    sessions.delete(sessionId)
  }

  /** Of a message as it was when it was read. */
  function sizeOf(message: Info): number {
    const known = sizes.get(message) ?? JSON.stringify(message).length
    sizes.set(message, known)
    return known
  }

  return Object.freeze({ take, peek, keep, mark, forget, drop, size: () => total })
}
