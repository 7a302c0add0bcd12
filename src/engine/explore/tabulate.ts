// What every thread does with every event at every position, as tables of numbers: listeners are asked once, not in every
// state. Listeners and `next` must depend on nothing but the event.
import type { Event, Idiom, RuleThread, Thread } from "#kernel/behavioral/behavioral.ts"
import { fits, positionAfter } from "#kernel/behavioral/thread.ts"

export type Named = readonly [name: string, thread: Thread]
/** A thread that cannot be explored, or only in part. */
export type Unexplored = { thread: string; reason: string }

/** `blocks`, `hears` and `to` have an entry for each position and event. `end` is the position of a thread that has ended,
 * `isGuard` says that a rule of it blocks something. */
export type Table = {
  name: string
  end: number
  isGuard: boolean
  blocks: Uint8Array
  /** Whether the event resumes or interrupts it. */
  hears: Uint8Array
  /** The position after an event; the same one if the thread does not hear it. */
  to: Uint16Array
  /** At each position the event that it requests, or -1, and the position after that. */
  requests: Int32Array
  afterRequest: Uint16Array
}
export type Tables = { events: readonly Event[]; tables: Table[]; unexplored: Unexplored[] }

/** The events that threads request come after the given ones. */
export function tabulate(threads: readonly Named[], given: readonly Event[]): Tables {
  const events = [...given]
  const unexplored: Unexplored[] = []
  const explored: [string, RuleThread][] = []
  for (const [name, thread] of threads) {
    const reason = reasonAgainst(thread)
    if (reason) unexplored.push({ thread: name, reason })
    else explored.push([name, thread as RuleThread])
  }
  const requested = explored.map(([, { rules }]) =>
    rules.map(({ idiom: { request } }) => (request ? events.push(request as Event) - 1 : -1)),
  )
  const tables = explored.map(([name, thread], i) =>
    tableOf({ name, thread, events, requested: requested[i]! }, (reason) => {
      if (!unexplored.some((one) => one.thread === name)) unexplored.push({ thread: name, reason })
    }),
  )
  return { events, tables, unexplored }
}

function reasonAgainst(thread: Thread): string | undefined {
  const { rules, repeat } = thread as Partial<RuleThread>
  if (!rules) return "it is a generator function, whose state cannot be seen"
  if (typeof repeat === "function") return "its repeat is a function"
  if (rules.length >= 0xffff) return `it has ${rules.length} rules`
  if (rules.some(({ idiom }) => typeof idiom.request === "function")) return "a request of it is a function"
  return undefined
}

type Given = { name: string; thread: RuleThread; events: readonly Event[]; requested: readonly number[] }

function tableOf({ name, thread, events, requested }: Given, problem: (reason: string) => void): Table {
  const end = thread.rules.length
  const size = (end + 1) * events.length
  const [blocks, hears, to] = [new Uint8Array(size), new Uint8Array(size), new Uint16Array(size)]
  const requests = Int32Array.from([...requested, -1])
  const afterRequest = new Uint16Array(end + 1)
  /** As the core does it: a block that throws blocks, another listener that throws does not match. */
  const attempt = <T>(work: () => T, otherwise: T): T => {
    try {
      return work()
    } catch (error) {
      problem(`its code throws: ${error instanceof Error ? error.message : error}`)
      return otherwise
    }
  }
  for (let at = 0; at <= end; at++) {
    const idiom: Idiom = thread.rules[at]?.idiom ?? {}
    const after = (event: Event) => attempt(() => positionAfter(thread, at, event) ?? end, end)
    const isEnded = (event: Event) => attempt(() => fits(idiom.interrupt ?? [], event), false)
    for (const [i, event] of events.entries()) {
      const cell = at * events.length + i
      blocks[cell] = Number(attempt(() => fits(idiom.block ?? [], event), true))
      const isInterrupt = isEnded(event)
      hears[cell] = Number(isInterrupt || attempt(() => fits(idiom.waitFor ?? [], event), false))
      if (isInterrupt) to[cell] = end
      else to[cell] = hears[cell] ? after(event) : at
    }
    const own = events[requests[at]!]
    if (own) afterRequest[at] = isEnded(own) ? end : after(own)
  }
  const isGuard = thread.rules.some(({ idiom }) => idiom.block !== undefined)
  return { name, end, isGuard, blocks, hears, to, requests, afterRequest }
}
