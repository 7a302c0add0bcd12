import assert from "node:assert/strict"
import { test } from "node:test"
import type { RelationNode } from "#knowledge/relation/relation-node.ts"
import { createRelationStore, type RelationStoreConfig } from "#knowledge/relation/relation-store.ts"

type Quarantined = Parameters<NonNullable<RelationStoreConfig["onQuarantine"]>>[0]

const node = (id: string, ...parents: string[]): RelationNode => ({
  id,
  parents,
  edgeType: "step",
  context: { description: id },
  createdAt: 1,
})

function load(nodes: unknown[]) {
  let aside: Quarantined = []
  const store = createRelationStore({
    initialNodes: nodes as RelationNode[],
    onQuarantine: (nodes) => {
      aside = nodes
    },
  })
  return {
    store,
    loaded: store.all().map(({ id }) => id),
    aside: aside.map(({ node, error }) => `${(node as RelationNode | null)?.id}: ${error.message}`),
  }
}

test("initialNodes may come in any order, and keep it", () => {
  const { loaded, aside, store } = load([node("d", "b", "c"), node("c", "a"), node("b", "a"), node("a")])
  assert.deepEqual(loaded, ["d", "c", "b", "a"])
  assert.deepEqual(aside, [])
  assert.deepEqual(
    store.children("a").map(({ id }) => id),
    ["c", "b"],
  )
  assert.equal(store.get("a")!.createdAt, 1)
})

test("a cycle in initialNodes is quarantined with everything below it; the rest is loaded", () => {
  const { loaded, aside, store } = load([
    node("root"),
    node("below", "z"),
    node("x", "root", "z"),
    node("y", "x"),
    node("z", "y"),
    node("fine", "root"),
  ])
  assert.deepEqual(loaded, ["root", "fine"])
  assert.deepEqual(aside, [
    'below: Node "below" cannot be kept: its parent "z" cannot be kept either.',
    'x: Node "x" would be its own ancestor: "x" → "z" → "y" → "x".',
    'y: Node "y" would be its own ancestor: "y" → "x" → "z" → "y".',
    'z: Node "z" would be its own ancestor: "z" → "y" → "x" → "z".',
  ])
  assert.deepEqual(
    store.children("root").map(({ id }) => id),
    ["fine"],
  )
})

test("Unknown parents, self parents, ids that come twice and what is no node are quarantined", () => {
  const { loaded, aside } = load([
    node("a"),
    node("b", "nowhere"),
    node("c", "b"),
    node("d", "a", "d"),
    { ...node("a"), context: { description: "other" } },
    null,
    { id: "e" },
    node("f", "a"),
  ])
  assert.deepEqual(loaded, ["a", "f"])
  assert.deepEqual(aside, [
    'a: Node "a" exists already. update() changes its content.',
    "undefined: Node undefined cannot be kept: it is not an object.",
    'e: Node "e" cannot be kept: its parents are not a list.',
    'b: Node "b" names the parent "nowhere", which does not exist. Add parents first.',
    'c: Node "c" cannot be kept: its parent "b" cannot be kept either.',
    'd: Node "d" would be its own ancestor: "d" → "d".',
  ])
})

test("an error thrown in onQuarantine leaves no half-loaded store", () => {
  const strict = () =>
    createRelationStore({
      initialNodes: [node("a", "a")],
      onQuarantine: ([first]) => {
        throw first!.error
      },
    })
  assert.throws(strict, { name: "RelationStore.Cycle" })
})

test("A long cycle costs what its nodes cost, and is named by its beginning", () => {
  const count = 50_000
  const { loaded, aside } = load(
    Array.from({ length: count }, (_, i) => node(`n${i}`, `n${(i + 1) % count}`)),
  )
  assert.deepEqual(loaded, [])
  assert.equal(aside.length, count)
  assert.match(
    aside[0]!,
    /^n0: Node "n0" would be its own ancestor: "n0" → "n1" → .* → "n19" → "…" → "n0"\.$/,
  )
})

test("values that are not JSON are refused by name", () => {
  const store = createRelationStore()
  const round: Record<string, unknown> = {}
  round.self = round
  for (const id of [1n, round, Symbol("x")])
    assert.throws(() => store.add({ ...node("a"), id: id as never }), { name: "RelationStore.InvalidNode" })
  const context = { description: "a", status: 1n as never }
  assert.throws(() => store.add({ ...node("a"), context }), /its status is 1n, and not one of pending/)
})
