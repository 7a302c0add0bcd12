// The program of a session: its guards as threads. Actions are offered, and may be blocked. Facts (results, and whatever the
// record of the session says) have happened, so nothing blocks them. Guards are never interrupted.
import {
  behavioral,
  type Event,
  type Idiom,
  type Listener,
  type Thread,
} from "#kernel/behavioral/behavioral.ts"
import { fits } from "#kernel/behavioral/thread.ts"
import { errorText } from "#util/error.ts"
import { runLimited } from "#util/run-limited.ts"
import { createValues, type Values } from "./each-value.ts"
import type { Guard } from "./guard.ts"
import { type GuardEvent, plainEvent } from "./guard-event.ts"

/** `waits`: what the guard waits for while it blocks. */
export type Blocked = { guard: string; reason: string; until?: string; waits(event: Event): boolean }
export type Program = Readonly<{
  /** Returns the guards that block the action. */
  offer(event: GuardEvent): Blocked[]
  tell(event: GuardEvent): void
}>
/** A guard whose code threw or never yielded. */
export type Problem = { guard: string; message: string }

/** `onProblem` hears about each guard once. */
export function createProgram(guards: readonly Guard[], onProblem: (problem: Problem) => void): Program {
  const reported = new Set<string>()
  const report = (problem: Problem) => {
    if (!reported.has(problem.guard)) onProblem(problem)
    reported.add(problem.guard)
  }
  return guards.some(({ isCode }) => isCode)
    ? createLimited(guards, report)
    : createThreads(guards, { report, running: { guard: "" } })
}

/** Facts that are told within one time limit, so that code may be slow and a long session is read again soon. */
const chunk = 10
/** Milliseconds. */
export const codeLimit = 1_000

/** For guards with code of a person, which runs within a time limit. Keeps all facts: if a guard never yields, the interrupted
 * program cannot go on, and a new one without this guard is told the facts again. */
function createLimited(guards: readonly Guard[], report: (problem: Problem) => void): Program {
  const running = { guard: "" }
  const facts: GuardEvent[] = []
  let left = guards
  let state: Program | undefined
  let told = 0
  return Object.freeze({ offer, tell: (event: GuardEvent) => void facts.push(event) })

  function offer(event: GuardEvent): Blocked[] {
    for (;;) {
      const blocked = offerLimited(event)
      if (!blocked) endRunning()
      else {
        // The action happens now, so a new program must be told it.
        if (!blocked.result.length) told = facts.push(event)
        return blocked.result.map(limited)
      }
    }
  }

  /** Undefined if the time was up. */
  function offerLimited(event: GuardEvent): { result: Blocked[] } | undefined {
    if (!catchUp()) return undefined
    return runLimited(() => {
      tellSome()
      return state!.offer(event)
    }, codeLimit)
  }

  /** What a guard waits for is asked later, and its code may hang then too. */
  function limited(blocked: Blocked): Blocked {
    const { guard } = blocked
    if (!left.find(({ name }) => name === guard)?.isCode) return blocked
    const waits = (event: Event) => {
      running.guard = guard
      try {
        const found = runLimited(() => blocked.waits(event), codeLimit)
        if (!found) endRunning()
        return found?.result ?? false
      } catch (error) {
        report({ guard, message: errorText(error) })
        return false
      }
    }
    return { ...blocked, waits }
  }

  /** Leaves at most a chunk of facts to tell. False if the time was up. */
  function catchUp(): boolean {
    while (facts.length - told > chunk) if (!runLimited(tellSome, codeLimit)) return false
    return true
  }

  function tellSome(): void {
    state ??= createThreads(left, { report, running })
    for (const end = told + chunk; told < end && told < facts.length; told++) state.tell(facts[told]!)
  }

  function endRunning(): void {
    const code = left.filter(({ isCode }) => isCode)
    const found = code.find(({ name }) => name === running.guard) ?? code[0]
    state = undefined
    told = 0
    // A machine that stood still for so long is no fault of a guard.
    if (!found) return
    left = left.filter((guard) => guard !== found)
    report({ guard: found.name, message: `it ran for more than ${codeLimit} ms and was ended` })
  }
}

