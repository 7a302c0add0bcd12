// The limits of a connection over a WebSocket: pings that must be answered, and output that must be read.
import assert from "node:assert/strict"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { connect } from "node:net"
import { test } from "node:test"
import { WebSocket, WebSocketServer } from "ws"
import { serveSocket } from "#edge/acp/serve-socket.ts"
import { handshake } from "./socket-harness.ts"

type Limits = Partial<Parameters<typeof serveSocket>[2]>

/** A server for one connection; `ended` resolves when it is over. */
async function listen(limits: Limits) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" })
  await once(server, "listening")
  const signal = new AbortController().signal
  const ended = once(server, "connection").then(([socket]) =>
    serveSocket({ rules: [], yes: false }, socket, { signal, ...limits }),
  )
  const { port } = server.address() as AddressInfo
  return { port, ended, [Symbol.asyncDispose]: async () => void server.close() }
}

test("a client that does not answer pings is disconnected", async () => {
  await using server = await listen({ pingEvery: 50 })
  const socket = connect(server.port, "127.0.0.1")
  socket.write(handshake(server.port, {}))
  socket.resume()
  const closed = once(socket, "close")
  await server.ended
  await closed
})

test("a client that answers pings stays connected", async () => {
  await using server = await listen({ pingEvery: 20 })
  const client = new WebSocket(`ws://127.0.0.1:${server.port}`)
  let pings = 0
  client.on("ping", () => pings++)
  while (pings < 5) await once(client, "ping")
  client.send('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}')
  const [answer] = await once(client, "message")
  assert.equal(JSON.parse(String(answer)).result.protocolVersion, 1)
  client.close()
  await server.ended
})

test("a client that does not read is disconnected before its output fills the memory", async () => {
  await using server = await listen({ maxUnread: 1 << 20 })
  const client = new WebSocket(`ws://127.0.0.1:${server.port}`)
  client.on("error", () => {})
  await once(client, "open")
  client.pause()
  const method = "x".repeat(60_000)
  // More than the buffers of the system take.
  for (let id = 0; id < 1_200; id++) client.send(JSON.stringify({ jsonrpc: "2.0", id, method }))
  await server.ended
  client.terminate()
})
