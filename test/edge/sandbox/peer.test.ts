// The order in which one side of the sandbox's pipe answers what the other side sends.
import assert from "node:assert/strict"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { test } from "node:test"
import { createPeer } from "#edge/sandbox/wire/peer.ts"

/** Both ends of a connection. What one end writes in one go arrives at once. */
async function connection(): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const there = connect((server.address() as AddressInfo).port, "127.0.0.1")
  const [here] = (await once(server, "connection")) as [Socket]
  server.close()
  return [here, there]
}

test("an urgent question is answered before what came with it, and everything else in order", async () => {
  const [here, there] = await connection()
  const taken: string[] = []
  createPeer(here, {
    async ask(name) {
      taken.push(name)
      return name
    },
    note: (name) => void taken.push(name),
    isUrgent: (name) => name === "urgent",
  })
  const peer = createPeer(there, { ask: async () => {}, note() {} })
  const first = peer.ask("first", {})
  peer.note("second", {})
  const last = [peer.ask("urgent", {}), peer.ask("third", {})]
  assert.deepEqual(await Promise.all([first, ...last]), ["first", "urgent", "third"])
  assert.deepEqual(taken, ["urgent", "first", "second", "third"])
  peer.close()
})

test("what came with an urgent question is still taken if the other side ends at once", async () => {
  const [here, there] = await connection()
  const taken: string[] = []
  const { closed } = createPeer(here, {
    async ask(name) {
      taken.push(name)
    },
    note: (name) => void taken.push(name),
    isUrgent: (name) => name === "urgent",
  })
  const peer = createPeer(there, { ask: async () => {}, note() {} })
  peer.note("first", {})
  peer.ask("urgent", {}).catch(() => {})
  process.nextTick(() => there.end())
  await closed
  assert.deepEqual(taken, ["urgent", "first"])
})
