// Live events that wait for a moment, so that many become one notification. Text that goes on becomes one event.
import type { Event } from "./global-bus.ts"

export type LiveBatch = Readonly<{
  add(event: Event): void
  /** Empties the batch. The events of a session are in their order. */
  take(): Event[]
  isEmpty(): boolean
}>

/** Characters. What comes while a batch is full is left out: the stored message has it. */
const maxSize = 64 << 10

type Growing = { key: string | undefined; event: Event }

export function createLiveBatch(): LiveBatch {
  /** By session: others may speak in between. */
  const waiting = new Map<unknown, Growing[]>()
  let size = 0

  function add(event: Event) {
    if (size >= maxSize) return
    const payload = (event.payload ?? {}) as { sessionId?: unknown; text?: unknown }
    const { text, ...rest } = payload
    const key = typeof text === "string" ? JSON.stringify([event.type, event.directory, rest]) : undefined
    const all = waiting.get(payload.sessionId) ?? []
    waiting.set(payload.sessionId, all)
    const last = all.at(-1)
    if (key !== undefined && last?.key === key) {
      const before = (last.event.payload as { text: string }).text
      last.event = { ...last.event, payload: { ...payload, text: before + text } }
      size += (text as string).length
      return
    }
    all.push({ key, event })
    size += JSON.stringify(event.payload ?? null).length
  }

  return Object.freeze({
    add,
    take() {
      const events = [...waiting.values()].flat().map(({ event }) => event)
      waiting.clear()
      size = 0
      return events
    },
    isEmpty: () => waiting.size === 0,
  })
}
