// The app without a socket: access control, answers of routes, refusals.
import assert from "node:assert/strict"
import { mkdirSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Secret from "#kernel/secret/secret.ts"
import { until } from "../../fixture/until.ts"
import { auth, base, errorOf, setUp, token } from "./app-harness.ts"
import { parseFrame, publish, range } from "./harness.ts"

test("GET /health needs no token and shows only status and uptime", async () => {
  await using t = await setUp()
  const response = await t.app.request(`${base}/health`)
  assert.equal(response.status, 200)
  const body = (await response.json()) as Record<string, unknown>
  assert.deepEqual(Object.keys(body).sort(), ["status", "uptime"])
  assert.equal(response.headers.get("x-content-type-options"), "nosniff")
  assert.equal(response.headers.get("referrer-policy"), "no-referrer")
  assert.equal(response.headers.get("cross-origin-resource-policy"), "same-origin")
  assert.equal(response.headers.get("access-control-allow-origin"), null)
})

test("every other path needs the token, in the header or the cookie", async () => {
  await using t = await setUp()
  for (const path of [
    "/info",
    "/config",
    "/event",
    "/openapi.json",
    "/nothing",
    "/",
    "/health/",
    "/HEALTH",
  ]) {
    const response = await t.app.request(base + path)
    assert.equal(response.status, 401, path)
    assert.match(response.headers.get("www-authenticate") ?? "", /^Bearer/)
    assert.equal((await errorOf(response)).name, "Server.Unauthorized")
  }
  const wrong = [
    "Bearer",
    "Bearer x",
    `Bearer ${token}x`,
    `Basic ${token}`,
    token,
    `Bearer ${token} ${token}`,
  ]
  for (const authorization of wrong)
    assert.equal(
      (await t.app.request(`${base}/info`, { headers: { authorization } })).status,
      401,
      authorization,
    )
  assert.equal((await t.app.request(`${base}/info?token=${token}`)).status, 401)
  assert.equal(
    (await t.app.request(`${base}/info`, { headers: { cookie: `a=b; vitamin_token=${token}` } })).status,
    200,
  )
  assert.equal((await t.app.request(`${base}/info`, { headers: { cookie: "vitamin_token=no" } })).status, 401)
  assert.equal((await t.ask("/info")).status, 200)
})

test("Host is checked before Origin, Origin before the token, for the open route as well", async () => {
  await using t = await setUp()
  const ask = (url: string, headers: Record<string, string>) => t.app.request(url, { headers })
  for (const host of [
    "http://evil.example:3141",
    "http://127.0.0.1:9999",
    "http://127.0.0.1.evil.example:3141",
  ])
    assert.equal((await ask(`${host}/health`, { origin: "http://evil.example" })).status, 421, host)
  assert.equal((await ask(`${base}/health`, { host: "evil.example" })).status, 421)
  for (const origin of ["http://evil.example", "null", "http://127.0.0.1:3142", "https://127.0.0.1:3141", ""])
    assert.equal((await ask(`${base}/health`, { origin })).status, 403, origin)
  for (const site of ["cross-site", "same-site", "rubbish"])
    assert.equal((await ask(`${base}/health`, { "sec-fetch-site": site })).status, 403, site)
  const own = { origin: "http://127.0.0.1:3141", "sec-fetch-site": "same-origin" }
  const allowed = await ask(`${base}/info`, { ...auth, ...own })
  assert.equal(allowed.status, 200)
  assert.equal(allowed.headers.get("access-control-allow-origin"), null)
})

test("an unknown path gets 404, another method 405 with Allow, whatever other headers say", async () => {
  await using t = await setUp()
  for (const path of [
    "/nothing",
    "/..%2f..%2fetc%2fpasswd",
    "/%2e%2e/%2e%2e/etc",
    "/info/",
    "//info",
    "/echo",
    "/info%00",
  ])
    assert.equal((await t.ask(path)).status, 404, path)
  for (const method of ["HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH", "PROPFIND"])
    for (const path of ["/health", "/info", "/event"]) {
      const response = await t.ask(path, { method, headers: { "x-http-method-override": "GET" } })
      assert.equal(response.status, 405, `${method} ${path}`)
      assert.equal(response.headers.get("allow"), "GET")
    }
  assert.equal((await t.ask("/echo/1")).headers.get("allow"), "POST")
  assert.equal(t.eventStream.clients(), 0)
})

test("another method on an open route gets 405 even without a token", async () => {
  await using t = await setUp()
  for (const method of ["HEAD", "OPTIONS", "POST", "DELETE"]) {
    const response = await t.app.request(`${base}/health`, { method })
    assert.equal(response.status, 405, method)
    assert.equal(response.headers.get("allow"), "GET")
  }
  assert.equal((await t.app.request(`${base}/info`, { method: "POST" })).status, 401)
})

test("GET /info and /config run in the instance of x-vitamin-directory", async () => {
  await using t = await setUp()
  const other = join(t.tmp.path, "ünder 100%")
  mkdirSync(other)
  const info = (await (await t.ask("/info")).json()) as Record<string, unknown>
  assert.equal(info.directory, t.tmp.path)
  assert.equal(info.version, "1.2.3")
  assert.equal(info.trusted, false)
  assert.equal(info.pid, process.pid)
  assert.deepEqual(info.vcs, { type: "git", branch: "main", commit: t.tmp.git("rev-parse", "HEAD").trim() })
  const header = { "x-vitamin-directory": encodeURIComponent(other) }
  const there = (await (await t.ask("/info", { headers: header })).json()) as Record<string, unknown>
  assert.equal(there.directory, realpathSync(other))
  await Promise.all(range(0, 10).map(() => t.ask("/config", { headers: header })))
  assert.equal(t.inits(), 2)
})

test("an invalid x-vitamin-directory gets 400 with the name of the header", async () => {
  await using t = await setUp()
  const file = t.tmp.write("file", "")
  for (const directory of [
    "relative",
    "",
    "~",
    "/does/not/exist",
    file,
    "/tmp%00",
    "/tmp/%zz",
    "/tmp/%ff",
    "%2e%2e",
  ]) {
    const response = await t.ask("/info", { headers: { "x-vitamin-directory": directory } })
    assert.equal(response.status, 400, directory)
    assert.match((await errorOf(response)).message, /x-vitamin-directory/)
  }
})

test("known secrets are redacted in answers and errors", async () => {
  await using t = await setUp()
  Secret.register("sk-held-by-us", "test key")
  const config = await (await t.ask("/config")).text()
  assert.equal(config.includes("sk-held-by-us"), false)
  assert.match(config, /\[test key\]/)
  const response = await t.ask("/fail/leak")
  assert.equal(response.status, 400)
  assert.equal((await response.text()).includes("sk-held-by-us"), false)
})

test("errors are mapped to a status by name, and unknown errors show no details", async () => {
  await using t = await setUp()
  const statuses = { missing: 404, busy: 409, denied: 403, crash: 500, wrong: 500 }
  for (const [how, status] of Object.entries(statuses)) {
    const response = await t.ask(`/fail/${how}`)
    assert.equal(response.status, status, how)
    const text = await response.text()
    assert.equal(/hidden|at .*\.ts|stack/.test(text), false, text)
  }
  assert.deepEqual(await errorOf(await t.ask("/fail/busy")), {
    name: "Session.Busy",
    message: "It is busy",
    data: { sessionId: "s1" },
  })
})

test("GET /event works as a web stream, with replay, backpressure and cancel", async () => {
  await using t = await setUp()
  const cursor = (await t.ask("/event")).headers.get("x-vitamin-cursor") ?? ""
  await publish(t.tmp.path, range(0, 1000), "x".repeat(1000))
  const response = await t.ask("/event", { headers: { "last-event-id": cursor } })
  assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8")
  assert.equal(t.eventStream.clients(), 2)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  while ((text.match(/\ndata: /g) ?? []).length < 1000) text += (await reader.read()).value ?? ""
  assert.match(text, /^retry: 1000\n\n/)
  const numbers = text.split("\n\n").flatMap((block) => parseFrame(block)?.n ?? [])
  assert.deepEqual(numbers, range(0, 1000))
  await reader.cancel()
  await until(() => t.eventStream.clients() === 1, "the cancelled client to go")
})
