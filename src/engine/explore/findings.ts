// What is wrong with a state space.
import { createReach, type Edge, type Move, read, type Space } from "./state-space.ts"
import type { Table, Tables } from "./tabulate.ts"

/** A thread, and what could make it go on: each with the threads that block it. */
export type Waiting = { thread: string; waitsFor: { event: string; blockedBy: string[] }[] }
export type Finding =
  /** From here on the action can never be selected. Without an action: none of the alphabet can. */
  | { kind: "deadlock"; action?: string; blockedBy: Waiting[]; trace: string[] }
  /** From here on none of the threads goes on, since each waits for what the next one blocks. */
  | { kind: "contradiction"; threads: Waiting[]; trace: string[] }
  /** The thread requests for ever. */
  | { kind: "endless"; thread: string; trace: string[] }
  /** The thread blocks no action in any state. */
  | { kind: "idle"; thread: string; reason: string }

type Parts = Tables & { moves: readonly Move[]; space: Space }
/** `resumable`: for each thread, the states from which something can still resume it. */
export type Found = Parts & { reach: ReturnType<typeof createReach>; resumable: Uint8Array[] }

export function createFound(parts: Parts): Found {
  const reach = createReach(parts.space)
  const resumable = [...parts.tables.keys()].map((thread) => reach((edge) => isResumed(parts, thread, edge)))
  return { ...parts, reach, resumable }
}

/** The shortest trace for each set of threads that block. A set that contains another one adds nothing. */
export function findDeadlocks(found: Found, required: readonly string[]): Finding[] {
  const { moves } = found
  const actions = [...moves.keys()].filter((i) => !moves[i]!.action.isFact)
  if (!required.length) return deadlocksOf(found, actions)
  return actions
    .filter((i) => required.includes(moves[i]!.action.name))
    .flatMap((i) => deadlocksOf(found, [i], moves[i]!.action.name))
}

function deadlocksOf(found: Found, actions: readonly number[], name?: string): Finding[] {
  const { moves, space, tables, reach, resumable } = found
  const isLive = reach(({ action }) => actions.includes(action))
  const sets: number[][] = []
  return space.states.flatMap((positions, state): Finding[] => {
    if (isLive[state]) return []
    const events = actions.map((i) => moves[i]!.event)
    if (name === undefined) events.push(...pendingIn(tables, positions))
    const all = [...new Set(events.flatMap((event) => space.blockers(state, event)))]
    // The others may let the action through later.
    const stuck = all.filter((thread) => !resumable[thread]![state])
    const blockers = stuck.length ? stuck : all
    if (!blockers.length || sets.some((set) => set.every((one) => blockers.includes(one)))) return []
    sets.push(blockers)
    const blockedBy = blockers.map((thread) => waitingOf(found, state, thread))
    return [
      {
        kind: "deadlock",
        ...(name === undefined ? {} : { action: name }),
        blockedBy,
        trace: space.trace(state),
      },
    ]
  })
}

/** Threads that nothing can resume again, and that wait for each other. */
export function findContradictions(found: Found): Finding[] {
  const { tables, space, resumable } = found
  const reported = new Set<string>()
  return [...space.states.keys()].flatMap((state) => {
    const blockersOf = (thread: number) =>
      resumable[thread]![state] ? [] : awaitedBy(found, state, thread).flatMap(({ blockers }) => blockers)
    return [...tables.keys()].flatMap((thread): Finding[] => {
      const cycle = shortestCycle(thread, blockersOf)
      const id = cycle?.toSorted().join()
      if (!cycle || !id || reported.has(id)) return []
      reported.add(id)
      const threads = cycle.map((one) => waitingOf(found, state, one))
      return [{ kind: "contradiction", threads, trace: space.trace(state) }]
    })
  })
}

export function findIdle({ tables, events, moves, space }: Found): Finding[] {
  const actions = moves.filter(({ action }) => !action.isFact).map(({ event }) => event)
  const reached = tables.map(({ end }) => new Uint8Array(end + 1))
  const isBusy = tables.map(() => false)
  for (const state of space.states) {
    const positions = read(state)
    const pending = pendingIn(tables, state)
    for (const [i, { blocks }] of tables.entries()) {
      reached[i]![positions[i]!] = 1
      isBusy[i] ||= pending.some((event) => blocks[positions[i]! * events.length + event])
    }
  }
  return tables.flatMap(({ name, blocks, end, isGuard }, i): Finding[] => {
    const blocking = [...Array(end).keys()].filter((at) =>
      actions.some((event) => blocks[at * events.length + event]),
    )
    if (!isGuard || isBusy[i] || blocking.some((at) => reached[i]![at])) return []
    const rules = blocking.map((at) => at + 1).join(", ")
    const reason = blocking.length
      ? `its rule ${rules} is never reached`
      : "it blocks no action of the alphabet"
    return [{ kind: "idle", thread: name, reason }]
  })
}

/** The requests of threads at rest, which are all blocked. */
function pendingIn(tables: readonly Table[], state: string): number[] {
  return tables.map(({ requests }, i) => requests[state.charCodeAt(i)]!).filter((request) => request >= 0)
}

/** Whether the events of an edge resume the thread. */
function isResumed(
  { tables, events, moves, space }: Parts,
  thread: number,
  { from, to, action }: Edge,
): boolean {
  const at = space.states[from]!.charCodeAt(thread)
  if (at !== space.states[to]!.charCodeAt(thread)) return true
  const { event, results } = moves[action]!
  const { hears } = tables[thread]!
  return [event, ...results.map((result) => result.event)].some((one) => hears[at * events.length + one])
}

type Awaited = { name: string; blockers: number[] }

/** What would resume a thread: actions, their results, and requests. */
function awaitedBy({ tables, events, moves, space }: Found, state: number, thread: number): Awaited[] {
  const at = space.states[state]!.charCodeAt(thread)
  const { hears, requests } = tables[thread]!
  const isHeard = (event: number) => hears[at * events.length + event]
  const fromOutside = moves.flatMap(({ action, event, results }): Awaited[] => {
    const heard = isHeard(event) ? action : results.find((result) => isHeard(result.event))
    return heard ? [{ name: heard.name, blockers: action.isFact ? [] : space.blockers(state, event) }] : []
  })
  const fromThreads = pendingIn(tables, space.states[state]!)
    .filter((request) => request === requests[at] || isHeard(request))
    .map((request) => ({ name: events[request]!.type, blockers: space.blockers(state, request) }))
  return [...fromOutside, ...fromThreads]
}

function waitingOf(found: Found, state: number, thread: number): Waiting {
  const nameOf = (one: number) => found.tables[one]!.name
  const waitsFor = awaitedBy(found, state, thread).map(({ name, blockers }) => ({
    event: name,
    blockedBy: blockers.map(nameOf),
  }))
  return { thread: nameOf(thread), waitsFor }
}

function shortestCycle(first: number, next: (thread: number) => number[]): number[] | undefined {
  const paths = [[first]]
  const seen = new Set<number>()
  for (const path of paths)
    for (const one of next(path.at(-1)!)) {
      if (one === first) return path
      if (!seen.has(one)) paths.push([...path, one])
      seen.add(one)
    }
  return undefined
}
