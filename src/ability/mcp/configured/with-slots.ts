// Much work, a few at a time. One that takes its time gives its place to the next: a server that hangs must not hold up
// those behind it.
import { setTimeout as sleep } from "node:timers/promises"

const patience = 1_000

export async function withSlots<T>(
  slots: number,
  items: T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items]
  const running: Promise<void>[] = []
  const next = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      const done = work(item)
      running.push(done)
      await Promise.race([done, sleep(patience, undefined, { ref: false })])
    }
  }
  await Promise.all(Array.from({ length: Math.min(slots, items.length) }, next))
  await Promise.all(running)
}
