// A guard: a thread that blocks actions, why it does so, and what ends the block. Guards of the configuration are plain data;
// they become threads whose state is a position in a list of rules, so that they can be explored.
import { bSync, bThread, type Event, type Thread } from "#kernel/behavioral/behavioral.ts"
import type { Guard as GuardData } from "#kernel/schema/schema.ts"
import type { Each } from "./each-value.ts"
import type { Detail } from "./guard-event.ts"
import { listOf, matches, type Patterns, sayPatterns } from "./pattern.ts"

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
  const until = patterns.until.length ? { until: sayPatterns(patterns.until) } : {}
  const shared = { name, source, because, patterns, ...until }
  const track = trackOf(patterns)
  if (!each) {
    const rules = track.rules.map((rule) => bSync(rule))
    return Object.freeze({ ...shared, thread: bThread(rules, track.repeat) })
  }
  // An event that is about nothing, such as the final answer, concerns every value.
  const valuesOf = ({ detail }: Event) => {
    const own = (detail as Detail | undefined)?.[each]
    return own === undefined ? undefined : [own]
  }
  return Object.freeze({ ...shared, each: { key: each, begins, ...track, valuesOf } })
}

/** With `when` it blocks again and again; without, until the first `until`. */
function trackOf({ when, block, until }: GuardPatterns): Pick<Each, "rules" | "repeat"> {
  const blocking = { block: matches(block), ...(until.length ? { waitFor: matches(until) } : {}) }
  if (!when.length) return { rules: [blocking], repeat: false }
  return { rules: [{ waitFor: matches(when) }, blocking], repeat: true }
}
