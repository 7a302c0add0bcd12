// Explores what a set of threads can do, before it runs: deadlocks, threads that wait for each other, and threads that block
// nothing. docs/guards.md defines each of them.
import type { Event } from "#kernel/behavioral/behavioral.ts"
import { createFound, type Finding, findContradictions, findDeadlocks, findIdle } from "./findings.ts"
import { type Action, exploreSpace, type Move } from "./state-space.ts"
import { type Named, type Tables, tabulate, type Unexplored } from "./tabulate.ts"

export type { Finding } from "./findings.ts"
export type { Action } from "./state-space.ts"

export type Exploration = {
  states: number
  /** False: the limit of states was reached, so that nothing is said about what comes after them. */
  isComplete: boolean
  findings: Finding[]
  unexplored: Unexplored[]
}

type Question = {
  threads: readonly Named[]
  alphabet: readonly Action[]
  /** Facts that come before everything else. */
  begin?: readonly Event[]
  /** Names of actions that must stay possible. Without any: one of the actions must. */
  required?: readonly string[]
  maxStates?: number
}

export function explore(question: Question): Exploration {
  const { threads, alphabet, begin = [], required = [], maxStates = 200_000 } = question
  const given = alphabet.flatMap(({ event, results = [] }) => [
    event,
    ...results.map((result) => result.event),
  ])
  const tables = tabulate(threads, [...begin, ...given])
  const moves = withoutAlike(movesOf(alphabet, begin.length), tables, required)
  const space = exploreSpace({ moves, begin: [...begin.keys()], tables, maxStates })
  const isComplete = space.expanded === space.states.length
  const found = createFound({ ...tables, moves, space })
  return {
    states: space.states.length,
    isComplete,
    findings: [
      ...findDeadlocks(found, required),
      ...findContradictions(found),
      ...space.endless.map(
        ({ thread, trace }): Finding => ({
          kind: "endless",
          thread: tables.tables[thread]!.name,
          trace,
        }),
      ),
      ...(isComplete ? findIdle(found) : []),
    ],
    unexplored: tables.unexplored,
  }
}

/** The alphabet as places in the list of events. */
function movesOf(alphabet: readonly Action[], first: number): Move[] {
  let next = first
  return alphabet.map((action) => ({
    action,
    event: next++,
    results: (action.results ?? []).map(({ name }) => ({ name, event: next++ })),
  }))
}

/** Of actions that no thread can tell apart, only the first is explored. */
function withoutAlike(
  moves: readonly Move[],
  { tables, events }: Tables,
  required: readonly string[],
): Move[] {
  const column = (event: number) =>
    tables.map(({ blocks, hears, to, end }) =>
      Array.from({ length: end }, (_, at) => {
        const cell = at * events.length + event
        return blocks[cell]! + 2 * hears[cell]! + 4 * to[cell]!
      }),
    )
  const seen = new Set<string>()
  return moves.filter(({ action: { name, isFact }, event, results }) => {
    const columns = [event, ...results.map((result) => result.event)].map(column)
    const key = JSON.stringify([required.includes(name) && name, isFact, columns])
    return !seen.has(key) && seen.add(key)
  })
}
