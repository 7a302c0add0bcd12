// The events of one tick, each serialised once. They arrive in the order of their ids; live ones lie between them.
import { frameOf } from "#kernel/bus/event-frame.ts"
import type * as GlobalBus from "#kernel/bus/global-bus.ts"

export type EventBatch = Readonly<{
  add(event: GlobalBus.Event): void
  /** Large enough to be taken before the tick ends. */
  isFull(): boolean
  /** All frames, and those that are kept for replay. Empties the batch. */
  take(): { live: Buffer; kept?: { bytes: Buffer; first: number; last: number; count: number } } | undefined
}>

const enough = 64 << 10

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

  return Object.freeze({ add, isFull: () => live.length >= enough, take })
}

/** A small buffer from Node's pool would keep 64 KB alive for as long as the ring holds it. */
function unpooled(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}
