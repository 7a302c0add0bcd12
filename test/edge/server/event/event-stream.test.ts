// GET /event over real sockets: live, replay, the switch between them, gaps.
import assert from "node:assert/strict"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Bus from "#kernel/bus/bus.ts"
import * as GlobalBus from "#kernel/bus/global-bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import { onBackends } from "../../../fixture/tmp-store.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { follow, Live, publish, range, startServer, Tick } from "../harness.ts"

onBackends("GET /event sends an event with id, type and the whole event as data", async (open) => {
  await using tmp = await open()
  await using server = await startServer(tmp.path)
  const client = follow(server)
  const { headers, statusCode } = await client.opened
  assert.equal(statusCode, 200)
  assert.equal(headers["content-type"], "text/event-stream; charset=utf-8")
  assert.equal(headers["cache-control"], "no-store")
  assert.equal(headers["x-accel-buffering"], "no")
  await publish(tmp.path, [7])
  await until(() => client.frames.length === 1)
  const [frame] = client.frames
  assert.equal(frame?.event, "test.tick")
  const { id, type, time, directory, payload } = JSON.parse(frame?.data ?? "")
  assert.deepEqual(
    { id, type, directory, payload },
    { id: frame?.id, type: "test.tick", directory: tmp.path, payload: { n: 7 } },
  )
  assert.ok(time > 1e12)
  assert.equal(Number(headers["x-vitamin-cursor"]) < id, true)
  client.drop()
})

onBackends(
  "GET /event with Last-Event-ID sends missed events once, in order, then live events",
  async (open) => {
    await using tmp = await open()
    await using server = await startServer(tmp.path)
    const first = follow(server)
    await first.opened
    await publish(tmp.path, range(0, 10))
    await until(() => first.frames.length === 10)
    first.drop()
    await publish(tmp.path, range(10, 20))
    const second = follow(server, { "last-event-id": String(first.frames[4]?.id) })
    await second.opened
    await publish(tmp.path, range(20, 25))
    await until(() => second.frames.length >= 20)
    assert.deepEqual(second.numbers(), range(5, 25))
    assert.equal(
      second.frames.some(({ event }) => event === "gap"),
      false,
    )
    second.drop()
  },
)

onBackends("GET /event neither loses nor repeats events between replay and live", async (open) => {
  await using tmp = await open()
  await using server = await startServer(tmp.path)
  const cursor = (await follow(server).opened).headers["x-vitamin-cursor"] as string
  const total = 6000
  const clients: ReturnType<typeof follow>[] = []
  for (let n = 0; n < total; n += 100) {
    await publish(tmp.path, range(n, n + 100), "x".repeat(500))
    if (n % 300 === 0) clients.push(follow(server, { "last-event-id": cursor }))
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const client of clients) {
    await until(() => client.frames.length >= total, "the replay")
    assert.deepEqual(client.numbers(), range(0, total))
    client.drop()
  }
})

onBackends("GET /event answers an unknown cursor with a gap, then sends live events", async (open) => {
  await using tmp = await open()
  await using server = await startServer(tmp.path)
  const before = follow(server)
  await before.opened
  await publish(tmp.path, range(0, 3))
  await until(() => before.frames.length === 3)
  before.drop()
  for (const cursor of [
    "rubbish",
    "-1",
    "1.5",
    "99999999999",
    "5000000000000",
    "9007199254740993",
    "9".repeat(40),
    "\u00e9",
  ]) {
    const client = follow(server, { "last-event-id": cursor })
    const { headers } = await client.opened
    await publish(tmp.path, [100])
    await until(() => client.frames.length === 2, cursor)
    assert.equal(client.frames[0]?.event, "gap", cursor)
    assert.equal(String(client.frames[0]?.id), headers["x-vitamin-cursor"])
    const { after, from } = JSON.parse(client.frames[0]?.data ?? "")
    assert.equal(from, Number(headers["x-vitamin-cursor"]) + 1)
    assert.equal(String(after).slice(0, 5), cursor.slice(0, 5))
    assert.deepEqual(client.numbers(), [100])
    client.drop()
  }
})

test("GET /event sends a gap and all stored events when the cursor is too old", async () => {
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path)
  const client = follow(server)
  await client.opened
  await publish(tmp.path, [0])
  await until(() => client.frames.length === 1)
  // Events come faster than the client reads: its cursor leaves the log, and it is disconnected.
  for (let n = 1; n < 26_001; n += 500) await publish(tmp.path, range(n, n + 500), "x".repeat(2000))
  await client.closed
  const cursor = client.frames[0]?.id
  const late = follow(server, { "last-event-id": String(cursor) })
  await until(() => late.frames.at(-1)?.n === 26_000, "the kept events")
  assert.equal(late.frames[0]?.event, "gap")
  const from = late.frames[1]?.id
  assert.deepEqual(JSON.parse(late.frames[0]?.data ?? ""), { type: "gap", after: cursor, from })
  assert.equal(late.frames[0]?.id, (from ?? 0) - 1)
  assert.ok(late.frames.length > 20_000)
  assert.deepEqual(late.numbers(), range(late.frames[1]?.n ?? 0, 26_001))
  late.drop()
})

