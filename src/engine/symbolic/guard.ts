// A guard: a thread that blocks actions, why it does so, and what ends the block. Guards of the configuration are plain data;
// they become threads whose state is a position in a list of rules, so that they can be explored.
import { bSync, bThread, type Event, type Thread } from "#kernel/behavioral/behavioral.ts"
import type { Guard as GuardData } from "#kernel/schema/schema.ts"
import type { Detail } from "./guard-event.ts"
import { listOf, matches, type Patterns, sayPattern } from "./pattern.ts"

export type Guard = Readonly<{
  name: string
  /** Where it comes from: `configuration`, `ready-made`, or its file. */
  source: string
  because: string | ((event: Event) => string)
  /** What ends the block, in words. */
  until?: string
  /** The patterns that it is made of, for exploration. */
  patterns?: GuardPatterns
  /** It runs code of a person, which may throw or never yield. */
  isCode?: true
}> &
  Readonly<{ thread: Thread } | { each: Each }>

export type GuardPatterns = Readonly<{
  when: readonly string[]
  block: readonly string[]
  until: readonly string[]
}>

/** A thread for each value of a field. It is added when an event with a new value is one that it `begins` with. */
type Each = Readonly<{
  key: "path" | "target"
  begins(event: Event): boolean
  thread(value: string): Thread
}>

/** A guard as it is written in the configuration, whole. */
export type Data = Pick<GuardData, "each"> & {
  when?: Patterns | undefined
  block: Patterns
  until?: Patterns | undefined
  because: string
}

export function createGuard(name: string, data: Data, source = "configuration"): Guard {
  const { because, each } = data
  const patterns = {
    when: listOf(data.when ?? []),
    block: listOf(data.block),
    until: listOf(data.until ?? []),
  }
  const begins = matches(patterns.when.length ? patterns.when : [...patterns.block, ...patterns.until])
  const until = patterns.until.length ? { until: patterns.until.map(sayPattern).join(", or ") } : {}
  const shared = { name, source, because, patterns, ...until }
  if (!each) return Object.freeze({ ...shared, thread: threadOf(patterns, (test) => test) })
  const thread = (value: string) =>
    threadOf(patterns, (test) => (event) => isAbout(event, value) && test(event))
  // An event that is about nothing, such as the final answer, concerns every value.
  const isAbout = ({ detail }: Event, value: string) => {
    const own = (detail as Detail | undefined)?.[each]
    return own === undefined || own === value
  }
  return Object.freeze({ ...shared, each: { key: each, begins, thread } })
}

type Test = (event: Event) => boolean

/** With `when` it blocks again and again; without, until the first `until`. */
function threadOf({ when, block, until }: GuardPatterns, about: (test: Test) => Test): Thread {
  const blocking = bSync({
    block: about(matches(block)),
    ...(until.length ? { waitFor: about(matches(until)) } : {}),
  })
  if (!when.length) return bThread([blocking])
  return bThread([bSync({ waitFor: about(matches(when)) }), blocking], true)
}
