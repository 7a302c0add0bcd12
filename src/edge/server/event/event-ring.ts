// The newest frames in memory, shared by all clients: one entry per tick, whatever the number of clients. An entry
// has the bytes for who follows live, and the bytes that are also on disk, by whose offsets late clients find it.

/** `live` holds everything of a tick in order; `kept` is the same without events that are never replayed. */
type Entry = { number: number; start: number; end: number; live: Buffer; kept: Buffer }
export type EventRing = Readonly<{
  push(entry: { start: number; live: Buffer; kept: Buffer }): void
  /** An entry by number; undefined when it has left the ring or is yet to come. */
  get(number: number): Entry | undefined
  /** The entry that has the byte at an offset of the event log. */
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
