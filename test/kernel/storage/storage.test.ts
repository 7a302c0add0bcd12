// The public functions of Storage, and the files right after each call.
import assert from "node:assert/strict"
import { AsyncLocalStorage } from "node:async_hooks"
import { existsSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { openState } from "#kernel/storage/journal-files.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { runFixture } from "../../fixture/child.ts"
import { onBackends, tmpStore } from "../../fixture/tmp-store.ts"

const key = ["session", "proj1", "sess1"]

test("Storage.write() leaves a plain JSON file under $XDG_DATA_HOME/vitamin/storage when it resolves", async () => {
  await using store = await tmpStore()
  await Storage.write(key, { title: "one", parts: [1, null, "ü"] })
  const file = join(store.env.XDG_DATA_HOME!, "vitamin/storage/session/proj1/sess1.json")
  assert.equal(readFileSync(file, "utf8"), '{"title":"one","parts":[1,null,"ü"]}')
  assert.equal(statSync(file).mode & 0o077, 0)
  assert.deepEqual(readdirSync(join(store.root, "storage")).sort(), [".tmp", "session"])
  assert.deepEqual(readdirSync(join(store.root, "storage/.tmp")), [])
})

onBackends("Storage.read() returns what was written, also after a close", async (open) => {
  await using _ = await open()
  const data = { text: 'line\n"quoted"\u2028 🙂', list: [], nothing: null, deep: { a: { b: [false] } } }
  await Storage.write(key, data)
  assert.deepEqual(await Storage.read(key), data)
  await Storage.close()
  assert.deepEqual(await Storage.read(key), data)
})

onBackends(
  "Storage.read() of a missing record throws Storage.NotFound, before and after the first write",
  async (open) => {
    await using store = await open()
    const missing = { name: "Storage.NotFound", message: "There is no record session/proj1/nobody" }
    await assert.rejects(Storage.read(["session", "proj1", "nobody"]), missing)
    assert.equal(existsSync(store.root), false)
    await Storage.write(key, 1)
    await assert.rejects(Storage.read(["session", "proj1", "nobody"]), missing)
    await assert.rejects(Storage.read(["session", "proj1"]), Storage.NotFound)
    await assert.rejects(Storage.read([...key, "below"]), Storage.NotFound)
  },
)

onBackends("Storage.write() stores the data as it is at the call", async (open) => {
  await using _ = await open()
  const data = { n: 1 }
  const written = Storage.write(key, data)
  data.n = 2
  await written
  assert.deepEqual(await Storage.read(key), { n: 1 })
})

onBackends("Storage.update() returns the new value, and 100 parallel ones end at 100", async (open) => {
  await using store = await open()
  await Storage.write(key, { n: 0 })
  const add = (draft: { n: number }) => draft.n++
  const values = await Promise.all(Array.from({ length: 100 }, () => Storage.update(key, add)))
  assert.deepEqual(
    values.map(({ n }) => n).sort((a, b) => a - b),
    Array.from({ length: 100 }, (_, i) => i + 1),
  )
  assert.equal(await store.plain(...key), '{"n":100}')
})

onBackends("Storage.update() runs its change in the context of the caller", async (open) => {
  await using _ = await open()
  const context = new AsyncLocalStorage<string>()
  const seen: (string | undefined)[] = []
  const update = (name: string) =>
    context.run(name, () =>
      Storage.update([...key, name], () => seen.push(context.getStore()), { initial: {} }),
    )
  await Promise.all([update("a"), update("b")])
  assert.deepEqual(seen, ["a", "b"])
})

onBackends(
  "Storage.update() needs the record, or an initial value, which it does not change",
  async (open) => {
    await using _ = await open()
    await assert.rejects(
      Storage.update(key, () => {}),
      Storage.NotFound,
    )
    const initial = { list: [] as number[] }
    const add = (draft: { list: number[] }) => draft.list.push(1)
    assert.deepEqual(await Storage.update(key, add, { initial }), { list: [1] })
    assert.deepEqual(await Storage.update(key, add, { initial }), { list: [1, 1] })
    assert.deepEqual(initial, { list: [] })
  },
)

onBackends(
  "Storage.update() changes nothing when its change throws, is asynchronous or leaves no JSON",
  async (open) => {
    await using store = await open()
    await Storage.write(key, { n: 1 })
    const change = (fn: (draft: Record<string, unknown>) => unknown) => Storage.update(key, fn)
    const refused = [
      change((draft) => {
        draft.n = 2
        throw new RangeError("no")
      }),
      change(async (draft) => {
        draft.n = 3
        throw new Error("after it was refused")
      }),
      change((draft) => {
        draft.n = 4n
      }),
    ]
    const others = change((draft) => {
      draft.other = true
    })
    await assert.rejects(refused[0]!, { name: "RangeError", message: "no" })
    await assert.rejects(refused[1]!, { name: "Storage.InvalidData", message: /must not be asynchronous/ })
    await assert.rejects(refused[2]!, { name: "Storage.InvalidData", message: /BigInt/ })
    await others
    assert.equal(await store.plain(...key), '{"n":1,"other":true}')
  },
)

onBackends("Storage.update() removes another record with it, or changes nothing", async (open) => {
  await using _store = await open()
  const other = [...key.slice(0, -1), "other"]
  const change = (fn: () => void) => Storage.update(key, fn, { initial: {}, removes: other })
  await Storage.write(other, { n: 1 })
  const refused = change(() => {
    throw new RangeError("no")
  })
  await assert.rejects(refused, { name: "RangeError" })
  assert.deepEqual(await Storage.read(other), { n: 1 })
  await change(() => {})
  await assert.rejects(Storage.read(other), { name: "Storage.NotFound" })
  assert.deepEqual(await Storage.read(key), {})
  const again = Storage.update(key, (draft: object) => Object.assign(draft, { n: 2 }), { removes: other })
  await assert.rejects(again, { name: "Storage.NotFound" })
  assert.deepEqual(await Storage.read(key), {})
})

onBackends("a reader never sees a half-written record of Storage.write()", async (open) => {
  await using store = await open()
  const body = (letter: string) => ({ letter, body: letter.repeat(300_000) })
  await Storage.write(key, body("a"))
  let stop = false
  let seen = 0
  const reader = async () => {
    for (; !stop; seen++) {
      const { letter, body } = JSON.parse((await store.plain(...key))!)
      assert.equal(body, letter.repeat(300_000))
    }
  }
  const readers = [reader(), reader(), reader()]
  for (const letter of "bcdefghijklmnopqrstu") await Storage.write(key, body(letter))
  stop = true
  await Promise.all(readers)
  assert.ok(seen > 3)
  assert.deepEqual(await Storage.read(key), body("u"))
})

onBackends("Storage keeps the order of calls that nobody waited for", async (open) => {
  await using _ = await open()
  const ignored = [Storage.write(key, 1), Storage.write(key, { n: 2 })]
  assert.deepEqual(await Storage.read(key), { n: 2 })
  ignored.push(Storage.remove(key))
  await assert.rejects(Storage.read(key), Storage.NotFound)
  ignored.push(Storage.write(key, { n: 3 }))
  const updated = Storage.update<{ n: number }>(key, (draft) => draft.n++)
  ignored.push(Storage.write(["session", "proj1", "sess0"], 0), Storage.remove(key), Storage.write(key, 5))
  assert.deepEqual(await Storage.list(["session", "proj1"]), ["sess0", "sess1"])
  assert.deepEqual(await updated, { n: 4 })
  assert.equal(await Storage.read(key), 5)
  await Promise.all(ignored)
})

onBackends("Storage: a writer is not starved by readers", async (open) => {
  await using _ = await open()
  await Storage.write(key, { n: 0 })
  let stop = false
  let reads = 0
  const reader = async () => {
    for (let last = 0; !stop; reads++) {
      const { n } = await Storage.read<{ n: number }>(key)
      assert.ok(n >= last, `${n} after ${last}`)
      last = n
    }
  }
  const readers = Array.from({ length: 16 }, reader)
  for (let n = 1; n <= 50; n++) await Storage.write(key, { n })
  stop = true
  await Promise.all(readers)
  assert.ok(reads >= 16)
})

onBackends(
  "Storage: while one writer has the lock, readers continue and the next writer waits",
  async (open) => {
    await using store = await open()
    const counter = ["counter", "one"]
    await Storage.write(counter, { n: 1 })
    await using child = runFixture("storage-counter.ts", { args: ["pause"], env: store.env })
    await child.line(/^holding/)
    const next = Storage.update<{ n: number }>(counter, (draft) => {
      draft.n *= 10
    })
    await sleep(50)
    assert.equal(await store.plain(...counter), '{"n":1}')
    child.process.kill("SIGCONT")
    assert.equal(await child.exit, 0, child.errors())
    assert.deepEqual(await next, { n: 20 })
  },
)

onBackends("Storage.remove() removes the record, and a missing record is no error", async (open) => {
  await using store = await open()
  await Storage.remove(key)
  await Storage.write(key, 1)
  await Storage.remove(key)
  assert.equal(await store.plain(...key), undefined)
  await Storage.remove(key)
  await Storage.close()
  await assert.rejects(Storage.read(key), Storage.NotFound)
})

test("Storage.remove() as the first call also removes a record that only the journal has", async () => {
  await using store = await tmpStore()
  await Storage.write(key, 1)
  await Storage.close()
  unlinkSync(store.file(...key))
  await Storage.remove(key)
  await assert.rejects(Storage.read(key), Storage.NotFound)
  await Storage.close()
  await assert.rejects(Storage.read(key), Storage.NotFound)
})

onBackends("Storage.list() names records and folders below a prefix, once each, sorted", async (open) => {
  await using _ = await open()
  assert.deepEqual(await Storage.list(["session"]), [])
  assert.deepEqual(await Storage.list([]), [])
  for (const name of ["b", "a", "c"]) await Storage.write(["session", "proj1", name], name)
  await Storage.write(["session", "proj1", "a", "below"], 1)
  await Storage.write(["session", "proj10", "x"], 1)
  assert.deepEqual(await Storage.list(["session", "proj1"]), ["a", "b", "c"])
  assert.deepEqual(await Storage.list(["session", "proj1", "a"]), ["below"])
  assert.deepEqual(await Storage.list(["session"]), ["proj1", "proj10"])
  assert.deepEqual(await Storage.list([]), ["session"])
  assert.deepEqual(await Storage.list(["session", "proj2"]), [])
  assert.deepEqual(await Storage.list(["session", "proj10", "x"]), [])
})

test("Storage keeps every value over many segments", { timeout: 40_000 }, async () => {
  await using store = await tmpStore()
  const record = (i: number) => ({ i, body: String(i % 10).repeat(i % 3 ? 500 : 60_000) })
  const latest = new Map<string, number>()
  for (let i = 0, generation = 1; generation < 5; ) {
    const batch = Array.from({ length: 100 }, () => i++)
    await Promise.all(batch.map((n) => Storage.write(["many", `r${n % 30}`], record(n))))
    for (const n of batch) latest.set(`r${n % 30}`, n)
    generation = await rotated(store.root)
  }
  await Storage.close()
  for (const [name, n] of latest) assert.deepEqual(await Storage.read(["many", name]), record(n))
  assert.deepEqual(await Storage.check(), { records: 30, broken: [] })
})

/** The generation in use, after the previous one is synced to the record files. */
async function rotated(root: string): Promise<number> {
  const file = openState(join(root, "journal/state"))
  try {
    for (;;) {
      const state = file.read()
      if (state && state.checkpoint >= state.generation - 1) return state.generation
      await sleep(5)
    }
  } finally {
    file.close()
  }
}

onBackends("Storage.close() waits for its own writes: nothing is written after it", async (open) => {
  await using store = await open()
  for (let n = 0; n < 450; n++) void Storage.write(["many", `r${n}`], "x".repeat(20_000))
  await Storage.close()
  assert.equal((await Storage.list(["many"])).length, 450)
  await Storage.close()
  rmSync(store.root, { recursive: true, force: true })
  await sleep(100)
  assert.equal(existsSync(store.root), false)
})

onBackends("Storage.newest() returns the names that were changed last, the last one first", async (open) => {
  await using _ = await open()
  const prefix = ["session", "p"]
  for (const name of ["a", "b", "c", "d"]) {
    await Storage.write([...prefix, name], { n: 1 })
    await sleep(5)
  }
  await Storage.write(["session", "p", "d", "below"], 1)
  await Storage.update<{ n: number }>([...prefix, "b"], (draft) => draft.n++)
  await Storage.remove([...prefix, "c"])
  assert.deepEqual(await Storage.newest(prefix, 10), ["b", "d", "a"])
  assert.deepEqual(await Storage.newest(prefix, 2), ["b", "d"])
  assert.deepEqual(await Storage.newest(["session", "other"], 2), [])
  await Storage.write(["plan", "x"], 1)
  assert.deepEqual(await Storage.newest(["plan"], 2), ["x"])
})
