// Thousands of connections without the token replace each other, never connections with the token.
import assert from "node:assert/strict"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { connect } from "node:net"
import { test } from "node:test"
import { serving } from "../../fixture/cli.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { follow } from "./harness.ts"

const idle = ""
const slowHeaders = "GET /info HTTP/1.1\r\nX-Slow: "
const slowBody = (port: string) =>
  `POST /session HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{`

test("2,000 connections without the token do not keep others from the server", async () => {
  await using tmp = await tmpdir({ git: true })
  const server = await serving(tmp)
  await using _ = server.child
  const token = readFileSync(server.tokenFile, "utf8").trim()
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const { port } = new URL(server.url)
  const stream = follow({ url: server.url, token })
  await stream.opened

  const held = await Promise.all(
    Array.from({ length: 2_000 }, async (_, i) => {
      const socket = connect(Number(port), "127.0.0.1")
      socket.on("error", () => {}).resume()
      await once(socket, "connect")
      socket.write([idle, slowHeaders, slowBody(port)][i < 1_500 ? i % 2 : 2]!)
      return socket
    }),
  )
  assert.equal((await fetch(`${server.url}/health`)).status, 200)
  const made = await fetch(`${server.url}/session`, { method: "POST", headers, body: "{}" })
  assert.equal(made.status, 200)
  await until(() => stream.frames.some(({ event }) => event === "session.created"), "the event")
  for (const socket of held) socket.destroy()
  stream.drop()
})
