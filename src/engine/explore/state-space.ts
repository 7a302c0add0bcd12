// All states that a set of threads can reach, breadth first. A state is the position of every thread when the program is at
// rest; requests of threads run by priority, as in the core. An edge is an event of the alphabet that was selected.
import type { Event } from "#kernel/behavioral/behavioral.ts"
import type { Tables } from "./tabulate.ts"

/** Something that comes from outside. */
export type Action = Readonly<{
  name: string
  event: Event
  /** It has happened, so nothing can block it. */
  isFact?: boolean
  /** Facts, one of which follows as soon as the action was selected. */
  results?: readonly Readonly<{ name: string; event: Event }>[]
}>

export type Edge = { from: number; to: number; action: number }

export type Space = {
  states: string[]
  /** States before this one have all their edges. */
  expanded: number
  edges: Edge[]
  /** The events on a shortest way to a state. */
  trace(state: number): string[]
  /** The threads that block an event in a state. */
  blockers(state: number, event: number): number[]
  /** Threads that request for ever, and the events that lead to it. */
  endless: { thread: number; trace: string[] }[]
}

/** An event and the facts that may follow, as places in the list of events. */
export type Move = { action: Action; event: number; results: { name: string; event: number }[] }

/** Steps of all threads that are tried: a few seconds. */
const maxWork = 20_000_000

type Input = { moves: readonly Move[]; begin: readonly number[]; tables: Tables; maxStates: number }

export function exploreSpace({ moves, begin, tables: { tables, events }, maxStates }: Input): Space {
  const count = events.length
  const endless: Space["endless"] = []
  const seen = new Map<string, number>()
  const states: string[] = []
  const edges: Edge[] = []
  /** How each state was reached first. */
  const origins: { from: number; names: string[] }[] = []
  let expanded = 0
  add(start(), -1, [])
  // The limit of states does not limit the time: with many guards and events, each state takes long.
  const most = Math.max(1, maxWork / (moves.length * tables.length))
  for (; expanded < Math.min(states.length, most) && states.length < maxStates; expanded++) expand(expanded)
  return {
    states,
    expanded,
    edges,
    trace,
    blockers: (state, event) => blockersIn(read(states[state]!), event),
    endless,
  }

  function expand(from: number): void {
    const positions = read(states[from]!)
    for (const [
      action,
      {
        action: { name, isFact },
        event,
        results,
      },
    ] of moves.entries()) {
      if (!isFact && isBlocked(positions, event)) continue
      const after = settle(resume(positions, event), from, [name])
      if (!results.length) edges.push({ from, to: add(after, from, [name]), action })
      for (const result of results) {
        const names = [name, result.name]
        edges.push({ from, to: add(settle(resume(after, result.event), from, names), from, names), action })
      }
    }
  }

  function add(positions: Uint16Array, from: number, names: string[]): number {
    const state = String.fromCharCode(...positions)
    const known = seen.get(state)
    if (known !== undefined) return known
    origins.push({ from, names })
    seen.set(state, states.length)
    return states.push(state) - 1
  }

  /** Threads are added one after the other, and each may request before the next one is there. */
  function start(): Uint16Array {
    let positions: Uint16Array = Uint16Array.from(tables, ({ end }) => end)
    for (const i of tables.keys()) {
      positions[i] = 0
      positions = settle(positions, -1, [])
    }
    for (const event of begin) positions = settle(resume(positions, event), -1, [])
    return positions
  }

  function resume(positions: Uint16Array, event: number): Uint16Array {
    return positions.map((at, i) => tables[i]!.to[at * count + event]!)
  }

  /** Runs the requests of threads until all are blocked. A state that comes back would come back for ever. */
  function settle(given: Uint16Array, from: number, names: string[]): Uint16Array {
    let positions = given
    const passed = new Set<string>()
    for (;;) {
      const requester = nextRequester(positions)
      if (requester < 0) return positions
      const state = String.fromCharCode(...positions)
      const { requests, afterRequest, end } = tables[requester]!
      const at = positions[requester]!
      positions = resume(positions, requests[at]!)
      positions[requester] = afterRequest[at]!
      if (!passed.has(state)) {
        passed.add(state)
        continue
      }
      // The core ends a thread at its limit of steps.
      positions[requester] = end
      if (!endless.some(({ thread }) => thread === requester))
        endless.push({ thread: requester, trace: [...trace(from), ...names] })
    }
  }

  function nextRequester(positions: Uint16Array): number {
    return tables.findIndex(({ requests }, i) => {
      const request = requests[positions[i]!]!
      return request >= 0 && !isBlocked(positions, request)
    })
  }

  function isBlocked(positions: Uint16Array, event: number): boolean {
    for (let i = 0; i < tables.length; i++) if (tables[i]!.blocks[positions[i]! * count + event]) return true
    return false
  }

  function blockersIn(positions: Uint16Array, event: number): number[] {
    return [...tables.keys()].filter((i) => tables[i]!.blocks[positions[i]! * count + event])
  }

  function trace(state: number): string[] {
    const parts: string[][] = []
    for (let at = state; at >= 0; at = origins[at]!.from) parts.unshift(origins[at]!.names)
    return parts.flat()
  }
}

/** The position of each thread. */
export function read(state: string): Uint16Array {
  const positions = new Uint16Array(state.length)
  for (let i = 0; i < positions.length; i++) positions[i] = state.charCodeAt(i)
  return positions
}

/** Returns a function that marks the states that can still reach an edge that passes the test. A state whose edges are
 * unknown is marked too. */
export function createReach({
  states,
  expanded,
  edges,
}: Space): (test: (edge: Edge) => boolean) => Uint8Array {
  // The edges sorted by the state that they lead to.
  const first = new Uint32Array(states.length + 1)
  for (const { to } of edges) first[to + 1]!++
  for (let state = 0; state < states.length; state++) first[state + 1]! += first[state]!
  const sources = new Uint32Array(edges.length)
  const next = first.slice()
  for (const { from, to } of edges) sources[next[to]!++] = from
  return (test) => {
    const isMarked = new Uint8Array(states.length)
    const queue: number[] = []
    const mark = (state: number) => {
      if (isMarked[state]) return
      isMarked[state] = 1
      queue.push(state)
    }
    for (let state = expanded; state < states.length; state++) mark(state)
    for (const edge of edges) if (!isMarked[edge.from] && test(edge)) mark(edge.from)
    for (let state = queue.pop(); state !== undefined; state = queue.pop())
      for (let i = first[state]!; i < first[state + 1]!; i++) mark(sources[i]!)
    return isMarked
  }
}
