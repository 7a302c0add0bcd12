// Checks a set of guards before it runs: explores what they can do together.

import { codeLimit } from "#engine/symbolic/create-program.ts"
import { threadFor } from "#engine/symbolic/each-value.ts"
import type { Guard } from "#engine/symbolic/guard.ts"
import { type Detail, plainEvent } from "#engine/symbolic/guard-event.ts"
import { bSync, bThread, type Event, type RuleThread, type Thread } from "#kernel/behavioral/behavioral.ts"
import { NamedError } from "#util/error.ts"
import { runLimited } from "#util/run-limited.ts"
import { alphabetOf, unknownNames } from "./alphabet.ts"
import { type Action, type Exploration, explore, type Finding } from "./explore.ts"
import { type Named, tabulate, type Unexplored } from "./tabulate.ts"

export type Check = Exploration & {
  guards: string[]
  /** Names of events in the patterns of guards that never happen. */
  unknown: { guard: string; name: string }[]
}

export class UnknownAction extends NamedError {
  constructor(name: string, alphabet: readonly Action[]) {
    const names = alphabet.flatMap((action) => (action.isFact ? [] : action.name))
    super("Guard.UnknownAction", `No action is named "${name}". There are ${names.join(", ")}`, {
      name,
      names,
    })
  }
}

/** `tools`: the ids of all tools. `required`: actions that must stay possible. */
export function checkGuards(
  guards: readonly Guard[],
  { tools, required }: { tools: ReadonlySet<string>; required: readonly string[] },
): Check {
  const alphabet = alphabetOf(guards, tools)
  for (const name of required)
    if (!alphabet.some((action) => action.name === name)) throw new UnknownAction(name, alphabet)
  const begin = [plainEvent("start")]
  const owners = new Map<string, string>()
  const threads = guards.flatMap((guard) => {
    const own = threadsOf(guard, alphabet)
    for (const [thread] of own) owners.set(thread, guard.name)
    return own
  })
  const code = new Set(guards.flatMap(({ name, isCode }) => (isCode ? name : [])))
  const endless = endlessOf(threads, code, [...begin, ...eventsOf(alphabet)])
  const isEndless = (name: string) => endless.some(({ thread }) => thread === name)
  const bounded = threads.filter(([name]) => !isEndless(name))
  const found = independentParts(bounded, alphabet).map((part) =>
    explore({ threads: part, alphabet, begin, required }),
  )
  return {
    guards: guards.map(({ name }) => name),
    unknown: unknownNames(guards, tools).map(([guard, name]) => ({ guard, name })),
    states: found.reduce((sum, { states }) => sum + states, 0),
    isComplete: found.every(({ isComplete }) => isComplete),
    findings: idleAsWhole(
      found.flatMap(({ findings }) => findings),
      owners,
    ),
    unexplored: [...endless, ...found.flatMap(({ unexplored }) => unexplored)],
  }
}

/** Threads of code that takes too long with the events. They are left out: their code cannot be asked. */
function endlessOf(
  threads: readonly Named[],
  code: ReadonlySet<string>,
  given: readonly Event[],
): Unexplored[] {
  const requested = threads.flatMap(([, thread]) => {
    const requests = (thread as Partial<RuleThread>).rules?.map(({ idiom }) => idiom.request) ?? []
    return requests.filter((request) => typeof request === "object")
  })
  return threads.flatMap((one) => {
    const [thread] = one
    if (!code.has(thread) || runLimited(() => tabulate([one], [...given, ...requested]), codeLimit)) return []
    return { thread, reason: `its code ran for more than ${codeLimit} ms and was ended` }
  })
}

function eventsOf(alphabet: readonly Action[]): Event[] {
  return alphabet.flatMap(({ event, results = [] }) => [event, ...results.map((result) => result.event)])
}

/** A guard with several threads is idle only if all of them are. */
function idleAsWhole(findings: readonly Finding[], owners: ReadonlyMap<string, string>): Finding[] {
  const idle = new Set(findings.flatMap((one) => (one.kind === "idle" ? one.thread : [])))
  const busy = new Set([...owners].flatMap(([thread, guard]) => (idle.has(thread) ? [] : guard)))
  const told = new Set<string>()
  return findings.flatMap((one) => {
    if (one.kind !== "idle") return one
    const thread = owners.get(one.thread)!
    if (busy.has(thread) || told.has(thread)) return []
    told.add(thread)
    return { ...one, thread }
  })
}

/** A guard for each value of a field has a thread for each value in the alphabet. */
function threadsOf(guard: Guard, alphabet: readonly Action[]): Named[] {
  if ("thread" in guard) return [[guard.name, withoutInterrupts(guard.thread)]]
  const { key, begins } = guard.each
  const values = eventsOf(alphabet).flatMap((event) => (begins(event) && (event.detail as Detail)[key]) || [])
  return [...new Set(values)].map((value) => [`${guard.name} ${value}`, threadFor(guard.each, value)])
}

/** Guards are never interrupted. */
function withoutInterrupts(thread: Thread): Thread {
  const { rules, repeat } = thread as Partial<RuleThread>
  if (!rules?.some(({ idiom }) => idiom.interrupt !== undefined)) return thread
  return bThread(
    rules.map(({ idiom: { interrupt: _, ...idiom }, next }) => bSync(idiom, next)),
    repeat,
  )
}

/**
 * Guards that have nothing to do with each other are explored apart, since the states of all together are the product of
 * their states. Guards belong together if they block the same action, or if one waits for what the other blocks.
 */
function independentParts(threads: readonly Named[], alphabet: readonly Action[]): Named[][] {
  const results = alphabet.map(({ results = [] }) => results.map((result) => result.event))
  const { tables, events } = tabulate(threads, eventsOf(alphabet))
  const requestsAny = tables.some(({ requests }) => requests.some((request) => request >= 0))
  if (requestsAny) return [[...threads]]
  const part = new Map(threads.map(([name]) => [name, name]))
  const join = (names: string[]) => {
    const old = new Set(names.map((name) => part.get(name)!))
    for (const [name, of] of part) if (old.has(of)) part.set(name, names[0]!)
  }
  const has = (cells: Uint8Array, event: number) => {
    for (let i = event; i < cells.length; i += events.length) if (cells[i]) return true
    return false
  }
  let next = 0
  for (const [i, { isFact }] of alphabet.entries()) {
    const own = [next, ...results[i]!.map((_, k) => next + 1 + k)]
    next += own.length
    const blockers = isFact ? [] : tables.filter(({ blocks }) => has(blocks, own[0]!))
    const waiting = tables.filter(({ hears }) => own.some((event) => has(hears, event)))
    if (blockers.length) join([...blockers, ...waiting].map(({ name }) => name))
  }
  const explored = new Set(tables.map(({ name }) => name))
  return [...Map.groupBy(threads, ([name]) => (explored.has(name) ? part.get(name)! : "")).values()]
}
