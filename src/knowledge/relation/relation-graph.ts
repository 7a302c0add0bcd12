// The nodes of a relation store and their links. A node is added after its parents and never gets others, so there is
// no cycle, and a search can stop at nodes that were added before its target.
import { type RelationNode, UnknownParent } from "./relation-node.ts"

export type Entry = Omit<RelationNode, "parents"> & {
  /** A single parent without a list, to save memory; `above` reads it. */
  parents: Entry | readonly Entry[]
  /** Removed children stay in it until they are half of it; only `below` reads it. */
  children: Entry[] | undefined
  lost: number
  /** Higher than those of all parents; -1 when it was removed. */
  place: number
  /** The number of the last traversal that visited it. */
  walk: number
}
export type Graph = ReturnType<typeof createGraph>

const none: readonly Entry[] = Object.freeze([])

export function createGraph() {
  let entries = new Map<string, Entry>()
  /** Not yet linked to their parents: the next query links them, so that adding is cheap. */
  let fresh: Entry[] = []
  let placed = 0
  let walks = 0

  /** The id must be free. */
  function add(node: RelationNode | Omit<RelationNode, "createdAt">, createdAt: number): Entry {
    const { id, edgeType, context } = node
    const entry: Entry = {
      id,
      parents: parentsFor(node),
      edgeType,
      context: { ...context },
      createdAt,
      children: undefined,
      lost: 0,
      place: placed++,
      walk: 0,
    }
    entries.set(id, entry)
    fresh.push(entry)
    return entry
  }

  function parentsFor({ id, parents }: Pick<RelationNode, "id" | "parents">): Entry["parents"] {
    if (parents.length === 0) return none
    if (parents.length === 1) return parentFor(id, parents[0]!)
    return [...new Set(parents)].map((parent) => parentFor(id, parent))
  }

  function parentFor(id: string, parent: string): Entry {
    const found = entries.get(parent)
    if (found === undefined) throw new UnknownParent(id, parent)
    return found
  }

  /** Its children lose it as a parent. */
  function remove(entry: Entry): void {
    for (const child of below(entry)) child.parents = above(child).filter((parent) => parent !== entry)
    entry.place = -1
    for (const parent of above(entry))
      if (++parent.lost * 2 > parent.children!.length) {
        parent.children = parent.children!.filter(({ place }) => place >= 0)
        parent.lost = 0
      }
    entries.delete(entry.id)
  }

  function below(entry: Entry): readonly Entry[] {
    for (const one of fresh) for (const parent of above(one)) addChild(parent, one)
    if (fresh.length) fresh = []
    if (entry.children === undefined) return none
    return entry.lost === 0 ? entry.children : entry.children.filter(({ place }) => place >= 0)
  }

  /** All nodes that can be reached, each once, breadth first. */
  function reach(from: readonly Entry[], next: (entry: Entry) => readonly Entry[]): Entry[] {
    const walk = ++walks
    const found: Entry[] = []
    const take = (entry: Entry) => {
      if (entry.walk === walk) return
      entry.walk = walk
      found.push(entry)
    }
    for (const entry of from) for (const one of next(entry)) take(one)
    for (let i = 0; i < found.length; i++) for (const one of next(found[i]!)) take(one)
    return found
  }

  /** Whether one of `starts` is `goal` or below it. */
  function leadTo(starts: readonly Entry[], goal: Entry): boolean {
    if (!below(goal).length) return false
    const later = (list: readonly Entry[]) => list.filter(({ place }) => place >= goal.place)
    return reach(later(starts), (entry) => later(above(entry))).includes(goal)
  }

  /** Sets the order of all nodes, and of children. Only before the first query. */
  function arrange(ids: readonly string[]): void {
    entries = new Map(ids.map((id) => [id, entries.get(id)!]))
    fresh = [...entries.values()]
  }

  function clear(): void {
    entries = new Map()
    fresh = []
  }

  return {
    get: (id: string) => entries.get(id),
    has: (id: string) => entries.has(id),
    entries: () => entries.values(),
    size: () => entries.size,
    add,
    remove,
    below,
    reach,
    leadTo,
    arrange,
    clear,
  }
}

export function above({ parents }: Entry): readonly Entry[] {
  return "id" in parents ? [parents] : parents
}

/** A copy for callers. Only nested values of its context are shared. */
export function nodeOf(entry: Entry): RelationNode {
  const { id, edgeType, context, createdAt } = entry
  return {
    id,
    parents: above(entry).map((parent) => parent.id),
    edgeType,
    context: { ...context },
    createdAt,
  }
}

/** The first two children are not pushed: `push` reserves space for many more, and most nodes have few children. */
function addChild(parent: Entry, child: Entry): void {
  const { children } = parent
  if (children === undefined) parent.children = [child]
  else if (children.length === 1) parent.children = [children[0]!, child]
  else children.push(child)
}
