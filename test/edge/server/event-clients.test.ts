// Many clients of GET /event: slow ones, vanishing ones, reconnecting ones.
import assert from "node:assert/strict"
import { once } from "node:events"
import { connect } from "node:net"
import { test } from "node:test"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as GlobalBus from "#kernel/bus/global-bus.ts"
import { onBackends } from "../../fixture/tmp-store.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { clientsOf, follow, publish, range, startServer } from "./harness.ts"
import { setUp } from "./wire-harness.ts"

/** The bytes of buffers that are still in use. */
function bufferedBytes(): number {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  return process.memoryUsage().arrayBuffers
}

onBackends(
  "a client that never reads is disconnected, needs little memory, and can resume without loss",
  async (open) => {
    await using tmp = await open()
    await using server = await startServer(tmp.path, { stall: 6000 })
    const good = follow(server)
    const cursor = String((await good.opened).headers["x-vitamin-cursor"])
    const lazy = connect(server.port, "127.0.0.1")
    lazy.on("error", () => {})
    lazy.write(
      `GET /event HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`,
    )
    lazy.pause()
    await until(async () => (await clientsOf(server)) === 2, "two clients")
    const before = bufferedBytes()
    const text = "x".repeat(5000)
    for (let n = 0; n < 6000; n += 100) {
      await publish(tmp.path, range(n, n + 100), text)
      await new Promise((resolve) => setImmediate(resolve))
    }
    // Freed buffers are swept in the background; the client is still connected while this waits.
    await until(() => bufferedBytes() - before < 10e6, "less than 10 MB held for 30 MB of events", 5000)
    await until(() => good.frames.length === 6000, "the good client")
    await until(async () => (await clientsOf(server)) === 1, "one client")
    const again = follow(server, { "last-event-id": cursor })
    await until(() => again.frames.length === 6000, "the replay")
    assert.deepEqual(again.numbers(), range(0, 6000))
    lazy.destroy()
    good.drop()
    again.drop()
  },
)

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
  await until(async () => (await clientsOf(server)) === 0, "no client")
  assert.equal(GlobalBus.listeners(), listeners)
  assert.ok(timers() <= before + 2, `${timers()} timers, ${before} before`)
})

test("a client that disconnects before it is answered leaves no event stream behind", async () => {
  await using server = await setUp()
  // A stalled client would be cut off after 30 seconds.
  const noClient = () => until(async () => (await clientsOf(server)) === 0, "no client", 20_000)
  const event = `GET /event HTTP/1.1\r\n${server.own}`
  // Pipelined after a request whose response is not finished.
  const behind = connect(server.port, "127.0.0.1").on("error", () => {})
  behind.write(`GET /slow HTTP/1.1\r\n${server.own}\r\n${event}\r\n`)
  await until(async () => (await clientsOf(server)) === 1, "one client")
  behind.destroy()
  await noClient()
  // The connection closes with the end of a body, which is read before the answer.
  for (const _ of range(0, 50)) {
    const socket = connect(server.port, "127.0.0.1").resume()
    socket.end(`${event}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n`)
    await once(socket, "close")
  }
  await noClient()
})

onBackends("many clients that reconnect lose no event and get none twice", async (open) => {
  const [clientCount, total] = process.env.VITAMIN_SOAK ? [100, 10_000] : [20, 2_000]
  await using tmp = await open()
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
