// Where a login may redirect: the login of a public server only to public addresses, checked after names are
// resolved.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { type TestContext, test } from "node:test"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { login } from "#ability/mcp/login.ts"
import { createTargetCheck } from "#ability/mcp/server/check-target.ts"
import type { MCPServerConfig } from "#ability/mcp/server/types.ts"
import { type LeadingServer, leadingServer, type Step } from "../../../fixture/mcp/leading-server.ts"
import * as Tls from "../../../fixture/tls.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

setDefaultCACertificates([...getCACertificates(), Tls.cert])

const own = "https://vitamin.test"
const other = "https://other.test"
const publicAddress = "93.184.216.34"
const steps: Step[] = ["resource", "metadata", "register", "authorize", "token"]

function serverAt(url: string): MCPServerConfig {
  return { id: "leading", name: "leading", transport: "http", url }
}

/** The person comes back with a code, wherever they were sent. */
async function visit(options: { url: string; resolve: (host: string) => Promise<string[]> }) {
  const sent: string[] = []
  const onUrl = (url: string) => {
    sent.push(new URL(url).host)
    const { searchParams } = new URL(url)
    const back = new URL(searchParams.get("redirect_uri")!)
    back.searchParams.set("code", "a-code")
    back.searchParams.set("state", searchParams.get("state")!)
    void fetch(back)
  }
  const { url, resolve } = options
  const error = await login({ server: serverAt(url), onUrl, resolve }).then(
    () => undefined,
    (error: Error) => error,
  )
  return { error, sent }
}

/** All names are this server, for who goes through the proxy: as if it was on the public internet. */
async function onTheInternet(t: TestContext): Promise<LeadingServer & { tunnels: string[] }> {
  const server = await leadingServer({ secure: true })
  const tunnels: string[] = []
  const proxy = createServer().on("connect", (request, socket) => {
    tunnels.push(request.url!)
    const onward = connect(server.port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n")
      onward.pipe(socket).pipe(onward)
    })
    onward.on("error", () => socket.destroy())
    socket.on("error", () => onward.destroy())
  })
  proxy.listen(0, "127.0.0.1")
  await once(proxy, "listening")
  const { port } = proxy.address() as AddressInfo
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"]
  const before = names.map((name) => [name, process.env[name]] as const)
  for (const name of names) delete process.env[name]
  process.env.HTTPS_PROXY = `http://127.0.0.1:${port}`
  t.after(async () => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    proxy.closeAllConnections()
    proxy.close()
    await server[Symbol.asyncDispose]()
  })
  for (const step of steps) server.leads[step] = own
  return Object.assign(server, { tunnels })
}

function resolveTo(...addresses: string[]) {
  return async (host: string) => (host === "other.test" ? addresses : [publicAddress])
}

test("a public server may have its login at another public name", async (t) => {
  await using _ = await tmpdir()
  const server = await onTheInternet(t)
  for (const step of steps.slice(1)) server.leads[step] = other
  const { error, sent } = await visit({ url: `${own}/mcp`, resolve: resolveTo("93.184.216.35") })
  assert.equal(error, undefined)
  assert.deepEqual(sent, ["other.test"])
  assert.ok(server.asked.includes("other.test/token"))
})

for (const step of steps)
  test(`a public server leads to no name that is a private address: ${step}`, async (t) => {
    const server = await onTheInternet(t)
    server.leads[step] = other
    for (const addresses of [
      ["127.0.0.1"],
      ["10.1.2.3"],
      ["169.254.169.254"],
      ["fd00::1"],
      ["::ffff:127.0.0.1"],
      [publicAddress, "192.168.1.1"],
    ]) {
      await using _ = await tmpdir()
      const { error, sent } = await visit({ url: `${own}/mcp`, resolve: resolveTo(...addresses) })
      assert.match(
        String(error?.message),
        /leads to https:\/\/other\.test, which is not on the public internet/,
      )
      assert.ok(!sent.includes("other.test"))
    }
    assert.ok(server.tunnels.length)
    assert.deepEqual(new Set(server.tunnels), new Set(["vitamin.test:443"]))
  })

for (const path of [
  "/mcp",
  "/.well-known/oauth-protected-resource/mcp",
  "/.well-known/oauth-authorization-server",
  "/register",
  "/token",
])
  test(`a redirect of ${path} to another origin is not followed`, async (t) => {
    await using _ = await tmpdir()
    const server = await onTheInternet(t)
    server.redirects[path] = other
    await visit({ url: `${own}/mcp`, resolve: resolveTo("127.0.0.1") })
    assert.ok(server.asked.includes(`vitamin.test${path}`))
    assert.deepEqual(new Set(server.tunnels), new Set(["vitamin.test:443"]))
  })

test("a server on this machine may have its login here under another name, at the address that was checked", async () => {
  await using _ = await tmpdir()
  await using server = await leadingServer()
  const named = `http://login.test:${server.port}`
  server.leads.metadata = server.leads.register = named
  const url = `http://127.0.0.1:${server.port}/mcp`
  const asked: string[] = []
  // No name server of this machine knows it.
  const resolve = async (host: string) => {
    asked.push(host)
    return ["127.0.0.1"]
  }
  const { error } = await visit({ url, resolve })
  assert.equal(error, undefined)
  assert.ok(server.asked.includes(`login.test:${server.port}/register`))
  assert.deepEqual(new Set(asked), new Set(["login.test"]))

  await using other = await leadingServer()
  other.leads.metadata = `http://login.test:${other.port}`
  const metadata = await visit({
    url: `http://127.0.0.1:${other.port}/mcp`,
    resolve: async () => ["169.254.169.254"],
  })
  assert.match(
    String(metadata.error?.message),
    /leads to http:\/\/login\.test:\d+, an address that no server may have/,
  )
})

test("createTargetCheck() allows targets that are as public as the server or more, and remembers the most public address", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() })
  const addresses: Record<string, string[]> = {
    "own.test": ["10.0.0.1"],
    "near.test": ["192.168.0.2"],
    "far.test": [publicAddress],
    "here.test": ["127.0.0.1"],
    "late.test": ["192.168.0.3"],
  }
  const resolve = async (host: string) => addresses[host]!
  const check = createTargetCheck({ server: serverAt("https://own.test/mcp"), resolve })
  const lead = (url: string) => check(new URL(url))
  assert.deepEqual(await lead("https://near.test/token"), ["192.168.0.2"])
  assert.deepEqual(await lead("https://far.test/token"), [publicAddress])
  await assert.rejects(lead("https://here.test/token"), /more private than its own address/)
  await assert.rejects(lead("https://localhost/token"), /more private than its own address/)
  await assert.rejects(lead("http://near.test/token"), /not https/)
  // Who owns the name lets it be the server's again.
  addresses["own.test"] = [publicAddress]
  t.mock.timers.tick(60_000)
  assert.deepEqual(await lead("https://own.test/mcp"), [publicAddress])
  addresses["own.test"] = ["10.0.0.1"]
  t.mock.timers.tick(60_000)
  await assert.rejects(lead("https://late.test/token"), /not on the public internet/)
})
