// Relations in memory: plans and their steps, files, agents, or anything else with a hierarchy. A node may have
// several parents, and never itself among its ancestors. The creator of the store decides where it is persisted.
import * as Log from "#kernel/process/log.ts"
import { formatPlanContext, formatRelationsForContext } from "./format-relations.ts"
import { createPersister } from "./persister.ts"
import { above, createGraph, type Entry, nodeOf } from "./relation-graph.ts"
import { loadNodes, type Quarantined } from "./relation-load.ts"
import {
  Cycle,
  contextProblem,
  InvalidNode,
  type NodeContext,
  NodeExists,
  NodeNotFound,
  problemOf,
  type RelationNode,
} from "./relation-node.ts"

export type RelationStoreConfig = {
  /** Stores all nodes. */
  onPersist?: (nodes: RelationNode[]) => void | Promise<void>
  initialNodes?: RelationNode[]
  /** Persist after each change; default: false. */
  autoPersist?: boolean
  /** Gets the invalid nodes of `initialNodes`, with the reasons. Default: they are logged. */
  onQuarantine?: (nodes: Quarantined[]) => void
}
export type RelationStore = ReturnType<typeof createRelationStore>

export function createRelationStore(config: RelationStoreConfig = {}) {
  const { onPersist, initialNodes = [], autoPersist = false, onQuarantine = warn } = config
  const graph = createGraph()
  const { persist, persistSoon } = createPersister(all, onPersist)
  const aside = loadNodes(graph, initialNodes)
  if (aside.length) onQuarantine(aside)

  /** A new node has no children, so there is a cycle only if it is its own parent. */
  function add(node: Omit<RelationNode, "createdAt">): void {
    const problem = problemOf(node)
    if (problem) throw new InvalidNode(node?.id, problem)
    if (graph.has(node.id)) throw new NodeExists(node.id)
    if (node.parents.includes(node.id)) throw new Cycle([node.id, node.id])
    graph.add(node, Date.now())
    changed()
  }

  /** Changes the content of a node, never its parents. */
  function update(id: string, updates: Partial<NodeContext>): void {
    const entry = graph.get(id)
    if (!entry) throw new NodeNotFound(id)
    const context = { ...entry.context, ...updates }
    const problem = contextProblem(context)
    if (problem) throw new InvalidNode(id, problem)
    entry.context = context
    changed()
  }

  /** Nodes below it stay, without it. A missing node is no error. */
  function remove(id: string): void {
    const entry = graph.get(id)
    if (!entry) return
    graph.remove(entry)
    changed()
  }

  function clear(): void {
    graph.clear()
    changed()
  }

  function changed(): void {
    if (autoPersist) persistSoon()
  }

  function get(id: string): RelationNode | undefined {
    const entry = graph.get(id)
    return entry && nodeOf(entry)
  }

  function all(): RelationNode[] {
    return where(() => true)
  }

  function where(isMeant: (entry: Entry) => boolean): RelationNode[] {
    const found: RelationNode[] = []
    for (const entry of graph.entries()) if (isMeant(entry)) found.push(nodeOf(entry))
    return found
  }

  function around(id: string, pick: (entry: Entry) => readonly Entry[]): RelationNode[] {
    const entry = graph.get(id)
    return entry ? pick(entry).map(nodeOf) : []
  }

  function wouldCreateCycle(from: string, toParents: string[]): boolean {
    if (toParents.includes(from)) return true
    const goal = graph.get(from)
    if (!goal) return false
    return graph.leadTo(
      toParents.flatMap((id) => graph.get(id) ?? []),
      goal,
    )
  }

  /** Formats these nodes, with everything below them, for a model. Finished steps of a plan are in one line. */
  function toContext(ids: string[]): string {
    const named = ids.flatMap((id) => graph.get(id) ?? [])
    const nodes = [...new Set([...named, ...graph.reach(named, graph.below)])].map(nodeOf)
    const isPlan = named.every(({ edgeType }) => edgeType === "plan")
    return isPlan ? formatPlanContext(nodes) : formatRelationsForContext(nodes)
  }

  return Object.freeze({
    add,
    update,
    remove,
    get,
    has: (id: string) => graph.has(id),
    /** Nearest first. */
    ancestors: (id: string) => around(id, (entry) => graph.reach([entry], above)),
    descendants: (id: string) => around(id, (entry) => graph.reach([entry], graph.below)),
    parents: (id: string) => around(id, above),
    children: (id: string) => around(id, graph.below),
    roots: () => where((entry) => above(entry).length === 0),
    leaves: () => where((entry) => graph.below(entry).length === 0),
    byEdgeType: (edgeType: string) => where((entry) => entry.edgeType === edgeType),
    byStatus: (status: NodeContext["status"]) => where(({ context }) => context.status === status),
    wouldCreateCycle,
    toContext,
    persist,
    all,
    clear,
    size: () => graph.size(),
  })
}

function warn(aside: Quarantined[]): void {
  for (const { error } of aside.slice(0, 5)) Log.warn("a relation was quarantined", { error: error.message })
  if (aside.length > 5) Log.warn("more relations were quarantined", { count: aside.length - 5 })
}
