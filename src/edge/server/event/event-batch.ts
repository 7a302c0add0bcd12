// Collects the events of one tick and serialises each once. Events with an id arrive in the order of their ids; live
// events have no id and may come between them.
import { frameOf } from "#kernel/bus/event-frame.ts"
import type * as GlobalBus from "#kernel/bus/global-bus.ts"

export type EventBatch = Readonly<{
  add(event: GlobalBus.Event): void
  /** Whether the batch is so large that it must be flushed before the tick ends. */
  isFull(): boolean
  /** Empties the batch. Returns all frames, and separately the frames that are stored for replay. */
  take(): { live: Buffer; kept?: { bytes: Buffer; first: number; last: number; count: number } } | undefined
}>

const maxBytes = 64 << 10

export function createEventBatch(): EventBatch {
  let live = ""
  let kept = ""
  let first: number | undefined
  let last = 0
  let count = 0

  function add(event: GlobalBus.Event) {
    const frame = frameOf(event)
    live += frame
    if (event.id === undefined) return
    kept += frame
    first ??= event.id
    last = event.id
    count++
  }

  function take() {
    if (live === "") return undefined
    const all = unpooled(live)
    const bytes = kept.length === live.length ? all : unpooled(kept)
    const taken = first === undefined ? { live: all } : { live: all, kept: { bytes, first, last, count } }
    live = ""
    kept = ""
    first = undefined
    count = 0
    return taken
  }

  return Object.freeze({ add, isFull: () => live.length >= maxBytes, take })
}

/** A small buffer from Node's pool would keep 64 KB alive for as long as the ring holds it. */
function unpooled(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}
