// Events of an instance: validated, numbered, delivered to all subscribers in one order, without secrets.
import assert from "node:assert/strict"
import { mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import * as Bus from "#kernel/bus/bus.ts"
import * as GlobalBus from "#kernel/bus/global-bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const Created = Bus.define(
  "test.created",
  z.object({ id: z.string(), parts: z.array(z.number()).optional() }),
)
const Removed = Bus.define("test.removed", z.object({ id: z.string() }))
const Delta = Bus.define("test.delta", z.object({ text: z.string() }), { live: true })
const Anything = Bus.define("test.anything", z.unknown())

afterEach(async () => {
  await Instance.disposeAll()
  await Storage.close()
})

/** Run in an instance, with every event that reaches the GlobalBus meanwhile. */
async function inInstance(directory: string, fn: (all: GlobalBus.Event[]) => unknown): Promise<void> {
  const all: GlobalBus.Event[] = []
  const end = GlobalBus.subscribe((event) => all.push(event))
  try {
    await Instance.provide({ directory, fn: async () => fn(all) })
  } finally {
    end()
  }
}

test("Bus.subscribe() passes the payload and the whole event, for its own type only", async () => {
  await using tmp = await tmpdir()
  await inInstance(tmp.path, () => {
    const seen: unknown[] = []
    Bus.subscribe(Created, ({ id }, event) => seen.push(id, event))
    Bus.publish(Removed, { id: "other" })
    const before = Date.now()
    const event = Bus.publish(Created, { id: "one" })
    assert.deepEqual(seen, ["one", event])
    assert.deepEqual(event, {
      id: event.id,
      type: "test.created",
      time: event.time,
      directory: tmp.path,
      payload: { id: "one" },
    })
    assert.ok(event.time >= before && event.time <= Date.now())
  })
})

test("Bus.publish() refuses an invalid payload, names the wrong field, and delivers nothing", async () => {
  await using tmp = await tmpdir()
  await inInstance(tmp.path, (all) => {
    const seen: unknown[] = []
    Bus.subscribe("*", (event) => seen.push(event))
    const bad = (payload: unknown, message: RegExp) =>
      assert.throws(() => Bus.publish(Created, payload as { id: string }), {
        name: "Bus.InvalidEvent",
        message,
      })
    bad({ id: "x", parts: [1, "two"] }, /^Event "test\.created" was refused: .*parts\[1\]/)
    bad({}, /at id/)
    bad(undefined, /expected object/)
    assert.deepEqual(seen, [])
    assert.deepEqual(all, [])
  })
})

test("Bus.publish() refuses a payload that cannot be JSON", async () => {
  await using tmp = await tmpdir()
  await inInstance(tmp.path, (all) => {
    const circular: Record<string, unknown> = {}
    circular.self = circular
    for (const payload of [1n, circular])
      assert.throws(() => Bus.publish(Anything, payload), { name: "Bus.InvalidEvent" })
    assert.deepEqual(all, [])
  })
})

test("Bus.define() refuses a type that is not a word, or that the event stream reserves", () => {
  for (const type of ["", "a b", "a\nb", "*", "1a", "gap"])
    assert.throws(() => Bus.define(type, z.unknown()), { name: "Bus.InvalidEvent" })
  assert.ok(Bus.list().includes(Created as Bus.Definition))
})

test('Bus.subscribe("*") gets every event of the instance in order', async () => {
  await using tmp = await tmpdir()
  await inInstance(tmp.path, () => {
    const seen: unknown[] = []
    Bus.subscribe("*", ({ type, payload }) => seen.push([type, payload]))
    Bus.publish(Created, { id: "a" })
    Bus.publish(Delta, { text: "b" })
    Bus.publish(Removed, { id: "c" })
    assert.deepEqual(seen, [
      ["test.created", { id: "a" }],
      ["test.delta", { text: "b" }],
      ["test.removed", { id: "c" }],
    ])
  })
})

test("Bus delivers events within their instance, GlobalBus those of all instances with their directory", async () => {
  await using tmp = await tmpdir()
  const [a, b] = [join(tmp.path, "a"), join(tmp.path, "b")]
  for (const folder of [a, b]) mkdirSync(folder)
  const seen: string[] = []
  await inInstance(a, async (all) => {
    Bus.subscribe(Created, ({ id }) => seen.push(`a ${id}`))
    Bus.publish(Created, { id: "1" })
    await Instance.provide({
      directory: b,
      fn: () => {
        Bus.subscribe("*", ({ directory }) => seen.push(`b ${directory}`))
        Bus.publish(Created, { id: "2" })
      },
    })
    Bus.publish(Created, { id: "3" })
    assert.deepEqual(
      all.map(({ directory }) => directory),
      [a, b, a],
    )
  })
  assert.deepEqual(seen, ["a 1", `b ${b}`, "a 3"])
})

test("Bus.subscribe() returns a function that unsubscribes, and may be called again", async () => {
  await using tmp = await tmpdir()
  const listening = GlobalBus.listeners()
  await inInstance(tmp.path, () => {
    const seen: string[] = []
    const ends = [Bus.subscribe(Created, ({ id }) => seen.push(id)), Bus.subscribe("*", () => seen.push("*"))]
    Bus.publish(Created, { id: "1" })
    for (const end of [...ends, ...ends]) end()
    Bus.publish(Created, { id: "2" })
    assert.deepEqual(seen, ["1", "*"])
  })
  assert.equal(GlobalBus.listeners(), listening)
})