const maxValues = 5

/** `values`: of a guard for each value of a field. */
type Place = { guard: Guard; values: Values | undefined; idiom: Idiom }

/** `running` gets the name of the guard whose code runs. */
function createThreads(
  guards: readonly Guard[],
  { report, running }: { report: (problem: Problem) => void; running: { guard: string } },
): Program {
  const program = behavioral()
  const facts = new WeakSet<object>()
  const places = new Map<string, Place>()
  const adapted = new WeakMap<Idiom, Idiom>()
  program.useSnapshot((snapshot) => {
    if (snapshot.kind === "error" || snapshot.kind === "limit") {
      const guard = snapshot.thread ?? running.guard
      const message =
        snapshot.kind === "error"
          ? snapshot.message
          : `it requested ${snapshot.steps} events in a row and was ended`
      report({ guard, message })
    }
  })
  // Guards for each value come last: they begin with their first value.
  for (const guard of guards.toSorted((a, b) => Number("each" in a) - Number("each" in b))) {
    const values = "each" in guard ? createValues(guard.each) : undefined
    add({ guard, values, idiom: {} }, "each" in guard ? values!.thread : guard.thread)
  }
  tell(plainEvent("start"))
  return Object.freeze({ offer, tell })

  function tell(event: GuardEvent): void {
    facts.add(event)
    begin(event)
    program.trigger(event)
  }

  function offer(event: GuardEvent): Blocked[] {
    begin(event)
    const { blockedBy } = program.trigger(event)
    if (!blockedBy.length) return []
    return blockedBy.map((name) => describe(places.get(name)!, event))
  }

  /** Guards for each value begin with the first event that has the value. */
  function begin(event: GuardEvent): void {
    for (const { values } of places.values()) values?.begin(event)
  }

  function add(place: Place, thread: Thread): void {
    const { guard } = place
    places.set(guard.name, place)
    program.addThread(guard.name, function* () {
      running.guard = guard.name
      const steps = thread()
      try {
        for (let next = steps.next(); !next.done; ) {
          place.idiom = next.value
          const event = yield adapt(guard, next.value)
          running.guard = guard.name
          next = steps.next(event)
        }
      } finally {
        // It stays known: a guard may block an event, and end in the same step.
        place.idiom = {}
      }
    })
  }

  /** Facts cannot be blocked, and a guard that was interrupted would be gone for good. */
  function adapt(guard: Guard, idiom: Idiom): Idiom {
    const known = adapted.get(idiom)
    if (known) return known
    const { interrupt: _, block, waitFor, ...rest } = idiom
    const own: Idiom = {
      ...rest,
      ...(waitFor === undefined ? {} : { waitFor: guard.isCode ? noted(guard, waitFor) : waitFor }),
      ...(block === undefined ? {} : { block: blocking(guard, block) }),
    }
    adapted.set(idiom, own)
    return own
  }

  function blocking(guard: Guard, block: NonNullable<Idiom["block"]>): Listener {
    const isBlocked = noted(guard, block)
    return (event) => !facts.has(event) && isBlocked(event)
  }

  function noted(guard: Guard, listeners: NonNullable<Idiom["block"]>): (event: Event) => boolean {
    if (!guard.isCode) return (event) => fits(listeners, event)
    return (event) => {
      running.guard = guard.name
      return fits(listeners, event)
    }
  }
}

function describe(place: Place, event: GuardEvent): Blocked {
  const { because, name, until } = place.guard
  const reason = typeof because === "string" ? because : because(event)
  const values = place.values?.blocked(event) ?? []
  const waits = (other: Event) => {
    const { waitFor } = place.idiom
    return place.values?.wait(values, other) ?? (waitFor !== undefined && fits(waitFor, other))
  }
  const about = values.length ? ` (${some(values)})` : ""
  return { guard: name, reason: reason + about, ...(until === undefined ? {} : { until }), waits }
}

function some(values: readonly string[]): string {
  const shown = values.slice(0, maxValues).join(", ")
  return values.length > maxValues ? `${shown} and ${values.length - maxValues} more` : shown
}
