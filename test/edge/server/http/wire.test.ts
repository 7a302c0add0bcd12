// Invalid, hostile and slow requests over a socket, and how they are refused.
import assert from "node:assert/strict"
import { connect } from "node:net"
import { test } from "node:test"
import { until } from "../../../fixture/until.ts"
import { follow, raw, status } from "../harness.ts"
import { errorIn, setUp } from "../wire-harness.ts"

test("a foreign Host is answered with 421 in every spelling, before other checks", async () => {
  await using s = await setUp()
  const { port } = s
  const bearer = `Authorization: Bearer ${s.token}\r\n`
  const heads = [
    `GET /health HTTP/1.1\r\nHost: evil.example\r\n${bearer}`,
    `GET /health HTTP/1.1\r\nHost: evil.example:${port}\r\n${bearer}`,
    `GET /info HTTP/1.1\r\nHost: 127.0.0.1:${port}.evil.example\r\n${bearer}`,
    `GET /info HTTP/1.1\r\nHost: 127.0.0.1\r\n${bearer}`,
    `GET /info HTTP/1.1\r\nHost: 127.0.0.1:99999999\r\n${bearer}`,
    `GET /info HTTP/1.1\r\nHost: a b\r\n${bearer}`,
    `GET /info HTTP/1.1\r\nHost: \r\n${bearer}`,
    `GET /info HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nHost: evil.example\r\n${bearer}`,
    `GET /info HTTP/1.1\r\nHost: evil.example\r\nHost: 127.0.0.1:${port}\r\n${bearer}`,
    `GET /info HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nHost: 127.0.0.1:${port}\r\n${bearer}`,
    `GET http://evil.example/info HTTP/1.1\r\n${s.own}`,
    `GET http://user@127.0.0.1:${port}/info HTTP/1.1\r\n${s.own}`,
    `GET http://127.0.0.1:${port}/info HTTP/1.1\r\nHost: evil.example\r\n${bearer}`,
    `GET http://127.0.0.2/info HTTP/1.1\r\n${s.own}`,
    `GET /info HTTP/1.1\r\n${bearer}`,
    `GET /../info HTTP/1.1\r\nHost: evil.example\r\n${bearer}`,
    `GET /info HTTP/1.0\r\n${bearer}`,
  ]
  for (const head of heads) {
    const answer = await s.send(head)
    assert.equal(status(answer), 421, head)
    assert.equal(errorIn(answer).name, "Server.ForeignHost")
  }
  assert.equal(status(await s.send(`GET http://127.0.0.1:${port}/info HTTP/1.1\r\n${s.own}`)), 200)
  assert.equal(status(await s.send(`GET /info HTTP/1.1\r\nHost: LOCALHOST:${port}\r\n${bearer}`)), 200)
})

test("a missing or wrong token gets 401, and a foreign Origin 403, over a socket", async () => {
  await using s = await setUp()
  const host = `Host: 127.0.0.1:${s.port}\r\n`
  assert.equal(status(await s.send(`GET /info HTTP/1.1\r\n${host}`)), 401)
  assert.equal(status(await s.send(`GET /info HTTP/1.1\r\n${host}Authorization: Bearer wrong\r\n`)), 401)
  assert.equal(status(await s.send(`GET /info HTTP/1.1\r\n${s.own}Authorization: Bearer x\r\n`)), 401)
  for (const origin of ["http://evil.example", "null", `http://127.0.0.1:${s.port}.evil.example`])
    assert.equal(status(await s.send(`GET /info HTTP/1.1\r\n${s.own}Origin: ${origin}\r\n`)), 403, origin)
  assert.equal(status(await s.send(`GET /info HTTP/1.1\r\n${s.own}Sec-Fetch-Site: cross-site\r\n`)), 403)
  const answer = await s.send(`GET /info HTTP/1.1\r\n${s.own}Origin: http://127.0.0.1:${s.port}\r\n`)
  assert.equal(status(answer), 200)
  assert.doesNotMatch(answer, /access-control/i)
})