test("Bus and GlobalBus log a subscriber that throws or rejects, and still call the others", async () => {
  await using tmp = await tmpdir()
  const file = join(tmp.path, "log")
  Log.setFile(file)
  const seen: string[] = []
  const end = GlobalBus.subscribe(() => {
    throw new Error("global failure")
  })
  try {
    await inInstance(tmp.path, async () => {
      Bus.subscribe(Created, () => {
        throw new Error("failure now")
      })
      Bus.subscribe(Created, async () => {
        await null
        throw new Error("failure later")
      })
      Bus.subscribe(Created, ({ id }) => seen.push(id))
      Bus.publish(Created, { id: "1" })
      Bus.publish(Created, { id: "2" })
      await sleep(1)
    })
  } finally {
    end()
    Log.setFile(undefined)
  }
  assert.deepEqual(seen, ["1", "2"])
  const log = readFileSync(file, "utf8")
  for (const text of ["failure now", "failure later", "global failure"])
    assert.equal(log.split(`type=test.created error="${text}"`).length, 3, log)
})

test("Bus gives events growing ids, and live events none; numbering can continue after a given id", async () => {
  await using tmp = await tmpdir()
  await inInstance(tmp.path, (all) => {
    const first = Bus.publish(Created, { id: "a" }).id!
    assert.equal("id" in Bus.publish(Delta, { text: "live" }), false)
    assert.equal(Bus.publish(Created, { id: "b" }).id, first + 1)
    GlobalBus.continueAfter(first + 1_000)
    assert.equal(Bus.publish(Created, { id: "c" }).id, first + 1_001)
    GlobalBus.continueAfter(1)
    assert.equal(Bus.publish(Created, { id: "d" }).id, first + 1_002)
    assert.deepEqual(
      all.map(({ id }) => id),
      [first, undefined, first + 1, first + 1_001, first + 1_002],
    )
  })
})

test("if a subscriber publishes an event, Bus first delivers the current one to all subscribers", async () => {
  await using tmp = await tmpdir()
  await inInstance(tmp.path, (all) => {
    const seen: string[] = []
    Bus.subscribe(Created, ({ id }) => void Bus.publish(Removed, { id }))
    Bus.subscribe("*", ({ type }) => seen.push(type))
    Bus.publish(Created, { id: "1" })
    const expected = ["test.created", "test.removed"]
    assert.deepEqual(seen, expected)
    assert.deepEqual(
      all.map(({ type }) => type),
      expected,
    )
    assert.ok(all[0]!.id! < all[1]!.id!)
  })
})

test("Bus delivers to the subscribers of the instance in order of subscription, then to the GlobalBus", async () => {
  await using tmp = await tmpdir()
  const heard: string[] = []
  const stop = GlobalBus.subscribe(({ type }) => void (type === Created.type && heard.push("global")))
  await Instance.provide({
    directory: tmp.path,
    fn() {
      for (const name of ["first", "second"]) Bus.subscribe(Created, () => void heard.push(name))
      Bus.subscribe("*", ({ type }) => void (type === Created.type && heard.push("third")))
      Bus.publish(Created, { id: "1" })
    },
  })
  stop()
  assert.deepEqual(heard, ["first", "second", "third", "global"])
})

test("Bus delivers an event only to those who were subscribed when it was published", async () => {
  await using tmp = await tmpdir()
  const heard: string[] = []
  await Instance.provide({
    directory: tmp.path,
    fn() {
      Bus.subscribe(Created, () => {
        Bus.subscribe(Created, () => void heard.push("late"))
        heard.push("early")
      })
      Bus.publish(Created, { id: "1" })
    },
  })
  assert.deepEqual(heard, ["early"])
})

test("Bus redacts known secrets before an event is delivered, and changes nothing else", async () => {
  await using tmp = await tmpdir()
  const odd = 'bus "secret"\nwith a line'
  Secret.register(odd, "bus key")
  Secret.register("9876543210", "number")
  await inInstance(tmp.path, (all) => {
    const seen: unknown[] = []
    Bus.subscribe(Anything, (payload) => seen.push(payload))
    Bus.publish(Anything, { text: `a ${odd} b`, [odd]: [{ deep: odd }], n: 9876543210, like: "bus secret" })
    const expected = {
      text: "a [bus key] b",
      "[bus key]": [{ deep: "[bus key]" }],
      n: 9876543210,
      like: "bus secret",
    }
    assert.deepEqual(seen, [expected])
    assert.deepEqual(all[0]!.payload, expected)
  })
})

test("Bus publishes instance.disposed last, whatever the instance was used for", async () => {
  await using tmp = await tmpdir()
  const part = Instance.state(
    () => 1,
    () => void Bus.publish(Removed, { id: "by a part that ends" }),
  )
  await inInstance(tmp.path, async (all) => {
    const seen: string[] = []
    part()
    Bus.subscribe("*", ({ type }) => seen.push(type))
    await Instance.dispose()
    assert.deepEqual(seen, ["test.removed", "instance.disposed"])
    assert.deepEqual(all.at(-1)?.payload, { directory: tmp.path })
  })
  await inInstance(tmp.path, async (all) => {
    await Instance.dispose()
    assert.deepEqual(
      all.map(({ type, directory }) => [type, directory]),
      [["instance.disposed", tmp.path]],
    )
  })
})

test("Bus.publish() outside an instance throws", () => {
  assert.throws(() => Bus.publish(Created, { id: "1" }), { name: "Instance.NoInstance" })
  assert.throws(() => Bus.subscribe("*", () => {}), { name: "Instance.NoInstance" })
})