test("GET /event sends a gap when stored events were removed, although they are in memory", async () => {
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path)
  const first = follow(server)
  await first.opened
  await publish(tmp.path, range(0, 5))
  await until(() => first.frames.length === 5)
  rmSync(join(Global.state(), "events"), { recursive: true })
  await publish(tmp.path, [5])
  await until(() => first.frames.length === 6)
  first.drop()
  const cursor = first.frames[0]!.id
  const second = follow(server, { "last-event-id": String(cursor), "x-vitamin-directory": tmp.path })
  await until(() => second.numbers().length === 1)
  assert.deepEqual(
    second.frames.map(({ event }) => event),
    ["gap", "test.tick"],
  )
  assert.deepEqual(second.numbers(), [5])
  second.drop()
})

onBackends(
  "GET /event sends live events to connected clients, without an id, and never replays them",
  async (open) => {
    await using tmp = await open()
    await using server = await startServer(tmp.path)
    const client = follow(server)
    await client.opened
    await publish(tmp.path, [1])
    await Instance.provide({
      directory: tmp.path,
      fn: () => {
        Bus.publish(Live, { n: 2 })
      },
    })
    await publish(tmp.path, [3])
    await until(() => client.frames.length === 3)
    assert.deepEqual(client.numbers(), [1, 2, 3])
    assert.equal(client.frames[1]?.id, undefined)
    const again = follow(server, { "last-event-id": String(client.frames[0]?.id) })
    await until(() => again.frames.length === 1)
    await publish(tmp.path, [4])
    await until(() => again.frames.length === 2)
    assert.deepEqual(again.numbers(), [3, 4])
    client.drop()
    again.drop()
  },
)

test("GET /event keeps an idle connection alive with comments", async () => {
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path, { heartbeat: 30 })
  const client = follow(server)
  await until(() => client.comments() >= 3, "heartbeats")
  assert.equal(client.frames.length, 0)
  client.drop()
})

test("GET /event times heartbeats with a monotonic clock", async (t) => {
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path, { heartbeat: 30 })
  const client = follow(server)
  await client.opened
  const now = Date.now()
  t.mock.method(Date, "now", () => now - 3_600_000)
  await until(() => client.comments() >= 3, "heartbeats")
  client.drop()
})

test("GET /event accepts its own cursor even if events cannot be stored", async () => {
  await using tmp = await tmpdir()
  mkdirSync(Global.state(), { recursive: true, mode: 0o700 })
  writeFileSync(join(Global.state(), "events"), "in the way")
  await using server = await startServer(tmp.path)
  const client = follow(server)
  await client.opened
  await publish(tmp.path, [1])
  await until(() => client.frames.length === 1)
  assert.equal(String(client.lastId()).length, 16)
  client.drop()
  const again = follow(server, { "last-event-id": String(client.lastId()) })
  await again.opened
  await publish(tmp.path, [2])
  await until(() => again.frames.length > 0)
  assert.equal(again.frames[0]?.event, "test.tick")
  again.drop()
})

test("a subscriber that fails does not stop the event stream", async () => {
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path)
  const off = GlobalBus.subscribe(() => {
    throw new Error("this subscriber is broken")
  })
  const client = follow(server)
  await client.opened
  await publish(tmp.path, [1, 2])
  await until(() => client.frames.length === 2)
  off()
  client.drop()
})

onBackends(
  "events that subscribers publish are sent and replayed in the order of their ids",
  async (open) => {
    await using tmp = await open()
    await using server = await startServer(tmp.path)
    const client = follow(server)
    const cursor = String((await client.opened).headers["x-vitamin-cursor"])
    await Instance.provide({
      directory: tmp.path,
      fn: () => {
        const off = Bus.subscribe(Tick, ({ n }) => {
          if (n % 3 === 0) Bus.publish(Tick, { n: n + 1, text: "x".repeat(3000) })
          if (n % 3 === 1) Bus.publish(Tick, { n: n + 1 })
        })
        for (const n of range(0, 300)) Bus.publish(Tick, { n: n * 3, text: "x".repeat(500) })
        off()
      },
    })
    await until(() => client.frames.length === 900)
    const late = follow(server, { "last-event-id": cursor })
    await until(() => late.frames.length === 900)
    assert.deepEqual(client.numbers(), range(0, 900))
    assert.deepEqual(late.frames, client.frames)
    client.drop()
    late.drop()
  },
)
