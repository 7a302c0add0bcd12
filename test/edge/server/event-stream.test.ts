// GET /event over real sockets: live, replay, the seam between them, gaps, slow clients, disconnects.
import assert from "node:assert/strict"
import { mkdirSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Bus from "#kernel/bus.ts"
import * as GlobalBus from "#kernel/global-bus.ts"
import { Instance } from "#kernel/instance.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { clientsOf, follow, Live, publish, range, startServer, Tick, until } from "./harness.ts"

/** What is in buffers and still used. */
function bufferedBytes(): number {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  return process.memoryUsage().arrayBuffers
}

test("GET /event sends an event with id, type and the whole event as data", async () => {
  await using tmp = await tmpdir()
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

test("GET /event with Last-Event-ID sends what was missed, in order, once, then goes on live", async () => {
  await using tmp = await tmpdir()
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
})

test("GET /event has no seam between replay and live while events are published", async () => {
  await using tmp = await tmpdir()
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

test("GET /event answers a cursor that means nothing with a gap, then goes on live", async () => {
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path)
  await publish(tmp.path, range(0, 3))
  for (const cursor of ["rubbish", "-1", "1.5", "99999999999", "5000000000000", "9".repeat(40), "\u00e9"]) {
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

test("GET /event sends a gap and all that is kept when the cursor is from before that", async () => {
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path)
  const client = follow(server)
  await client.opened
  await publish(tmp.path, [0])
  await until(() => client.frames.length === 1)
  // Faster than it can be read: the client falls out of what is kept and is cut off.
  for (let n = 1; n < 26_001; n += 500) await publish(tmp.path, range(n, n + 500), "x".repeat(2000))
  await client.closed
  const cursor = client.frames[0]?.id
  const late = follow(server, { "last-event-id": String(cursor) })
  await until(() => late.frames.at(-1)?.n === 26_000, "the kept events")
  assert.equal(late.frames[0]?.event, "gap")
  const from = late.frames[1]?.id
  assert.deepEqual(JSON.parse(late.frames[0]?.data ?? ""), { after: cursor, from })
  assert.equal(late.frames[0]?.id, (from ?? 0) - 1)
  assert.ok(late.frames.length > 20_000)
  assert.deepEqual(late.numbers(), range(late.frames[1]?.n ?? 0, 26_001))
  late.drop()
})

test("GET /event sends live events to who is there, without an id, and never again", async () => {
  await using tmp = await tmpdir()
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
})

test("GET /event with x-vitamin-directory sends only that directory, live and replayed", async () => {
  await using tmp = await tmpdir()
  const other = join(tmp.path, "öther")
  mkdirSync(other)
  await using server = await startServer(tmp.path)
  const header = { "x-vitamin-directory": encodeURIComponent(other) }
  const client = follow(server, header)
  const cursor = String((await client.opened).headers["x-vitamin-cursor"])
  for (const n of range(0, 50)) await publish(n % 2 ? other : tmp.path, [n])
  const odd = range(0, 50).filter((n) => n % 2)
  await until(() => client.frames.length === 25)
  assert.deepEqual(client.numbers(), odd)
  const late = follow(server, { ...header, "last-event-id": cursor })
  await until(() => late.frames.length === 25)
  assert.deepEqual(late.numbers(), odd)
  const all = follow(server, { "last-event-id": cursor })
  await until(() => all.frames.length === 50)
  const answer = await server.get("/event", { "x-vitamin-directory": "/does/not/exist" })
  assert.equal(answer.status, 400)
  for (const one of [client, late, all]) one.drop()
})

test("GET /event keeps an idle connection alive with comments", async () => {
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path, { heartbeat: 30 })
  const client = follow(server)
  await until(() => client.comments() >= 3, "heartbeats")
  assert.equal(client.frames.length, 0)
  client.drop()
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

test("events that subscribers publish in turn are sent and replayed in the order of their ids", async () => {
  await using tmp = await tmpdir()
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
})

test("a client that never reads is cut off, costs little, and can come back to everything", async () => {
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path, { stall: 3000 })
  const good = follow(server)
  const cursor = String((await good.opened).headers["x-vitamin-cursor"])
  const lazy = connect(server.port, "127.0.0.1")
  lazy.on("error", () => {})
  lazy.write(
    `GET /event HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`,
  )
  lazy.pause()
  const clients = () => clientsOf(server)
  while ((await clients()) < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  const before = bufferedBytes()
  const text = "x".repeat(5000)
  for (let n = 0; n < 6000; n += 100) {
    await publish(tmp.path, range(n, n + 100), text)
    await new Promise((resolve) => setImmediate(resolve))
  }
  // Freed buffers are swept in the background; the client is still connected while this waits.
  await until(() => bufferedBytes() - before < 10e6, "less than 10 MB held for 30 MB of events", 2000)
  await until(() => good.frames.length === 6000, "the good client")
  let left = 2
  for (let i = 0; i < 2000 && left > 1; i++) {
    left = await clients()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.equal(left, 1)
  const again = follow(server, { "last-event-id": cursor })
  await until(() => again.frames.length === 6000, "the replay")
  assert.deepEqual(again.numbers(), range(0, 6000))
  lazy.destroy()
  good.drop()
  again.drop()
})

test("abrupt disconnects leave no client, listener or timer behind", async () => {
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path)
  const listeners = GlobalBus.listeners()
  const count = process.env.VITAMIN_SOAK ? 1000 : 200
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length
  const before = timers()
  for (let i = 0; i < count; i += 50) {
    const clients = range(0, 50).map(() => follow(server, { "last-event-id": "0" }))
    await Promise.all(clients.map(({ opened }) => opened))
    await publish(tmp.path, range(0, 20), "x".repeat(1000))
    for (const client of clients) client.drop()
  }
  let left = 1
  for (let i = 0; i < 1000 && left > 0; i++) {
    left = await clientsOf(server)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.equal(left, 0)
  assert.equal(GlobalBus.listeners(), listeners)
  assert.ok(timers() <= before + 2, `${timers()} timers, ${before} before`)
})

test("many clients that drop and come back lose nothing and get nothing twice", async () => {
  const [clientCount, total] = process.env.VITAMIN_SOAK ? [100, 10_000] : [20, 2_000]
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path)
  const cursor = String((await follow(server).opened).headers["x-vitamin-cursor"])
  const runs = range(0, clientCount).map(async (client) => {
    const got: number[] = []
    let last = cursor
    for (const drop of range(1, 7)) {
      const goal = drop === 6 ? total : Math.floor((total * drop) / 6) - client
      const connection = follow(server, { "last-event-id": last })
      await until(() => got.length + connection.frames.length >= goal, `client ${client}`, 120_000)
      connection.drop()
      got.push(...connection.numbers())
      last = String(connection.lastId() ?? last)
    }
    return got
  })
  for (let n = 0; n < total; n += 50) {
    await publish(tmp.path, range(n, n + 50), "x".repeat(200))
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const got of await Promise.all(runs)) assert.deepEqual(got, range(0, total))
})
