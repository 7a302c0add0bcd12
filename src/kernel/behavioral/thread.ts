import type { Event, Idiom, Listener, Repeat, Rule, RuleThread } from "./types.ts"

/** A rule of a thread. `next` returns the position of the rule to go on with, if that is not the next one. */
export function bSync(idiom: Idiom, next?: (event: Event) => number | undefined): Rule {
  return Object.freeze(next ? { idiom, next } : { idiom })
}

/** A thread that follows its rules in order: once, for ever, or as long as `repeat` returns true. */
export function bThread(rules: readonly Rule[], repeat: Repeat = false): RuleThread {
  function* thread(): Generator<Idiom, void, Event> {
    let at: number | undefined = rules.length ? 0 : undefined
    while (at !== undefined) at = positionAfter(parts, at, yield rules[at]!.idiom)
  }
  const parts = { rules, repeat }
  return Object.assign(thread, parts)
}

/** The position of a thread that was at `at` when `event` resumed it. Undefined: the thread has ended. */
export function positionAfter(
  { rules, repeat }: Pick<RuleThread, "rules" | "repeat">,
  at: number,
  event: Event,
): number | undefined {
  const to = rules[at]!.next?.(event) ?? at + 1
  if (to >= rules.length) return (typeof repeat === "function" ? repeat() : repeat) ? 0 : undefined
  if (!rules[to]) throw new Error(`rule ${at} goes on with rule ${to}, which does not exist`)
  return to
}

/** Whether one of the listeners takes the event. Throws what a predicate throws. */
export function fits(listeners: Listener | readonly Listener[], event: Event): boolean {
  if (typeof listeners === "string") return listeners === event.type
  return typeof listeners === "function" ? listeners(event) : listeners.some((one) => fits(one, event))
}
