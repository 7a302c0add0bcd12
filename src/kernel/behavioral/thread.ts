import type { Event, Idiom, Repeat, Rule, RuleThread, SyncRule } from "./types.ts"

/** A rule that yields once. `next` returns the position of the rule to go on with, if that is not the next one. */
export function bSync(idiom: Idiom, next?: (event: Event) => number | undefined): SyncRule {
  function* rule(): Generator<Idiom, number | undefined, Event> {
    const event = yield idiom
    return next?.(event)
  }
  return Object.assign(rule, next ? { idiom, next } : { idiom })
}

/** A thread that follows its rules in order: once, for ever, or as long as `repeat` returns true. */
export function bThread(rules: readonly Rule[], repeat: Repeat = false): RuleThread {
  function* thread(): Generator<Idiom, void, Event> {
    do {
      for (let at = 0; at < rules.length; ) at = (yield* rules[at]!()) ?? at + 1
    } while (typeof repeat === "function" ? repeat() : repeat)
  }
  return Object.assign(thread, { rules, repeat })
}
