// A cache of messages as last read from disk, for sessions of this instance. The next prompt need not read them again
// if nobody else has worked on the session: another process writes another mark to the session record. A message that
// is written here leaves the cache, because its form on disk may differ (redaction).
import type { Info } from "./schema.ts"

type Warm = { mark?: string; messages: Map<string, Info>; size: number }

/** `most`: characters of JSON, all sessions together. Those that were used last stay. */
export function createWarmMessages(most = 8_000_000) {
  const sessions = new Map<string, Warm>()
  const sizes = new WeakMap<Info, number>()
  let total = 0

  /** Begin to work on a session: its messages by id, none if the mark is another one. They leave the cache. */
  function take(sessionId: string, mark: string | undefined): ReadonlyMap<string, Info> {
    const warm = sessions.get(sessionId)
    drop(sessionId)
    return warm && mark !== undefined && warm.mark === mark ? warm.messages : new Map()
  }

  /** Messages that were just read, or taken. They count when the session is marked. */
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

  return Object.freeze({ take, keep, mark, forget, drop, size: () => total })
}
