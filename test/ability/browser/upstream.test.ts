// The browser behind the proxy of the person's environment, a real one on loopback.
import assert from "node:assert/strict"
import { createServer, request } from "node:http"
import { connect } from "node:net"
import { type TestContext, test } from "node:test"
import { createProxy } from "#ability/web/proxy.ts"
import { upstreamOf } from "#ability/web/upstream-proxy.ts"
import { listen, type Site, site } from "../web/pages.ts"
import { browsing, refOf } from "./browsing.ts"

const names = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"]
/** Addresses count as public if they are literal ones of the internet, so that no name has to be resolved. */
const place = "93.184.216.34"

/** A proxy that wants a password and leads every request to one of two sites. It notes what it was asked for. */
async function upstream(t: TestContext, { plain, secure }: { plain: Site; secure: Site }) {
  const asked: string[] = []
  const isKnown = (given = "") => given === `Basic ${btoa("ada:pass word")}`
  const server = createServer((given, response) => {
    asked.push(`${given.method} ${given.url}`)
    if (!isKnown(given.headers["proxy-authorization"])) return void response.writeHead(407).end()
    const { pathname, search, host } = new URL(given.url!)
    const onward = request({
      port: plain.port,
      host: "127.0.0.1",
      path: pathname + search,
      headers: { host },
    })
    onward.on("response", (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    onward.end()
  })
  server.on("connect", (given, socket) => {
    asked.push(`CONNECT ${given.url}`)
    if (!isKnown(given.headers["proxy-authorization"]) || given.url!.startsWith("refused"))
      return void socket.end("HTTP/1.1 407 No\r\n\r\n")
    const onward = connect(secure.port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n")
      onward.pipe(socket).pipe(onward)
    })
    onward.on("error", () => socket.destroy())
    socket.on("error", () => onward.destroy())
  })
  const port = await listen(server)
  const before = names.map((name) => [name, process.env[name]] as const)
  t.after(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    server.closeAllConnections()
    server.close()
  })
  for (const name of names) delete process.env[name]
  process.env.HTTP_PROXY = process.env.HTTPS_PROXY = `http://ada:pass%20word@127.0.0.1:${port}`
  return { asked }
}

test("the browser goes through the proxy of the environment, and to private addresses without it", async (t) => {
  await using plain = await site({ "/": `<p>By proxy</p><a href="/next">Next</a>`, "/next": "<p>Second</p>" })
  await using secure = await site({ "/": "<p>Tunnelled</p>" }, { secure: true })
  await using local = await site({ "/": "<p>Direct</p>" })
  const { asked } = await upstream(t, { plain, secure })
  await browsing(local, async ({ use, fail }) => {
    const page = await use("open", { url: `http://${place}/` })
    assert.match(page, /By proxy/)
    assert.match(await use("click", { ref: refOf(page, "Next") }), /Second/)
    assert.match(await use("open", { url: local.origin }), /Direct/)
    // The certificate is not for this address: Chromium got as far as to see it.
    assert.match(await fail("open", { url: `https://${place}/` }), /ERR_CERT/)
    assert.match(await fail("open", { url: "http://10.0.0.1/" }), /not on the public internet/)
  })
  const pages = asked.filter((line) => !line.includes("favicon"))
  assert.deepEqual(
    [...new Set(pages)],
    [`GET http://${place}/`, `GET http://${place}/next`, `CONNECT ${place}:443`],
  )
})

test("a tunnel gets the name that was checked, and a refusal of the proxy ends it", async (t) => {
  await using plain = await site({})
  await using secure = await site({ "/": "<p>Tunnelled</p>" }, { secure: true })
  const { asked } = await upstream(t, { plain, secure })
  const proxy = await createProxy(async (url) => ({ url: new URL(url), address: place }))
  t.after(() => proxy.close())
  const tunnel = (path: string) =>
    new Promise<number>((resolve, reject) => {
      request({ port: proxy.port, host: "127.0.0.1", method: "CONNECT", path })
        .on("connect", ({ statusCode }, socket) => {
          socket.destroy()
          resolve(statusCode!)
        })
        .on("error", reject)
        .end()
    })
  assert.equal(await tunnel("vitamin.test:443"), 200)
  assert.equal(await tunnel("refused.test:443"), 502)
  assert.deepEqual(asked, ["CONNECT vitamin.test:443", "CONNECT refused.test:443"])
})

test("NO_PROXY names hosts and domains, with or without a port, that are reached directly", async (t) => {
  await using plain = await site({})
  await upstream(t, { plain, secure: plain })
  process.env.NO_PROXY = "one.test, .two.test,*.three.test three.test:8443"
  const isDirect = (url: string) => upstreamOf(new URL(url)) === undefined
  for (const url of [
    "http://one.test/",
    "https://a.one.test/",
    "https://a.b.two.test/",
    "https://x.three.test:1/",
  ])
    assert.ok(isDirect(url), url)
  for (const url of ["http://another-one.test/", "https://one.test.example/", "https://93.184.216.34/"])
    assert.ok(!isDirect(url), url)
  process.env.NO_PROXY = "one.test:8443"
  assert.ok(isDirect("https://one.test:8443/") && !isDirect("https://one.test/"))
  process.env.NO_PROXY = "*"
  assert.ok(isDirect("https://one.test/"))
})