test("methods that a path does not declare get 405, even with a method override", async () => {
  await using s = await setUp()
  for (const method of ["HEAD", "OPTIONS", "TRACE", "POST", "PUT", "DELETE", "PROPFIND", "QUERY"])
    for (const path of ["/health", "/info", "/event"]) {
      const answer = await s.send(`${method} ${path} HTTP/1.1\r\n${s.own}X-HTTP-Method-Override: GET\r\n`)
      assert.equal(status(answer), 405, `${method} ${path}`)
      assert.match(answer, /\r\nallow: GET\r\n/i)
    }
  const tunnel = await s.send(`CONNECT 127.0.0.1:22 HTTP/1.1\r\n${s.own}`)
  assert.equal(status(tunnel), 405)
  assert.match(tunnel, /connection: close/i)
  const upgrade = `GET /health HTTP/1.1\r\n${s.own}Connection: Upgrade\r\nUpgrade: websocket\r\n`
  assert.equal(status(await s.send(upgrade)), 200)
  assert.equal(status(await s.send(`OPTIONS * HTTP/1.1\r\n${s.own}`)), 400)
})

test("a target with dot segments or encoded slashes gets 400, with and without a token", async () => {
  await using s = await setUp()
  // A URL parser would turn the first ones into /info and /health, which answer with 200.
  const targets = [
    "/../info",
    "/%2e%2e/info",
    "/.%2E/info",
    "/./info",
    "/%2e/info",
    "/health/../info",
    "/x/../health",
    "/health/..",
    "/..",
    "/x\\..\\health",
    "/\\health",
    "/health%2f",
    "/x%2F..%2Fhealth",
    "/x%5c..%5Chealth",
    "/..%2f..%2fetc%2fpasswd",
    "/health%00",
    "/health#fragment",
    `http://127.0.0.1:${s.port}/x/../health`,
    `http://127.0.0.1:${s.port}\\health`,
    `https://127.0.0.1:${s.port}/health`,
    `ftp://127.0.0.1:${s.port}/health`,
    "ftp://127.0.0.2/health",
    `x:127.0.0.1:${s.port}/health`,
  ]
  for (const target of targets)
    for (const head of [s.own, `Host: 127.0.0.1:${s.port}\r\n`]) {
      const answer = await s.send(`GET ${target} HTTP/1.1\r\n${head}`)
      assert.equal(status(answer), 400, target)
      assert.equal(errorIn(answer).name, "Server.InvalidRequest", target)
    }
  for (const [target, expected] of Object.entries({
    "/info?path=../..%2f\\": 200,
    [`http://127.0.0.1:${s.port}/info`]: 200,
    [`http://127.0.0.1:${s.port}`]: 404,
    "/.../info": 404,
    "/..info": 404,
    "/%252e%252e/info": 404,
    "//etc/passwd": 404,
  }))
    assert.equal(status(await s.send(`GET ${target} HTTP/1.1\r\n${s.own}`)), expected, target)
})

test("an expectation other than 100-continue gets 417 in our error format", async () => {
  await using s = await setUp()
  const post = `POST /size HTTP/1.1\r\n${s.own}Content-Type: application/json\r\nContent-Length: 14\r\n`
  const answer = await s.send(`${post}Expect: foo\r\n`, '{"text":"abc"}')
  assert.equal(status(answer), 417)
  assert.equal(errorIn(answer).name, "Server.UnmetExpectation")
  const foreign = await s.send("GET /health HTTP/1.1\r\nHost: evil.example\r\nExpect: foo\r\n")
  assert.equal(status(foreign), 421)
})

test("a body with invalid chunks gets 400 or 413", async () => {
  await using s = await setUp()
  const head = `POST /size HTTP/1.1\r\n${s.own}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n`
  for (const chunks of ["zz\r\n{}\r\n", "ffffffffffffffffff\r\n{}\r\n"]) {
    const answer = await s.send(head, chunks)
    assert.equal(status(answer), 400, chunks)
    assert.match(errorIn(answer).message, /at body: its chunking is wrong/)
  }
  const extended = await s.send(head, `2;x=${"y".repeat(20_000)}\r\n{}\r\n0\r\n\r\n`)
  assert.equal(status(extended), 413)
  assert.match(errorIn(extended).message, /^The chunking of the body is wrong: its extensions/)
})

