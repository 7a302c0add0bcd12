import assert from "node:assert/strict"
import { test } from "node:test"
import type { NodeContext, RelationNode } from "#knowledge/relation/relation-node.ts"
import { createRelationStore } from "#knowledge/relation/relation-store.ts"

const node = (id: string, parents: string[] = [], more: object = {}) => ({
  id,
  parents,
  edgeType: "step",
  context: { description: `about ${id}`, ...more },
})
const idsOf = (nodes: RelationNode[]) => nodes.map(({ id }) => id)
/** a above b and c, d below both. */
function diamond() {
  const store = createRelationStore({})
  store.add(node("a"))
  store.add(node("b", ["a"]))
  store.add(node("c", ["a"]))
  store.add(node("d", ["b", "c", "b"]))
  return store
}

test("The usage example of createRelationStore() runs as written", async () => {
  let kept: RelationNode[] = []
  const loadFromSomewhere = async () => kept
  const saveToSomewhere = async (nodes: RelationNode[]) => {
    kept = nodes
  }

  const savedData = await loadFromSomewhere()

  const store = createRelationStore({
    initialNodes: savedData,
    onPersist: (nodes) => saveToSomewhere(nodes),
  })

  store.add({
    id: "plan-auth",
    parents: [],
    edgeType: "plan",
    context: { description: "Implement auth", status: "in_progress" },
  })

  store.add({
    id: "step-1",
    parents: ["plan-auth"],
    edgeType: "step",
    context: { description: "Create User model", status: "pending" },
  })

  assert.deepEqual(idsOf(store.children("plan-auth")), ["step-1"])
  assert.deepEqual(idsOf(store.byStatus("pending")), ["step-1"])
  assert.equal(
    store.toContext(["plan-auth"]),
    "Plan: Implement auth (0 of 1 done)\n[ ] step-1: Create User model",
  )

  await store.persist()
  assert.deepEqual(kept, store.all())
  assert.deepEqual(createRelationStore({ initialNodes: kept }).all(), store.all())
})

/** Each function with exactly these types. */
type Typed = {
  add: (node: Omit<RelationNode, "createdAt">) => void
  update: (id: string, updates: Partial<NodeContext>) => void
  remove: (id: string) => void
  get: (id: string) => RelationNode | undefined
  has: (id: string) => boolean
  ancestors: (id: string) => RelationNode[]
  descendants: (id: string) => RelationNode[]
  parents: (id: string) => RelationNode[]
  children: (id: string) => RelationNode[]
  roots: () => RelationNode[]
  leaves: () => RelationNode[]
  byEdgeType: (edgeType: string) => RelationNode[]
  byStatus: (status: NodeContext["status"]) => RelationNode[]
  wouldCreateCycle: (from: string, toParents: string[]) => boolean
  toContext: (ids: string[]) => string
  persist: () => void | Promise<void>
  all: () => RelationNode[]
  clear: () => void
  size: () => number
}

test("createRelationStore() returns exactly the typed functions", () => {
  const store: Typed = createRelationStore({})
  const names =
    "add update remove get has ancestors descendants parents children roots leaves byEdgeType byStatus wouldCreateCycle toContext persist all clear size"
  assert.deepEqual(Object.keys(store), names.split(" "))
})

test("createRelationStore() returns a frozen object that handles a diamond", () => {
  const store = diamond()
  assert.ok(Object.isFrozen(store))
  assert.deepEqual(idsOf(store.ancestors("d")), ["b", "c", "a"])
  assert.deepEqual(idsOf(store.descendants("a")), ["b", "c", "d"])
  assert.deepEqual(idsOf(store.parents("d")), ["b", "c"])
  assert.deepEqual(idsOf(store.children("a")), ["b", "c"])
  assert.deepEqual(idsOf(store.roots()), ["a"])
  assert.deepEqual(idsOf(store.leaves()), ["d"])
  assert.deepEqual(idsOf(store.byEdgeType("step")), ["a", "b", "c", "d"])
  assert.deepEqual(store.byEdgeType("plan"), [])
  assert.deepEqual(
    [store.has("a"), store.has("x"), store.get("x"), store.size()],
    [true, false, undefined, 4],
  )
  for (const ask of [store.ancestors, store.descendants, store.parents, store.children])
    assert.deepEqual(ask("x"), [])
  store.clear()
  assert.deepEqual([store.size(), store.all(), store.has("a")], [0, [], false])
  store.add(node("a"))
  assert.deepEqual(store.children("a"), [])
})

