// Storage.readAll() returns the same as single reads, whatever happens meanwhile.
import assert from "node:assert/strict"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { setImmediate as immediate } from "node:timers/promises"
import * as Storage from "#kernel/storage/storage.ts"
import { runFixture } from "../../fixture/child.ts"
import { onBackends, type TmpStore, tmpStore } from "../../fixture/tmp-store.ts"

const names = (many: number) => Array.from({ length: many }, (_, i) => `r${String(i).padStart(4, "0")}`)

/** Records of `["all", name]`, as an earlier process left them. */
function lay(store: TmpStore, many: number): Promise<void> {
  return store.lay(names(many).map((name) => [["all", name], JSON.stringify({ name })]))
}

async function readAll(prefix = ["all"]): Promise<[name: string, value: unknown][]> {
  const found: [string, unknown][] = []
  await Storage.readAll(prefix, (value, name) => found.push([name, value]))
  return found
}

onBackends(
  "Storage.readAll() passes on the records of a prefix by name, and no other files",
  async (open) => {
    await using store = await open()
    await Storage.write(["all", "b"], { n: 2 })
    await Storage.write(["all", "a"], ["ü€😀\ufffd"])
    await Storage.write(["all", "Ω no plain name"], "3")
    await Storage.write(["all", "a", "below"], 4)
    await Storage.write(["other", "a"], 5)
    const folder = dirname(store.file("all", "a"))
    mkdirSync(folder, { recursive: true })
    for (const name of [".hidden.json", ".b.json.tmp", "notes.txt", "b.json.tmp", "b.json~"])
      writeFileSync(join(folder, name), "6")
    assert.deepEqual(await readAll(), [
      ["a", ["ü€😀\ufffd"]],
      ["b", { n: 2 }],
      ["Ω no plain name", "3"],
    ])
    assert.deepEqual(await readAll(["nothing"]), [])
    await assert.rejects(readAll([".."]), Storage.InvalidKey)
  },
)

test("Storage.readAll() quarantines and reports broken records, repairs those of the journal, and passes on all others", async () => {
  await using store = await tmpStore()
  await Storage.write(["all", "r0003"], { name: "mended" })
  await lay(store, 300)
  const broken: Record<string, string | Buffer> = {
    r0003: "{",
    r0010: "",
    r0011: Buffer.alloc(40),
    r0012: '{"n":1,"text":"ab',
    r0013: '\ufeff{"n":1}',
    r0014: Buffer.from([0x22, 0xff, 0xfe, 0x22]),
  }
  for (const [name, bytes] of Object.entries(broken)) writeFileSync(store.file("all", name), bytes)
  rmSync(store.file("all", "r0015"))
  mkdirSync(store.file("all", "r0015"))
  writeFileSync(join(dirname(store.file("all", "x")), "two\nlines.json"), "1")
  const lost = ["r0010", "r0011", "r0012", "r0013", "r0014", "r0015"]
  const expected = names(300)
    .filter((name) => !lost.includes(name))
    .map((name) => [name, { name: name === "r0003" ? "mended" : name }])
  assert.deepEqual(await readAll(), expected)
  for (const name of [...lost, "r0003"]) assert.match(store.log(), new RegExp(`Record all/${name} is broken`))
  assert.match(store.log(), /two.*is refused: a part has a separator or control character/)
  assert.deepEqual(await readAll(), expected)
})

onBackends(
  "Storage.readAll() reads own changes that are still being written, also those made while it reads",
  async (open) => {
    await using store = await open()
    await lay(store, 400)
    const changes = [Storage.write(["all", "r0001"], "new"), Storage.remove(["all", "r0002"])]
    const found = new Map<string, unknown>()
    await Storage.readAll(["all"], (value, name) => {
      found.set(name, value)
      if (name !== "r0000") return
      changes.push(Storage.write(["all", "r0005"], "soon"), Storage.remove(["all", "r0006"]))
      changes.push(Storage.write(["all", "r0398"], "later"), Storage.remove(["all", "r0399"]))
    })
    await Promise.all(changes)
    assert.equal(found.get("r0001"), "new")
    assert.equal(found.get("r0005"), "soon")
    assert.equal(found.get("r0398"), "later")
    assert.deepEqual(
      names(400).filter((name) => !found.has(name)),
      ["r0002", "r0006", "r0399"],
    )
  },
)

onBackends(
  "Storage.readAll() never sees a half-written record of another process, nor an older value than before",
  async (open) => {
    await using store = await open()
    await lay(store, 50)
    await using child = runFixture("storage-counter.ts", { args: ["300"], env: store.env })
    let isOver = false
    const exit = child.exit.then((code) => {
      isOver = true
      return code
    })
    let last = 0
    while (!isOver) {
      for (const [name, value] of await readAll(["counter"])) {
        assert.equal(name, "one")
        const { n } = value as { n: number }
        assert.ok(n >= last, `${n} after ${last}`)
        last = n
      }
      assert.equal((await readAll()).length, 50)
      await immediate()
    }
    assert.equal(await exit, 0, child.errors())
    assert.deepEqual(await readAll(["counter"]), [["one", { n: 300 }]])
  },
)

onBackends("Storage.readAll() yields to the event loop while it reads thousands", async (open) => {
  await using store = await open()
  await lay(store, 4_000)
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  await Storage.list(["all"])
  const reading = readAll()
  await Promise.resolve()
  setImmediate(count)
  assert.equal((await reading).length, 4_000)
  isOver = true
  assert.ok(turns > 1, String(turns))
})

onBackends("Storage.readEach() takes names that depend on the record before", async (open) => {
  await using store = await open()
  await lay(store, 700)
  let next: string | undefined = "r0699"
  function* back() {
    while (next !== undefined) yield next
  }
  const taken: string[] = []
  await Storage.readEach<{ name: string }>(["all"], back(), ({ name }) => {
    taken.push(name)
    const number = Number(name.slice(1))
    // Steps back of several sizes, and one forward to a record that comes later in the order of names.
    next =
      number === 350
        ? "r0360"
        : number > 20 && taken.length < 300
          ? names(700)[number - (number % 3) - 1]
          : undefined
  })
  assert.ok(taken.length > 200 && taken.length <= 300, String(taken.length))
  assert.ok(taken.includes("r0360"))
  assert.deepEqual(new Set(taken.map((name) => name.length)), new Set([5]))
})

onBackends("Storage.readAll() throws what its callback throws", async (open) => {
  await using store = await open()
  await lay(store, 3)
  const taken: string[] = []
  const reading = Storage.readAll(["all"], (_, name) => {
    taken.push(name)
    if (name === "r0001") throw new Error("enough")
  })
  await assert.rejects(reading, /enough/)
  assert.deepEqual(taken, ["r0000", "r0001"])
})
