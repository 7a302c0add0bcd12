// Explores what a set of threads can do, before it runs: deadlocks, threads that wait for each other, and threads that block
// nothing. docs/guards.md defines each of them.
import { type Finding, findContradictions, findDeadlocks, findIdle } from "./findings.ts"
import { type Action, createReach, exploreSpace, type Move } from "./state-space.ts"
import { type Named, tabulate, type Unexplored } from "./tabulate.ts"

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
  /** Names of actions that must stay possible. Without any: one of the actions must. */
  required?: readonly string[]
  maxStates?: number
}

export function explore({ threads, alphabet, required = [], maxStates = 200_000 }: Question): Exploration {
  const given = alphabet.flatMap(({ event, results = [] }) => [
    event,
    ...results.map((result) => result.event),
  ])
  const tables = tabulate(threads, given)
  let next = 0
  const moves = alphabet.map((action): Move => {
    const event = next++
    return { action, event, results: (action.results ?? []).map(({ name }) => ({ name, event: next++ })) }
  })
  const space = exploreSpace(moves, tables, maxStates)
  const isComplete = space.expanded === space.states.length
  const found = { ...tables, moves, space, reach: createReach(space) }
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