test("add() sets createdAt, and later changes of the passed node do not affect the store", () => {
  const store = createRelationStore()
  const before = Date.now()
  const given = node("a", [], { tags: ["x"] })
  store.add(given)
  store.add(node("b", ["a"]))
  const got = store.get("a")!
  assert.ok(got.createdAt >= before && got.createdAt <= Date.now())
  given.parents.push("b")
  given.context.description = "other"
  got.parents.push("b")
  got.context.description = "other"
  assert.deepEqual(store.ancestors("a"), [])
  assert.equal(store.get("a")!.context.description, "about a")
})

test("update() merges, and cannot move a node whatever it is given", () => {
  const store = diamond()
  store.update("d", { status: "done", owner: "me" })
  store.update("d", { status: "failed" })
  assert.deepEqual(store.get("d")!.context, { description: "about d", status: "failed", owner: "me" })
  store.update("a", { parents: ["d"], id: "x" })
  assert.deepEqual(store.ancestors("a"), [])
  assert.deepEqual(idsOf(store.descendants("a")), ["b", "c", "d"])
  assert.throws(() => store.update("x", { status: "done" }), {
    name: "RelationStore.NodeNotFound",
    message: 'Node "x" does not exist.',
  })
  assert.throws(() => store.update("a", { status: "over" as "done" }), /its status is "over", and not one of/)
  assert.throws(() => store.update("a", { description: 7 as never }), /its description is not a text/)
  assert.equal(store.get("a")!.context.status, undefined)
})

test("remove() leaves the node in no list of parents and of children", () => {
  const store = diamond()
  store.remove("b")
  assert.deepEqual(store.get("d")!.parents, ["c"])
  assert.deepEqual(idsOf(store.children("a")), ["c"])
  store.remove("a")
  assert.deepEqual(idsOf(store.roots()), ["c"])
  store.remove("nothing")
  store.add(node("a", ["d"]))
  assert.deepEqual(idsOf(store.ancestors("a")), ["d", "c"])
  store.remove("d")
  assert.deepEqual(idsOf(store.roots()), ["c", "a"])
  assert.deepEqual(store.children("c"), [])
})

test("add() refuses unknown parents, itself as a parent, a used id, and invalid nodes", () => {
  const store = diamond()
  const refused = (given: unknown) => () => store.add(given as ReturnType<typeof node>)
  assert.throws(refused(node("e", ["a", "x"])), {
    name: "RelationStore.UnknownParent",
    message: 'Node "e" names the parent "x", which does not exist. Add parents first.',
  })
  assert.throws(refused(node("e", ["e"])), {
    name: "RelationStore.Cycle",
    message: 'Node "e" would be its own ancestor: "e" → "e".',
  })
  assert.throws(refused(node("a", ["d"])), { name: "RelationStore.NodeExists" })
  const none = [undefined, null, 7, {}, { ...node("e"), id: "" }, { ...node("e"), parents: "a" }]
  for (const given of [...none, { ...node("e"), parents: [1] }, { ...node("e"), context: null }])
    assert.throws(refused(given), { name: "RelationStore.InvalidNode" }, JSON.stringify(given))
  assert.deepEqual(idsOf(store.all()), ["a", "b", "c", "d"])
})

test("wouldCreateCycle() is true for the node itself and all that is below it, and changes nothing", () => {
  const store = diamond()
  const before = store.all()
  const asked: [from: string, parents: string[], expected: boolean][] = [
    ["a", ["a"], true],
    ["a", ["d"], true],
    ["b", ["d"], true],
    ["b", ["c"], false],
    ["b", ["a", "c"], false],
    ["d", ["a", "b", "c"], false],
    ["b", ["a", "d"], true],
    ["new", ["d"], false],
    ["new", ["new"], true],
    ["a", ["new"], false],
    ["a", [], false],
  ]
  for (const [from, parents, expected] of asked)
    assert.equal(store.wouldCreateCycle(from, parents), expected, `${from} below ${parents}`)
  assert.deepEqual(store.all(), before)
})

test("A chain of 100 000 nodes can be walked, loaded from its end, and written out", () => {
  const nodes = Array.from({ length: 100_000 }, (_, i) => ({
    ...node(`n${i}`, i ? [`n${i - 1}`] : []),
    createdAt: i,
  }))
  const store = createRelationStore({ initialNodes: nodes.toReversed() })
  assert.equal(store.ancestors("n99999").length, 99_999)
  assert.equal(store.descendants("n0").length, 99_999)
  assert.equal(store.wouldCreateCycle("n0", ["n99999"]), true)
  assert.deepEqual(store.all(), nodes.toReversed())
  assert.equal(store.toContext(["n0"]).split("\n").length, 100_000)
})
