// Answers with which `fetch` cannot deal: each is an error, and leaves no connection open.
import assert from "node:assert/strict"
import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { test } from "node:test"
import { createDirectFetch } from "#ability/web/direct-fetch.ts"
import { until } from "../../fixture/until.ts"

const answers = {
  "a status that there is not": "HTTP/1.1 999 Odd\r\ncontent-length: 1000\r\n\r\nabc",
  "another protocol":
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\nsomething",
  "no answer at all": "",
}

for (const [name, answer] of Object.entries(answers))
  test(`createDirectFetch() fails for ${name}, and the connection is closed`, {
    timeout: 30_000,
  }, async () => {
    const open = new Set<Socket>()
    const server = createServer((socket) => {
      open.add(socket)
      socket.on("close", () => open.delete(socket))
      socket.on("error", () => {})
      socket.once("data", () => (answer ? socket.write(answer) : socket.end()))
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    try {
      const { port } = server.address() as AddressInfo
      const target = new URL(`http://server.test:${port}/mcp`)
      const init = { method: "POST", body: "{}" }
      const asked = createDirectFetch()(target, { init, addresses: ["127.0.0.1"] })
      await assert.rejects(asked, { name: "TypeError", message: /^fetch failed/ })
      await until(() => open.size === 0, "the connection is closed")
    } finally {
      for (const socket of open) socket.destroy()
      server.close()
    }
  })
