// The newest frames in memory, shared by all clients. There is one entry per tick, with the bytes for live clients and the
// bytes that are also in the event log. A client that was behind finds its entry by the offset in the log.

/** `live` has all events of a tick in order; `kept` leaves out events that are never replayed. */
type Entry = { number: number; start: number; end: number; live: Buffer; kept: Buffer }
export type EventRing = Readonly<{
  push(entry: { start: number; live: Buffer; kept: Buffer }): void
  /** An entry by its number; undefined if it was evicted or does not exist yet. */
  get(number: number): Entry | undefined
  /** The entry that contains an offset of the event log. */
  find(offset: number): Entry | undefined
  /** The number that the next entry will have. */
  next(): number
}>

export function createEventRing(maxBytes: number): EventRing {
  const entries: Entry[] = []
  let bytes = 0
  let next = 0

  return Object.freeze({
    push({ start, live, kept }) {
      entries.push({ number: next++, start, end: start + kept.length, live, kept })
      bytes += live.length
      while (bytes > maxBytes && entries.length > 1) bytes -= entries.shift()!.live.length
    },
    get: (number) => entries[number - (entries[0]?.number ?? 0)],
    find: (offset) => entries.find(({ start, end }) => start <= offset && offset < end),
    next: () => next,
  })
}
