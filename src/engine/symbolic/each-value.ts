// A guard for each value of a field, such as each file: one thread that keeps the position of every value in the same list of
// rules. An event costs the values that it concerns; an event that concerns all of them asks each rule once.
import { bSync, bThread, type Event, type Idiom, type RuleThread } from "#kernel/behavioral/behavioral.ts"
import { positionAfter } from "#kernel/behavioral/thread.ts"
import type { Detail } from "./guard-event.ts"

type Test = (event: Event) => boolean
/** The tests do not ask which value an event concerns. */
type EachRule = Readonly<{ block?: Test; waitFor?: Test }>

export type Each = Readonly<{
  key: "path" | "target"
  /** A value is guarded from the first event on that has it and passes this test. */
  begins: Test
  rules: readonly EachRule[]
  repeat: boolean
  /** The values that an event concerns. Undefined: all. */
  valuesOf(event: Event): readonly string[] | undefined
}>

export type Values = ReturnType<typeof createValues>

/** The guard for one value, as a thread of its own that can be explored. */
export function threadFor({ rules, repeat, valuesOf }: Each, value: string): RuleThread {
  const about =
    (test: Test): Test =>
    (event) =>
      (valuesOf(event)?.includes(value) ?? true) && test(event)
  const own = rules.map(({ block, waitFor }) =>
    bSync({ ...(block ? { block: about(block) } : {}), ...(waitFor ? { waitFor: about(waitFor) } : {}) }),
  )
  return bThread(own, repeat)
}

export function createValues({ key, begins, rules, repeat, valuesOf }: Each) {
  /** In the order in which the values began. A value whose guard has ended stays, so that it does not begin again. */
  const positions = new Map<string, number>()
  /** The values at each position; the last set is that of guards that have ended. */
  const valuesAt = Array.from({ length: rules.length + 1 }, () => new Set<string>())
  const track = { rules: rules.map((idiom) => bSync(idiom)), repeat }
  return Object.freeze({ begin, thread, blocked, wait })

  function begin(event: Event): void {
    const value = (event.detail as Detail)[key]
    if (value === undefined || positions.has(value) || !begins(event)) return
    positions.set(value, 0)
    valuesAt[0]!.add(value)
  }

  function* thread(): Generator<Idiom, void, Event> {
    const idiom: Idiom = {
      block: (event) => isAny("block", event),
      waitFor: (event) => isAny("waitFor", event),
    }
    for (;;) moveOn(yield idiom)
  }

  function isAny(part: keyof EachRule, event: Event): boolean {
    const values = valuesOf(event)
    if (!values) return rules.some((rule, at) => valuesAt[at]!.size > 0 && rule[part]?.(event))
    return values.some((value) => rules[positions.get(value) ?? rules.length]?.[part]?.(event))
  }

  function moveOn(event: Event): void {
    const values = valuesOf(event)
    const moves = rules.flatMap((rule, at) => {
      const here = valuesAt[at]!
      const own = values ? values.filter((value) => here.has(value)) : [...here]
      return own.length && rule.waitFor?.(event) ? { own, at } : []
    })
    for (const { own, at } of moves) {
      const to = positionAfter(track, at, event) ?? rules.length
      for (const value of own) {
        valuesAt[at]!.delete(value)
        valuesAt[to]!.add(value)
        positions.set(value, to)
      }
    }
  }

  /** The values for which the event is blocked. */
  function blocked(event: Event): string[] {
    const isBlocking = rules.map(({ block }) => block?.(event) ?? false)
    const values = valuesOf(event) ?? [...positions.keys()]
    return values.filter((value) => isBlocking[positions.get(value) ?? rules.length])
  }

  /** Whether the guard of each of the values waits for the event. */
  function wait(given: readonly string[], event: Event): boolean {
    const values = valuesOf(event)
    return given.every(
      (value) => (values?.includes(value) ?? true) && rules[positions.get(value)!]?.waitFor?.(event),
    )
  }
}
