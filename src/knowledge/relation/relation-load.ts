// Loads stored nodes into an empty graph, in any order. A node that cannot be used is quarantined with the reason,
// and so are those below it; the rest is loaded.
import type { Graph } from "./relation-graph.ts"
import {
  Cycle,
  InvalidNode,
  NodeExists,
  problemOf,
  type RelationNode,
  UnknownParent,
} from "./relation-node.ts"

export type Quarantined = {
  /** As it was given. */
  node: unknown
  error: InvalidNode | NodeExists | UnknownParent | Cycle
}

/** Nodes of a cycle that an error names. */
const longestWay = 20

export function loadNodes(graph: Graph, given: readonly unknown[]): Quarantined[] {
  const aside: Quarantined[] = []
  const nodes = new Map<string, RelationNode>()
  for (const node of given) {
    const error = refusalOf(node, nodes)
    if (error) aside.push({ node, error })
    else nodes.set((node as RelationNode).id, node as RelationNode)
  }
  addAll(graph, nodes)
  const left = [...nodes.values()].filter(({ id }) => !graph.has(id))
  if (isMoved(graph, nodes)) graph.arrange([...nodes.keys()].filter((id) => graph.has(id)))
  if (left.length === 0) return aside
  const errorOf = explain(new Map(left.map((node) => [node.id, node])), nodes)
  return [...aside, ...left.map((node) => ({ node, error: errorOf(node) }))]
}

function refusalOf(node: unknown, nodes: Map<string, RelationNode>): Quarantined["error"] | undefined {
  const problem = problemOf(node)
  const { id } = (node ?? {}) as RelationNode
  if (problem) return new InvalidNode(id, problem)
  return nodes.has(id) ? new NodeExists(id) : undefined
}

/** Nodes wait until their parents are added. */
function addAll(graph: Graph, nodes: Map<string, RelationNode>): void {
  const waiting = new Map<string, RelationNode[]>()
  const ready: RelationNode[] = []
  const now = Date.now()
  for (const node of nodes.values()) {
    ready.push(node)
    for (let one = ready.pop(); one; one = ready.pop()) {
      const missing = one.parents.find((parent) => !graph.has(parent))
      if (missing === undefined) {
        graph.add(one, Number.isFinite(one.createdAt) ? one.createdAt : now)
        for (const freed of waiting.get(one.id) ?? []) ready.push(freed)
        waiting.delete(one.id)
      } else {
        const others = waiting.get(missing)
        if (others) others.push(one)
        else waiting.set(missing, [one])
      }
    }
  }
}

function isMoved(graph: Graph, nodes: Map<string, RelationNode>): boolean {
  const given = nodes.keys()
  for (const { id } of graph.entries()) if (given.next().value !== id) return true
  return false
}

/** Each remaining node has a parent that also remains or is missing; following the parents leads to a missing one or
 * around a cycle. */
function explain(left: Map<string, RelationNode>, all: Map<string, RelationNode>) {
  const placeOf = new Map<string, { cycle: string[]; at: number }>()
  const seen = new Set<string>()
  const upFrom = ({ parents }: RelationNode) => parents.find((parent) => left.has(parent))
  for (const start of left.keys()) {
    const way: string[] = []
    let id: string | undefined = start
    for (; id !== undefined && !seen.has(id); id = upFrom(left.get(id)!)) {
      seen.add(id)
      way.push(id)
    }
    const from = id === undefined ? -1 : way.indexOf(id)
    const cycle = from < 0 ? [] : way.slice(from)
    for (const [at, one] of cycle.entries()) placeOf.set(one, { cycle, at })
  }
  return (node: RelationNode): Quarantined["error"] => {
    const place = placeOf.get(node.id)
    const unknown = node.parents.find((parent) => !all.has(parent))
    if (unknown !== undefined) return new UnknownParent(node.id, unknown)
    if (place) return new Cycle(wayRound(place))
    return new InvalidNode(node.id, `its parent "${upFrom(node)}" cannot be kept either`)
  }
}

/** The way from a node around its cycle; of a long cycle only the beginning. */
function wayRound({ cycle, at }: { cycle: string[]; at: number }): string[] {
  const way = Array.from(
    { length: Math.min(cycle.length, longestWay) },
    (_, i) => cycle[(at + i) % cycle.length]!,
  )
  return [...way, ...(way.length < cycle.length ? ["…"] : []), cycle[at]!]
}