test("invalid HTTP gets 400 in our error format", async () => {
  await using s = await setUp()
  const lines = ["RUBBISH", "GET /health HTTP/9.9\r\nHost: x", "GET  HTTP/1.1\r\nHost: x", "\0\0\0\0"]
  for (const line of lines) {
    const answer = await s.send(`${line}\r\n`)
    assert.equal(status(answer), 400, line)
    assert.equal(errorIn(answer).name, "Server.InvalidRequest", line)
  }
  const smuggled = await s.send(
    `POST /size HTTP/1.1\r\n${s.own}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n`,
    "0\r\n\r\n",
  )
  assert.equal(status(smuggled), 400)
  assert.equal(status(await s.send(`POST /size HTTP/1.1\r\n${s.own}Content-Length: -5\r\n`)), 400)
  assert.equal((await s.get("/health")).status, 200)
})

test("headers above 16 KB get 431", async () => {
  await using s = await setUp()
  const answer = await s.send(`GET /health HTTP/1.1\r\n${s.own}X-Long: ${"x".repeat(17 << 10)}\r\n`)
  assert.equal(status(answer), 431)
  assert.equal(errorIn(answer).name, "Server.HeadersTooLarge")
})

test("a body above the limit gets 413: with Content-Length, chunked, and with 100-continue", async () => {
  await using s = await setUp({ bodyLimit: 100_000 })
  const json = "Content-Type: application/json\r\n"
  const post = `POST /size HTTP/1.1\r\n${s.own}${json}`
  assert.equal(status(await s.send(`${post}Content-Length: 100001\r\n`)), 413)
  assert.equal(status(await s.send(`GET /info HTTP/1.1\r\n${s.own}Content-Length: 100001\r\n`)), 413)
  const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`
  for (const head of [post, `GET /info HTTP/1.1\r\n${s.own}`]) {
    const answer = await s.send(`${head}Transfer-Encoding: chunked\r\n`, chunk.repeat(20))
    assert.equal(status(answer), 413, head)
    assert.equal(errorIn(answer).name, "Server.TooLarge")
  }
  const asked = await s.send(`${post}Content-Length: 100001\r\nExpect: 100-continue\r\n`)
  assert.equal(status(asked), 413)
  const refused = `POST /size HTTP/1.1\r\nHost: 127.0.0.1:${s.port}\r\n${json}Content-Length: 10\r\nExpect: 100-continue\r\n`
  assert.equal(status(await s.send(refused)), 401)
  const good = await s.send(`${post}Content-Length: 14\r\nExpect: 100-continue\r\n`, '{"text":"abc"}')
  assert.match(good, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK.*\{"size":3\}/s)
  const body = JSON.stringify({ text: "x".repeat(20 << 20) })
  const headers = { ...s.auth, "content-type": "application/json" }
  assert.equal((await fetch(`${s.url}/size`, { method: "POST", body, headers })).status, 413)
})

test("a slow request gets 408, and a connection without a request is closed", async () => {
  await using s = await setUp({ headersTimeout: 150, requestTimeout: 400 })
  const trickle = connect(s.port, "127.0.0.1")
  let answer = ""
  trickle.on("data", (part) => (answer += part))
  trickle.on("error", () => {})
  trickle.write("GET /health HTTP/1.1\r\n")
  const drip = setInterval(() => trickle.write("X-A: b\r\n"), 20)
  await until(() => answer !== "", "the answer to the slow client")
  clearInterval(drip)
  assert.equal(status(answer), 408)
  assert.equal(errorIn(answer).name, "Server.RequestTimeout")
  const silent = await raw(s.port, "")
  assert.match(silent, /^$|408/)
  const slowBody = await s.send(
    `POST /size HTTP/1.1\r\n${s.own}Content-Type: application/json\r\nContent-Length: 50\r\n`,
    "{",
  )
  assert.equal(status(slowBody), 408)
  trickle.destroy()
})

test("invalid bytes after a request close that connection and no other", async () => {
  await using s = await setUp()
  const client = follow(s)
  await client.opened
  const socket = connect(s.port, "127.0.0.1")
  socket.on("error", () => {})
  let text = ""
  socket.on("data", (part) => (text += part))
  socket.write(`GET /event HTTP/1.1\r\n${s.own}\r\n`)
  await until(() => text.includes("retry"))
  socket.write("RUBBISH RUBBISH\r\n\r\n")
  await until(() => socket.closed, "the connection to end")
  assert.equal(text.includes("HTTP/1.1 400"), false)
  assert.equal((await s.get("/health")).status, 200)
  client.drop()
})
