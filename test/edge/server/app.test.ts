// The app without a socket: who is let in, what the routes answer, what is refused and how.
import assert from "node:assert/strict"
import { mkdirSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { z } from "zod"
import { createApp } from "#edge/server/app.ts"
import { createEventStream } from "#edge/server/event-stream.ts"
import { defineRoute } from "#edge/server/route.ts"
import { createEventLog } from "#kernel/event-log.ts"
import { Instance } from "#kernel/instance.ts"
import * as Secret from "#kernel/secret.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { NamedError } from "#util/error.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { parseFrame, publish, range, until } from "./harness.ts"

const token = "t".repeat(43)
const auth = { authorization: `Bearer ${token}` }
const base = "http://127.0.0.1:3141"

const echo = defineRoute({
  method: "POST",
  path: "/echo/:id",
  summary: "For tests",
  params: z.object({ id: z.string().max(5) }),
  query: z.object({ loud: z.coerce.boolean().optional() }),
  body: z.object({ parts: z.array(z.object({ text: z.string() })) }),
  response: z.object({ id: z.string(), parts: z.number(), directory: z.string() }),
  errors: [404],
  handle: ({ params, body }) => ({ id: params.id, parts: body.parts.length, directory: Instance.directory }),
})
const failures: Record<string, () => unknown> = {
  missing: () => Storage.read(["no", "such"]),
  busy: () => Promise.reject(new NamedError("Session.Busy", "It is busy", { sessionId: "s1" })),
  denied: () => Promise.reject(new NamedError("Permission.Denied", "Not allowed")),
  crash: () => Promise.reject(new TypeError("a secret place: /etc/hidden")),
  leak: () =>
    Promise.reject(
      new NamedError("Provider.Invalid", "key sk-held-by-us was refused", { key: "sk-held-by-us" }),
    ),
  wrong: () => 42,
}
const fail = defineRoute({
  method: "GET",
  path: "/fail/:how",
  summary: "For tests",
  params: z.object({ how: z.string() }),
  response: z.object({}),
  handle: async ({ params }) => (await failures[params.how]?.()) as Record<string, never>,
})

async function setUp() {
  const tmp = await tmpdir({ git: true })
  const log = createEventLog({ directory: join(tmp.path, "events") })
  const eventStream = createEventStream({ log })
  let inits = 0
  const app = createApp({
    token,
    hosts: ["127.0.0.1:3141", "localhost:3141"],
    origins: ["http://127.0.0.1:3141"],
    directory: tmp.path,
    init: () => void inits++,
    config: () => ({ directory: Instance.directory, apiKey: "sk-held-by-us" }),
    version: "1.2.3",
    eventStream,
    routes: [echo, fail],
    bodyLimit: 5000,
  })
  const ask = (path: string, init: RequestInit = {}) =>
    app.request(base + path, { ...init, headers: { ...auth, ...(init.headers as Record<string, string>) } })
  return {
    tmp,
    app,
    ask,
    eventStream,
    inits: () => inits,
    async [Symbol.asyncDispose]() {
      eventStream.close()
      log.close()
      await Instance.disposeAll()
      await tmp[Symbol.asyncDispose]()
    },
  }
}

type Failure = { error: { name: string; message: string; data?: Record<string, unknown> } }
const errorOf = async (response: Response) => ((await response.json()) as Failure).error
type Body = string | Uint8Array<ArrayBuffer> | ReadableStream
const json = { "content-type": "application/json" }

test("GET /health is open and bare", async () => {
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
  assert.equal((await t.app.request(`${base}/health`, { method: "POST" })).status, 401)
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

test("an unknown path is 404, another method 405 with Allow, whatever other headers say", async () => {
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

test("a wrong x-vitamin-directory is 400 and names the header", async () => {
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

test("held secrets are taken out of answers and errors", async () => {
  await using t = await setUp()
  Secret.hold("sk-held-by-us", "test key")
  const config = await (await t.ask("/config")).text()
  assert.equal(config.includes("sk-held-by-us"), false)
  assert.match(config, /\[test key\]/)
  const response = await t.ask("/fail/leak")
  assert.equal(response.status, 400)
  assert.equal((await response.text()).includes("sk-held-by-us"), false)
})

test("errors become a status by their name, and foreign ones show nothing", async () => {
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

test("a body is checked for type, size, encoding, depth and shape, and the answer says where it is wrong", async () => {
  await using t = await setUp()
  const send = (body: Body, headers: Record<string, string> = json) =>
    t.ask("/echo/1", { method: "POST", body, headers, duplex: "half" } as RequestInit)
  const good = await send('\ufeff{"parts":[{"text":"a"}],"__proto__":{"x":1}}')
  assert.equal(good.status, 200)
  assert.deepEqual(await good.json(), { id: "1", parts: 1, directory: t.tmp.path })
  const wrong: [Body, RegExp][] = [
    ["", /body/],
    ["{", /body/],
    ['{"parts":[{"text":1}]}', /body\.parts\.0\.text/],
    ["null", /body/],
    ['{"parts":"\0"}', /body/],
    [new Uint8Array([0x22, 0xff, 0x22]), /body.*(encod|utf)/i],
    [`${"[".repeat(2000)}${"]".repeat(2000)}`, /deeper than 100/],
  ]
  for (const [body, pattern] of wrong) {
    const response = await send(body)
    assert.equal(response.status, 400, String(pattern))
    assert.match((await errorOf(response)).message, pattern)
  }
  assert.equal((await send("{}", { "content-type": "text/plain" })).status, 415)
  const big = JSON.stringify({ parts: [{ text: "x".repeat(6000) }] })
  assert.equal((await send(big)).status, 413)
  assert.equal((await send(big, { ...json, "content-length": "6020" })).status, 413)
  const pieces = range(0, 20).map(() => new Uint8Array(1000).fill(32))
  assert.equal((await send(ReadableStream.from(pieces))).status, 413)
  const tooLong = await t.ask("/echo/123456", { method: "POST", body: '{"parts":[]}', headers: json })
  assert.match((await errorOf(tooLong)).message, /path\.id/)
})

test("GET /openapi.json describes every route from its schemas, and the event types", async () => {
  await using t = await setUp()
  const document = JSON.parse(await (await t.ask("/openapi.json")).text())
  assert.equal(document.openapi, "3.1.0")
  assert.deepEqual(Object.keys(document.paths).sort(), [
    "/config",
    "/echo/{id}",
    "/event",
    "/fail/{how}",
    "/health",
    "/info",
    "/openapi.json",
  ])
  const { post } = document.paths["/echo/{id}"]
  assert.deepEqual(post.parameters[0], {
    name: "id",
    in: "path",
    required: true,
    schema: { type: "string", maxLength: 5 },
  })
  assert.equal(post.requestBody.content["application/json"].schema.properties.parts.type, "array")
  assert.ok(post.responses["404"])
  assert.deepEqual(document.paths["/health"].get.security, [])
  const types = document.components.schemas.Event.oneOf.map(
    (one: { properties: { type: { const: string } } }) => one.properties.type.const,
  )
  assert.ok(types.includes("instance.disposed") && types.includes("test.tick"))
})

test("GET /event works as a web stream too, with replay, back-pressure and cancel", async () => {
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
