// Addresses of the server, its Host values, and `stop`.
import assert from "node:assert/strict"
import { test } from "node:test"
import { CannotListen, InvalidHost, PortInUse } from "#edge/server/server.ts"
import { until } from "../../fixture/until.ts"
import { follow, startServer, status } from "./harness.ts"
import { running, setUp } from "./wire-harness.ts"

test("createServer() throws PortInUse for a used port, and leaves nothing behind", async () => {
  await using s = await setUp()
  await assert.rejects(
    startServer(s.tmp.path, { port: s.port }),
    (error) =>
      error instanceof PortInUse && error.message.includes(String(s.port)) && /--port/.test(error.message),
  )
  await assert.rejects(startServer(s.tmp.path, { host: "192.0.2.1" }), CannotListen)
})

test("createServer() bound to every address answers under the machine's names only", async () => {
  await using s = await setUp({ host: "0.0.0.0" })
  assert.match(s.url, /^http:\/\/127\.0\.0\.1:/)
  assert.equal((await s.get("/health")).status, 200)
  assert.equal(status(await s.send(`GET /health HTTP/1.1\r\nHost: 0.0.0.0:${s.port}\r\n`)), 421)
  assert.equal(status(await s.send(`GET /health HTTP/1.1\r\nHost: evil.example:${s.port}\r\n`)), 421)
})

test("stop() ends streams, lets running requests finish, and takes no new ones", async () => {
  await using s = await setUp()
  const stream = follow(s)
  await stream.opened
  const answer = s.get("/slow")
  const unset = () => {}
  running.release = unset
  await until(() => running.release !== unset, "the request to run")
  const stopped = s.stop()
  await stream.closed
  await assert.rejects(s.get("/health"))
  running.release()
  assert.deepEqual(await (await answer).json(), { done: true })
  await stopped
  assert.equal(s.stop(), stopped)
})

test("stop() closes connections after a timeout", async () => {
  await using s = await setUp({ stopTimeout: 50 })
  const answer = s.get("/slow").then(
    () => "answered",
    () => "cut off",
  )
  const unset = () => {}
  running.release = unset
  await until(() => running.release !== unset, "the request to run")
  await s.stop()
  assert.equal(await answer, "cut off")
})

for (const host of ["0", "::ffff:127.0.0.1", "127.1", " 127.0.0.1 ", "localhost", "::ffff:0.0.0.0"])
  test(`createServer() on host ${JSON.stringify(host)} answers under the URL that it gives`, async () => {
    await using s = await setUp({ host })
    assert.match(s.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.equal((await s.get("/info")).status, 200)
    assert.equal(status(await s.send(`GET /health HTTP/1.1\r\nHost: evil.example:${s.port}\r\n`)), 421)
    assert.equal(status(await s.send(`GET /health HTTP/1.1\r\nHost: 0:${s.port}\r\n`)), 421)
  })

test("createServer() on an address accepts the spellings of it that clients use", async () => {
  await using s = await setUp({ host: "::ffff:127.0.0.1" })
  for (const name of ["[::ffff:7f00:1]", "127.0.0.1", "localhost"])
    assert.equal(status(await s.send(`GET /health HTTP/1.1\r\nHost: ${name}:${s.port}\r\n`)), 200, name)
})

test("createServer() refuses an empty host instead of listening everywhere", async () => {
  await using s = await setUp()
  for (const host of ["", " ", "[]"]) await assert.rejects(startServer(s.tmp.path, { host }), InvalidHost)
})
