// Connections: only to the address that was checked, through a proxy if there is one, within limits.
import assert from "node:assert/strict"
import { createServer } from "node:http"
import { connect } from "node:net"
import { test } from "node:test"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { getPage } from "#ability/web/get-page.ts"
import * as Tls from "../../fixture/tls.ts"
import { listen, redirect, site } from "./pages.ts"

const { signal } = new AbortController()
setDefaultCACertificates([...getCACertificates(), Tls.cert])

test("getPage() connects to the address that was checked, with the name as Host", async () => {
  await using web = await site({ "/x": "here" })
  const asked: string[] = []
  const resolve = async (host: string) => {
    asked.push(host)
    // A name server that says something else the second time.
    return asked.length === 1 ? ["127.0.0.1"] : ["192.0.2.1"]
  }
  const origin = `http://vitamin.test:${web.port}`
  const page = await getPage(`${origin}/x`, { signal, resolve, granted: [origin] })
  assert.equal(page.bytes.toString(), "here")
  assert.deepEqual(asked, ["vitamin.test"])
  assert.equal(web.asked[0]!.headers.host, `vitamin.test:${web.port}`)
})

test("getPage() asks and checks again for every redirect, also to the same name", async () => {
  await using web = await site({ "/": redirect("/next"), "/next": "reached" })
  const answers = [["127.0.0.1"], ["169.254.169.254"]]
  const origin = `http://vitamin.test:${web.port}`
  const other = `http://other.test:${web.port}`
  const once = await getPage(origin, { signal, resolve: async () => ["127.0.0.1"], granted: [origin] })
  assert.equal(once.bytes.toString(), "reached")
  await using away = await site({ "/": redirect(`${other}/next`) })
  const from = `http://vitamin.test:${away.port}`
  const asked = web.asked.length
  const resolve = async () => answers.shift()!
  await assert.rejects(getPage(from, { signal, resolve, granted: [from] }), {
    name: "UrlDenied",
    reason: "address",
  })
  assert.equal(web.asked.length, asked)
  assert.equal(answers.length, 0)
})

test("getPage() speaks TLS with the name, and does not follow a redirect from https to http", async () => {
  await using plain = await site({ "/": "plain" })
  await using web = await site(
    { "/x": "secret", "/down": redirect(plain.origin), "/up": redirect("/x") },
    { secure: true },
  )
  const get = (host: string, path: string) => {
    const origin = `https://${host}:${web.port}`
    const granted = [origin, plain.origin]
    return getPage(origin + path, { signal, resolve: async () => ["127.0.0.1"], granted })
  }
  assert.equal((await get("vitamin.test", "/up")).bytes.toString(), "secret")
  assert.equal((web.asked[0]!.socket as import("node:tls").TLSSocket).servername, "vitamin.test")
  await assert.rejects(get("vitamin.test", "/down"), {
    name: "UrlDenied",
    message: /redirects from https to http/,
  })
  await assert.rejects(get("wrong.test", "/x"), { name: "Fetch.Unreachable", message: /altnames/ })
  assert.equal(plain.asked.length, 0)
  const up = await site({ "/": redirect(`https://vitamin.test:${web.port}/x`) })
  const granted = [up.origin, `https://vitamin.test:${web.port}`]
  const page = await getPage(up.origin, { signal, resolve: async () => ["127.0.0.1"], granted })
  assert.equal(page.url.href, `https://vitamin.test:${web.port}/x`)
  await up[Symbol.asyncDispose]()
})

test("getPage() follows five redirects, not six", async () => {
  const pages = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`/${i + 1}`, redirect(`/${i}`)]))
  await using web = await site({ ...pages, "/0": "end" })
  const granted = [web.origin]
  assert.equal((await getPage(`${web.origin}/5`, { signal, granted })).bytes.toString(), "end")
  await assert.rejects(getPage(`${web.origin}/6`, { signal, granted }), {
    name: "Fetch.Unreachable",
    message: /redirects more than 5 times, at last to http:\/\/127\.0\.0\.1:\d+\/0/,
  })
})

test("getPage() ends at its time limit: an unresolved name, a silent server, a slow server", async () => {
  await using web = await site({
    "/silent": () => {},
    "/drip": (response) => {
      response.writeHead(200, { "content-type": "text/html" })
      const timer = setInterval(() => response.write("x"), 20)
      response.on("close", () => clearInterval(timer))
    },
  })
  const limited = { signal, granted: [web.origin], limits: { milliseconds: 200 } }
  const slow = { name: "Fetch.Unreachable", message: /took longer than 0\.2 s/ }
  await assert.rejects(getPage(`${web.origin}/silent`, limited), slow)
  await assert.rejects(getPage(`${web.origin}/drip`, limited), slow)
  const resolve = () => new Promise<string[]>(() => {})
  await assert.rejects(getPage("https://example.com/", { ...limited, resolve }), slow)
})

test("getPage() goes through the proxy of the environment after it checked the address; private addresses never do", async () => {
  await using web = await site({ "/x": "direct" })
  await using secure = await site({ "/x": "tunnelled" }, { secure: true })
  const proxied: string[] = []
  const proxy = createServer((request, response) => {
    proxied.push(request.url!)
    response.end("by proxy")
  })
  proxy.on("connect", (request, socket) => {
    proxied.push(request.url!)
    const onward = connect(secure.port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n")
      onward.pipe(socket).pipe(onward)
    })
    onward.on("error", () => socket.destroy())
    socket.on("error", () => onward.destroy())
  })
  const port = await listen(proxy)
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"]
  const before = names.map((name) => [name, process.env[name]] as const)
  try {
    for (const name of names) delete process.env[name]
    process.env.HTTP_PROXY = process.env.HTTPS_PROXY = `http://localhost:${port}`
    const at = (address: string) => ({ signal, resolve: async () => [address], granted: [web.origin] })
    const get = async (url: string, address: string) => (await getPage(url, at(address))).bytes.toString()
    assert.equal(await get("http://vitamin.test/x", "93.184.216.34"), "by proxy")
    assert.equal(await get("https://vitamin.test/x", "93.184.216.34"), "tunnelled")
    assert.deepEqual(proxied, ["http://vitamin.test/x", "vitamin.test:443"])
    await assert.rejects(get("http://vitamin.test/x", "10.0.0.1"), { name: "UrlDenied" })
    assert.equal(await get(`${web.origin}/x`, "never asked"), "direct")
    assert.equal(proxied.length, 2)
  } finally {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    proxy.closeAllConnections()
    proxy.close()
  }
})
