// 100 000 random operations, each compared with the simplest correct implementation.
import assert from "node:assert/strict"
import { test } from "node:test"
import { type NodeContext, type RelationNode, statuses } from "#knowledge/relation/relation-node.ts"
import { createRelationStore } from "#knowledge/relation/relation-store.ts"
import { createRandom } from "../../fixture/random.ts"

type Node = Omit<RelationNode, "createdAt">

/** Looks at every node for every question. */
function naive() {
  let nodes: Node[] = []
  const get = (id: string) => nodes.find((node) => node.id === id)
  const children = (id: string) => nodes.filter(({ parents }) => parents.includes(id)).map((node) => node.id)
  const reach = (id: string, next: (id: string) => string[]) => {
    const found = new Set<string>()
    const walk = (one: string) => {
      for (const other of next(one)) if (!found.has(other)) walk(found.add(other) && other)
    }
    walk(id)
    return [...found]
  }
  return {
    nodes: () => nodes,
    get,
    children,
    ancestors: (id: string) => reach(id, (one) => get(one)?.parents ?? []),
    descendants: (id: string) => reach(id, children),
    isRefused: ({ id, parents }: Node) =>
      get(id) !== undefined || parents.some((parent) => parent === id || !get(parent)),
    add: (node: Node) => void nodes.push({ ...node, parents: [...new Set(node.parents)] }),
    remove(id: string) {
      nodes = nodes.filter((node) => node.id !== id)
      for (const node of nodes) node.parents = node.parents.filter((parent) => parent !== id)
    },
    clear() {
      nodes = []
    },
  }
}

test("100 000 random operations agree with a naive model", () => {
  const random = createRandom(9)
  const store = createRelationStore()
  const model = naive()
  const plain = ({ id, parents, edgeType, context }: RelationNode) => ({ id, parents, edgeType, context })
  const sorted = (nodes: RelationNode[]) => nodes.map(({ id }) => id).sort()
  /** Mostly of what is there, so that there is something to find. */
  const anId = () => {
    const nodes = model.nodes()
    return nodes.length && random(4) ? nodes[random(nodes.length)]!.id : newId()
  }
  const newId = () => `n${random(60)}`
  const someIds = (count: number) => Array.from({ length: count }, anId)
  const aStatus = () => statuses[random(statuses.length)]!
  const counts = { added: 0, refused: 0, cycles: 0 }

  function change() {
    const dice = random(100)
    const id = dice < 55 ? newId() : anId()
    if (dice < 55) {
      const context: NodeContext = { description: id, status: aStatus() }
      const node = { id, parents: someIds(random(4)), edgeType: `kind${random(3)}`, context }
      if (model.isRefused(node)) {
        assert.throws(() => store.add(node), { name: /^RelationStore\.(NodeExists|UnknownParent|Cycle)$/ })
        counts.refused++
      } else {
        store.add(node)
        model.add(node)
        counts.added++
      }
    } else if (dice < 75) {
      store.remove(id)
      model.remove(id)
    } else if (dice < 99) {
      const status = aStatus()
      const known = model.get(id)
      if (!known) assert.throws(() => store.update(id, { status }), { name: "RelationStore.NodeNotFound" })
      else {
        store.update(id, { status })
        known.context = { ...known.context, status }
      }
    } else if (random(20) === 0) {
      store.clear()
      model.clear()
    }
  }

  const questions: (() => void)[] = [
    () => assert.deepEqual(store.all().map(plain), model.nodes()),
    () => {
      const id = anId()
      assert.deepEqual(sorted(store.ancestors(id)), model.ancestors(id).sort())
      assert.deepEqual(sorted(store.descendants(id)), model.descendants(id).sort())
    },
    () => {
      const id = anId()
      assert.deepEqual(sorted(store.children(id)), model.children(id).sort())
      assert.deepEqual(sorted(store.parents(id)), (model.get(id)?.parents ?? []).toSorted())
    },
    () => {
      const [from, parents] = [anId(), someIds(1 + random(3))]
      const below = new Set([from, ...model.descendants(from)])
      const expected = parents.some((parent) => below.has(parent))
      assert.equal(store.wouldCreateCycle(from, parents), expected)
      if (expected) counts.cycles++
    },
    () => {
      assert.deepEqual(
        sorted(store.roots()),
        model
          .nodes()
          .filter(({ parents }) => parents.length === 0)
          .map(({ id }) => id)
          .sort(),
      )
      assert.deepEqual(
        sorted(store.leaves()),
        model
          .nodes()
          .filter(({ id }) => !model.children(id).length)
          .map(({ id }) => id)
          .sort(),
      )
    },
    () => {
      const status = aStatus()
      const expected = model.nodes().filter(({ context }) => context.status === status)
      assert.deepEqual(store.byStatus(status).map(plain), expected)
    },
    () => assert.deepEqual(createRelationStore({ initialNodes: store.all() }).all(), store.all()),
  ]

  for (let i = 0; i < 100_000; i++) {
    change()
    if (i % 4 === 0) questions[random(questions.length)]!()
    assert.equal(store.size(), model.nodes().length)
  }
  assert.ok(counts.added > 10_000 && counts.refused > 10_000 && counts.cycles > 300, JSON.stringify(counts))
})
