// A redirect is not followed: it would carry a prompt to another server.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { ClientError, createClient, createHttpTransport } from "#client/client.ts"

async function listen(handle: RequestListener) {
  const server = createServer(handle).listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, [Symbol.dispose]: () => void server.close() }
}

test("a prompt does not follow a redirect to another origin", async () => {
  let arrived = 0
  using other = await listen((_, response) => {
    arrived++
    response.end("{}")
  })
  using server = await listen(({ url }, response) => {
    response.writeHead(307, { location: `${other.url}${url}` }).end()
  })
  const client = createClient(createHttpTransport({ url: server.url, token: "secret" }))
  await assert.rejects(
    client.promptSession({ id: "sess_1", text: "private words" }),
    (error) => error instanceof ClientError && /redirect/.test(error.message),
  )
  assert.equal(arrived, 0)
})
