// The clients of GET /event in numbers: slow ones, ones that vanish, ones that drop and come back.
import assert from "node:assert/strict"
import { connect } from "node:net"
import { test } from "node:test"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as GlobalBus from "#kernel/global-bus.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { clientsOf, follow, publish, range, startServer, until } from "./harness.ts"

/** What is in buffers and still used. */
function bufferedBytes(): number {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  return process.memoryUsage().arrayBuffers
}

test("a client that never reads is cut off, costs little, and can come back to everything", async () => {
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path, { stall: 6000 })
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
  await until(() => bufferedBytes() - before < 10e6, "less than 10 MB held for 30 MB of events", 5000)
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
