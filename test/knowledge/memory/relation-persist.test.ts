// Persisting a relation store: callbacks that are slow, fail, or never return.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setImmediate } from "node:timers/promises"
import * as Log from "#kernel/process/log.ts"
import type { RelationNode } from "#knowledge/relation/relation-node.ts"
import { createRelationStore } from "#knowledge/relation/relation-store.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const node = (id: string) => ({ id, parents: [], edgeType: "x", context: { description: id } })
const idsOf = (nodes: RelationNode[]) => nodes.map(({ id }) => id).join("")

/** What is logged while something runs. */
async function logOf(fn: () => Promise<void>): Promise<string> {
  await using tmp = await tmpdir()
  const file = join(tmp.path, "log")
  tmp.write("log", "")
  Log.setFile(file)
  try {
    await fn()
    return readFileSync(file, "utf8")
  } finally {
    Log.setFile(undefined)
  }
}

/** A callback that ends when the test says so. */
function slow() {
  const calls: { ids: string; end: () => void; fail: (error: Error) => void }[] = []
  const onPersist = (nodes: RelationNode[]) =>
    new Promise<void>((end, fail) => void calls.push({ ids: idsOf(nodes), end, fail }))
  return { calls, onPersist }
}

test("persist() calls onPersist with all nodes, waits where that waits, and does nothing without it", async () => {
  assert.equal(createRelationStore().persist(), undefined)
  const seen: string[] = []
  const store = createRelationStore({ onPersist: (nodes) => void seen.push(idsOf(nodes)) })
  store.add(node("a"))
  assert.deepEqual(seen, [])
  assert.equal(store.persist(), undefined)
  assert.deepEqual(seen, ["a"])
})

test("autoPersist persists after each change", () => {
  const seen: string[] = []
  const store = createRelationStore({ autoPersist: true, onPersist: (nodes) => void seen.push(idsOf(nodes)) })
  store.add(node("a"))
  store.add(node("b"))
  store.update("a", { status: "done" })
  store.remove("a")
  store.clear()
  assert.deepEqual(seen, ["a", "ab", "ab", "b", ""])
})

test("autoPersist neither waits nor overlaps: what changes meanwhile is persisted once, as it is then", async () => {
  const { calls, onPersist } = slow()
  const store = createRelationStore({ autoPersist: true, onPersist })
  for (const id of "abcd") store.add(node(id))
  store.remove("b")
  const asked = store.persist()
  assert.deepEqual(
    calls.map(({ ids }) => ids),
    ["a"],
  )
  calls[0]!.end()
  await setImmediate()
  assert.deepEqual(
    calls.map(({ ids }) => ids),
    ["a", "acd"],
  )
  store.add(node("e"))
  calls[1]!.end()
  await asked
  await setImmediate()
  assert.equal(calls[2]!.ids, "acde")
  calls[2]!.end()
  await setImmediate()
  assert.equal(calls.length, 3)
})

test("A change made by onPersist itself is persisted afterwards", async () => {
  const seen: string[] = []
  const store = createRelationStore({
    autoPersist: true,
    onPersist: (nodes) => {
      seen.push(idsOf(nodes))
      if (nodes.length === 1) store.add(node("b"))
    },
  })
  store.add(node("a"))
  await setImmediate()
  assert.deepEqual(seen, ["a", "ab"])
})

test("a failing onPersist loses nothing: persist() throws or rejects, autoPersist logs, the next call has everything", async () => {
  for (const isAsync of [false, true]) {
    let isBroken = true
    let kept = ""
    const write = (nodes: RelationNode[]) => {
      if (isBroken) throw new Error("disk full")
      kept = idsOf(nodes)
    }
    const onPersist = isAsync ? async (nodes: RelationNode[]) => write(nodes) : write
    const log = await logOf(async () => {
      const store = createRelationStore({ autoPersist: true, onPersist })
      store.add(node("a"))
      store.add(node("b"))
      await setImmediate()
      await assert.rejects(async () => store.persist(), {
        name: "Memory.PersistFailed",
        message: "What the store holds could not be persisted: disk full. Nothing of it is lost.",
      })
      assert.equal(idsOf(store.all()), "ab")
      isBroken = false
      store.add(node("c"))
      await setImmediate()
      assert.equal(kept, "abc")
    })
    assert.match(log, /changes could not be persisted error="What the store holds .* disk full/)
  }
})

test("a hanging onPersist is reported after 30 s, and the next call waits for it and has the last state", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] })
  const { calls, onPersist } = slow()
  const store = createRelationStore({ onPersist })
  store.add(node("a"))
  const first = Promise.resolve(store.persist())
  store.add(node("b"))
  const second = Promise.resolve(store.persist())
  t.mock.timers.tick(30_000)
  for (const asked of [first, second]) await assert.rejects(asked, /onPersist has not ended after 30 s/)
  store.add(node("c"))
  assert.equal(calls.length, 1)
  calls[0]!.end()
  await setImmediate()
  assert.deepEqual(
    calls.map(({ ids }) => ids),
    ["a", "abc"],
  )
  calls[1]!.end()
})

test("Two calls of onPersist never run at once, whenever persist() is called", async () => {
  let running = 0
  let most = 0
  const onPersist = async () => {
    most = Math.max(most, ++running)
    await null
    running--
  }
  const store = createRelationStore({ onPersist })
  const all: unknown[] = []
  for (let i = 0; i < 200; i++) {
    all.push(store.persist())
    await null
  }
  await Promise.all(all)
  assert.equal(most, 1)
})

test("An onPersist that changes the store each time does not keep the program from running", async () => {
  let calls = 0
  let isOver = false
  const store = createRelationStore({
    autoPersist: true,
    onPersist: () => {
      // Ended here where the event loop never turns, so that the test fails instead of hanging.
      if (!isOver && ++calls < 100_000) store.update("a", { description: `saved ${calls} times` })
    },
  })
  store.add(node("a"))
  await setImmediate()
  isOver = true
  assert.ok(calls > 0 && calls < 1_000, `${calls}`)
})
