// Where a browser may go: every navigation, redirect and sub-request is judged, and connected through the proxy.
import assert from "node:assert/strict"
import { createSocket } from "node:dgram"
import { request } from "node:http"
import { test } from "node:test"
import { createExpectedHosts } from "#ability/browser/expected-hosts.ts"
import { checkUrl } from "#ability/web/check-url.ts"
import { createProxy } from "#ability/web/proxy.ts"
import { until } from "../../fixture/until.ts"
import { free } from "../tool/harness.ts"
import { redirect, type Site, site } from "../web/pages.ts"
import { type Browse, browsing, refOf } from "./browsing.ts"

/** Grants the first site, and answers for the others by their path. */
function judging(web: Site, actions: Record<string, "allow" | "deny">) {
  return {
    permit: () => ({
      granted: [web.origin],
      judge: ({ target }: { target: string }) => actions[new URL(target).pathname] ?? "ask",
    }),
  } as const
}

test("without a grant no page of a private address is opened, and no request gets there", async () => {
  await using web = await site({ "/": "<p>Here</p>" })
  await browsing(
    web,
    async ({ fail }) => {
      for (const url of [web.origin, `http://2130706433:${web.port}/`, `http://localhost:${web.port}/`])
        assert.match(await fail("open", { url }), /is not on the public internet/)
      assert.match(await fail("open", { url: "file:///etc/passwd" }), /expected a whole URL/)
      assert.equal(web.asked.length, 0)
    },
    free,
  )
})

test("a redirect, a link, a window and the parts of a page cannot lead to another private address", async () => {
  await using secret = await site({ "/": "<p>Secret</p>" })
  await using web = await site({
    "/redirect": redirect(`${secret.origin}/`),
    "/": `<a href="${secret.origin}/">Link</a><a target=_blank href="${secret.origin}/">Window</a>
<a href="/redirect">Round about</a><img src="${secret.origin}/image"><img src="/image"><iframe src="${secret.origin}/frame"></iframe>
<form action="${secret.origin}/" method=post><button>Post</button></form><p id=done></p>
<script>fetch("${secret.origin}/fetch", { mode: "no-cors" }).catch(() => {}).then(() => { done.textContent += "fetched " })
const socket = new WebSocket("${secret.origin.replace("http", "ws")}/socket")
socket.onerror = () => { done.textContent += "closed" }</script>`,
    "/image": redirect(`${secret.origin}/image`),
  })
  await browsing(web, async ({ use, fail }) => {
    assert.match(
      await fail("open", { url: `${web.origin}/redirect` }),
      /"http:\/\/127\.0\.0\.1:\d+\/" cannot be fetched: 127\.0\.0\.1 is not on the public internet/,
    )
    const page = await use("open", { url: web.origin })
    for (const name of ["Link", "Window", "Round about", "Post"])
      assert.match(await fail("click", { ref: refOf(page, name) }), /not on the public internet/)
    const text = await use("wait", { text: "closed" })
    assert.ok(page.includes(`[blocked requests of the page: `) || text.includes("[blocked requests"), page)
    assert.equal(secret.asked.length, 0)
  })
})

test("a page sends nothing to a private address that it goes to without arriving there", async () => {
  await using secret = await site({
    "/none": (response) => void response.writeHead(204).end(),
    "/later": (response) => void setTimeout(() => response.writeHead(204).end(), 500),
    "/arrive": `<script>fetch("/own").then(() => document.body.append("Loaded"))</script><p>Arrived</p>`,
  })
  await using web = await site({
    "/": `<p id=said></p><script>
let tries = 0
const again = () => { said.textContent = "tries: " + ++tries; setTimeout(ask, 50) }
const ask = () => fetch("${secret.origin}/api", { method: "POST", mode: "no-cors" }).then(again, again)
ask()</script>`,
  })
  let granted = [web.origin]
  await browsing(
    web,
    async ({ use, fail }) => {
      await use("open", { url: web.origin })
      // From now on the page counts as one of the internet.
      granted = [secret.origin]
      for (const path of ["/none", "/later"]) {
        assert.match(await fail("open", { url: secret.origin + path }), /ERR_ABORTED/)
        const tries = await triesOf(use)
        await until(async () => (await triesOf(use)) > tries + 5, "the page tries again")
      }
      const asked = secret.asked.map(({ method, url }) => `${method} ${url}`)
      assert.deepEqual(asked, ["GET /none", "GET /later"])
      await use("open", { url: `${secret.origin}/arrive` })
      await use("wait", { text: "Loaded" })
    },
    { permit: () => ({ granted }) },
  )
})

async function triesOf(use: Browse["use"]): Promise<number> {
  return Number(/tries: (\d+)/.exec(await use("read"))?.[1])
}

