// Who may use the page: one-time codes, the cookie of a browser, and pages of others.
import assert from "node:assert/strict"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { chromium } from "playwright-core"
import { createBrowserSessions } from "#edge/server/web/browser-sessions.ts"
import { serving, startVitamin } from "../../fixture/cli.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openPage } from "./harness.ts"
import { shows } from "./shows.ts"

test("the code leaves the address, works once, and gives a cookie that scripts cannot read", async () => {
  await using t = await openPage([])
  assert.doesNotMatch(t.page.url(), /code=/)
  const [cookie] = await t.page.context().cookies()
  assert.deepEqual(
    [cookie!.httpOnly, cookie!.sameSite, cookie!.value.includes(t.token)],
    [true, "Strict", false],
  )
  assert.equal(await t.page.evaluate("document.cookie"), "")
  const { code } = await t.client.createBrowserCode()
  const exchange = () =>
    fetch(`${t.url}/browser`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    })
  assert.equal((await exchange()).status, 200)
  assert.equal((await exchange()).status, 403)
})

test("a code is refused after a minute", async (t) => {
  await using _ = await tmpdir()
  const sessions = await createBrowserSessions({ port: 1 })
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() })
  const { code } = sessions.createCode()
  t.mock.timers.tick(60_001)
  assert.equal(await sessions.exchange(code, ""), undefined)
})

test("the cookie alone changes nothing: requests need the header of the page, and changes its Origin", async () => {
  await using t = await openPage([])
  const [cookie] = await t.page.context().cookies()
  const signedIn = { cookie: `${cookie!.name}=${cookie!.value}` }
  const status = async (method: string, headers: object) =>
    (
      await fetch(`${t.url}/session`, {
        method,
        headers: { ...signedIn, ...headers, "content-type": "application/json" },
        ...(method === "POST" ? { body: "{}" } : {}),
      })
    ).status
  const page = { "x-vitamin-page": String(await t.page.evaluate("localStorage['vitamin.key']")) }
  assert.equal(await status("GET", {}), 403)
  assert.equal(await status("GET", { "x-vitamin-page": "1" }), 401)
  assert.equal(await status("GET", page), 200)
  assert.equal(await status("POST", page), 403)
  assert.equal(await status("POST", { ...page, origin: "http://127.0.0.1:1" }), 403)
  assert.equal(await status("POST", { ...page, origin: t.url }), 200)
})

test("a page of another port of this machine cannot read, post, frame or open a socket", async () => {
  await using t = await openPage([])
  const other = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end("<p>other</p>"),
  )
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
  using _ = { [Symbol.dispose]: () => other.close() }
  const tab = await t.page.context().newPage()
  await tab.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`)
  const outcome = await tab.evaluate(async (url) => {
    const attempt = (work: Promise<unknown>) =>
      work.then(
        () => "reached",
        () => "refused",
      )
    const post = { method: "POST", credentials: "include", body: "{}" } as const
    const socket = new Promise((resolve, reject) => {
      const opened = new WebSocket(`${url.replace("http", "ws")}/acp`)
      opened.onopen = resolve
      opened.onerror = reject
    })
    const frame = document.createElement("iframe")
    frame.src = url
    document.body.append(frame)
    await new Promise((resolve) => frame.addEventListener("load", resolve))
    return {
      read: await attempt(fetch(`${url}/session`, { credentials: "include" })),
      page: await attempt(
        fetch(`${url}/session`, { credentials: "include", headers: { "x-vitamin-page": "1" } }),
      ),
      // It is sent, and its answer is hidden.
      post: await attempt(fetch(`${url}/session`, { ...post, mode: "no-cors" })),
      socket: await attempt(socket),
    }
  }, t.url)
  assert.deepEqual(outcome, { read: "refused", page: "refused", post: "refused", socket: "refused" })
  assert.equal(await tab.frames()[1]!.locator("#page").count(), 0)
  assert.deepEqual(await t.client.listSessions(), [])
})

test("a server on another port that gets the cookie can do nothing with it", async () => {
  await using t = await openPage([])
  let stolen = ""
  const other = createServer((incoming, response) => {
    stolen = incoming.headers.cookie ?? ""
    response.end("other")
  })
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
  using _ = { [Symbol.dispose]: () => other.close() }
  const tab = await t.page.context().newPage()
  await tab.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`)
  // Browsers do send it, which is why it must not be enough.
  assert.match(stolen, /vitamin_session_\d+=/)
  assert.equal(await tab.evaluate("localStorage['vitamin.key']"), undefined)
  for (const key of ["", "1", stolen]) {
    const headers = { cookie: stolen, origin: t.url, "x-vitamin-page": key }
    const answers = [
      await fetch(`${t.url}/session`, { headers }),
      await fetch(`${t.url}/event`, { headers }),
      await fetch(`${t.url}/browser/code`, { method: "POST", headers }),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [401, 401, 401],
    )
  }
})

test("a browser that is signed out gets no more events, and the page says how to sign in", async () => {
  await using t = await openPage([])
  const [browser] = await t.client.listBrowsers()
  const { clients } = await t.client.getInfo()
  assert.equal(clients, 1)
  await t.client.signOutBrowser({ id: browser!.id })
  await t.page.getByText("Not signed in").waitFor()
  await until(async () => (await t.client.getInfo()).clients === 0, "its stream has ended")
  await assert.rejects(t.client.signOutBrowser({ id: browser!.id }), { status: 404 })
})

test("a signed-in browser stays signed in when the server is killed and started again", async () => {
  await using t = await openPage([])
  const lost = shows(t.page, "Connection lost")
  await t.restart()
  await lost
  await t.page.getByText("Connected").waitFor()
})

test("vitamin web prints an address of the server that runs, and starts one if none does", async () => {
  await using tmp = await tmpdir({ git: true })
  await using started = startVitamin(tmp, ["web", "--port", "0", "--no-open"])
  const address = await started.line(/#code=/)
  assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{43}&folder=/)
  const running = await serving(tmp)
  await using _ = running.child
  await using second = startVitamin(tmp, ["web", "--port", new URL(running.url).port, "--no-open"])
  const other = await second.line(/#code=/)
  assert.equal(await second.exit, 0)
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] })
  const page = await browser.newPage()
  await page.goto(other)
  await page.getByText("Connected").waitFor()
  await browser.close()
})

test("vitamin web gives a browser a private file, so that its command line shows no code", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("browser.sh", `#!/bin/sh\necho "$@" > "${tmp.path}/args"\ncat "$1" > "${tmp.path}/content"\n`)
  const { chmodSync, readFileSync, statSync } = await import("node:fs")
  chmodSync(`${tmp.path}/browser.sh`, 0o755)
  await using started = startVitamin(tmp, ["web", "--port", "0"], { BROWSER: `${tmp.path}/browser.sh` })
  const address = await started.line(/#code=/)
  await until(() => statSync(`${tmp.path}/content`, { throwIfNoEntry: false })?.size, "the file is opened")
  const args = readFileSync(`${tmp.path}/args`, "utf8").trim()
  assert.doesNotMatch(args, /code=/)
  assert.equal(statSync(args).mode & 0o777, 0o600)
  assert.ok(readFileSync(`${tmp.path}/content`, "utf8").includes(address.replaceAll("&", "&amp;")))
})