test("no packet leaves the browser past the proxy, not even for WebRTC", async () => {
  let packets = 0
  const stun = createSocket("udp4").on("message", () => packets++)
  stun.unref()
  await new Promise<void>((resolve) => stun.bind(0, "127.0.0.1", resolve))
  await using web = await site({
    "/": `<script>
const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:${stun.address().port}" }] })
peer.createDataChannel("x")
peer.createOffer().then((offer) => peer.setLocalDescription(offer))</script>`,
  })
  await browsing(web, async ({ use }) => {
    await use("open", { url: web.origin })
    // Without the policy the first packet comes at once; nothing tells that none will.
    await use("wait", { seconds: 3 })
    assert.equal(packets, 0)
  })
  stun.close()
})

test("the proxy waits a moment for a host, and passes none that no page asked for", async () => {
  const hosts = createExpectedHosts()
  const waiting = hosts.includes("https://late.example:443/")
  assert.equal(await hosts.includes("https://update.example/"), false)
  hosts.add("https://soon.example/page")
  assert.equal(await hosts.includes("http://soon.example:8080/"), true)
  assert.equal(await waiting, false)
  const later = hosts.includes("https://later.example/")
  hosts.add("https://later.example/x")
  assert.equal(await later, true)
})

test("the rules decide where a page leads: the same site, what they allow, and nothing that they deny", async () => {
  await using other = await site({ "/allowed": "<p>Allowed</p>", "/unclear": "<p>Unclear</p>" })
  await using web = await site({
    "/": `<a href="/unclear">Same</a><a href="/denied">Denied</a><a href="/to-denied">Round</a>
<a href="${other.origin}/unclear">Other</a><img src="/denied">`,
    "/unclear": "<p>Same site</p>",
    "/to-denied": redirect("/denied"),
    "/denied": "<p>Denied</p>",
  })
  const slots = judging(web, { "/": "allow", "/to-denied": "allow", "/denied": "deny" })
  const both = {
    permit: () => ({ ...slots.permit(), granted: [web.origin, other.origin] }),
  }
  await browsing(
    web,
    async ({ use, fail }) => {
      const page = await use("open", { url: web.origin })
      assert.match(
        await fail("click", { ref: refOf(page, "Denied") }),
        /leads to it, and the rules deny that/,
      )
      assert.match(await fail("click", { ref: refOf(page, "Round") }), /leads to it, and the rules deny that/)
      assert.match(
        await fail("click", { ref: refOf(page, "Other") }),
        /which was not allowed\. Open that URL itself to ask for it/,
      )
      assert.equal(other.asked.length, 0)
      assert.ok(!web.asked.some(({ url }) => url === "/denied"))
    },
    both,
  )
})

test("the proxy connects to the address that was checked, whatever the name resolves to later", async () => {
  await using web = await site({ "/page": "<p>Here</p>" })
  const answers = [["127.0.0.1"], ["10.0.0.1"]]
  const granted = [`http://rebind.example:${web.port}`]
  const asked: string[] = []
  const proxy = await createProxy((url) => {
    asked.push(url)
    return checkUrl(url, {
      resolve: async () => answers.shift() ?? ["10.0.0.1"],
      granted: asked.length > 1 ? [] : granted,
    })
  })
  try {
    const url = `http://rebind.example:${web.port}/page`
    assert.deepEqual(await get(proxy.port, url), [200, "<p>Here</p>"])
    assert.equal(web.asked[0]!.headers.host, `rebind.example:${web.port}`)
    const [status, text] = await get(proxy.port, url)
    assert.equal(status, 403)
    assert.match(text, /rebind\.example, at 10\.0\.0\.1, is not on the public internet/)
    assert.equal(web.asked.length, 1)
  } finally {
    await proxy.close()
  }
})

test("a tunnel of the proxy ends with its client, and a refused one is answered with 403", async () => {
  await using web = await site({ "/": "<p>Here</p>" })
  const proxy = await createProxy((url) => checkUrl(url, { resolve: async () => [], granted: [web.origin] }))
  const connect = (host: string) =>
    new Promise<[number, import("node:stream").Duplex]>((resolve, reject) => {
      request({ port: proxy.port, host: "127.0.0.1", method: "CONNECT", path: host })
        .on("connect", ({ statusCode }, socket) => resolve([statusCode!, socket]))
        .on("error", reject)
        .end()
    })
  try {
    assert.equal((await connect("127.0.0.1:9"))[0], 403)
    const [status, socket] = await connect(`127.0.0.1:${web.port}`)
    assert.equal(status, 200)
    let said = ""
    socket.on("data", (chunk) => {
      said += chunk
    })
    socket.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    await until(() => said.includes("Here"))
  } finally {
    await proxy.close()
  }
})

function get(port: number, url: string): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    request({ port, host: "127.0.0.1", path: url, headers: { host: new URL(url).host } })
      .on("response", async (response) => {
        const chunks = await response.toArray()
        resolve([response.statusCode!, Buffer.concat(chunks).toString()])
      })
      .on("error", reject)
      .end()
  })
}
