// What programs and pages of others could send to the server of the page, and what it answers.
import assert from "node:assert/strict"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { until } from "../../fixture/until.ts"
import { openPage } from "./harness.ts"

/** `fetch` would not send these targets and hosts as they are. */
function send(url: string, path: string, headers: Record<string, string> = {}) {
  const { hostname, port } = new URL(url)
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>(
    (resolve, reject) => {
      const asked = request({ hostname, port, path, headers }, async (answer) => {
        let body = ""
        for await (const part of answer) body += part
        resolve({ status: answer.statusCode!, headers: answer.headers, body })
      })
      asked.on("error", reject).end()
    },
  )
}

test("files outside the page, other Host names and oversized headers are refused; secrets are not cached", async () => {
  await using t = await openPage([])
  for (const path of [
    "/assets/../package.json",
    "/assets/..%2f..%2fpackage.json",
    "/assets/%2e%2e/index.html",
    "/assets//etc/passwd",
    "/assets/index.html.gz",
    "/assets/..\\package.json",
    "/assets/%00",
    "/assets/",
  ])
    assert.ok([400, 401, 404].includes((await send(t.url, path)).status), path)
  for (const host of ["evil.example", "127.0.0.1", `evil.example:${new URL(t.url).port}`]) {
    const answer = await send(t.url, "/", { host })
    assert.equal(answer.status, 421, host)
    assert.doesNotMatch(answer.body, /<script/)
  }
  const bombed = await send(t.url, "/", { cookie: "x=".padEnd(20_000, "x") })
  assert.equal(bombed.status, 431)
  const page = await send(t.url, "/")
  assert.match(String(page.headers["content-security-policy"]), /frame-ancestors 'none'/)
  assert.equal(page.headers["x-frame-options"], "DENY")
  assert.equal(page.headers["cross-origin-opener-policy"], "same-origin")
  assert.equal(page.headers["referrer-policy"], "no-referrer")
  const code = await send(t.url, "/browser", { authorization: `Bearer ${t.token}` })
  assert.equal(code.headers["cache-control"], "no-store")
  const { code: given } = await t.client.createBrowserCode()
  const signedIn = await fetch(`${t.url}/browser`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: given }),
  })
  assert.equal(signedIn.headers.get("cache-control"), "no-store")
  // Guesses use nothing up: a code that is given meanwhile still works.
  const { code: fresh } = await t.client.createBrowserCode()
  const exchange = (body: string, type = "application/json") =>
    fetch(`${t.url}/browser`, { method: "POST", headers: { "content-type": type }, body })
  for (let i = 0; i < 30; i++)
    assert.equal((await exchange(JSON.stringify({ code: `${fresh.slice(0, -1)}!` }))).status, 403)
  assert.equal((await exchange(JSON.stringify({ code: fresh }), "text/plain")).status, 415)
  assert.equal((await exchange(JSON.stringify({ code: fresh }))).status, 200)
})

test("a page of others cannot post forms, follow events, or keep hold of a window with the page", async () => {
  await using t = await openPage([])
  const other = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end("<p>other</p>"),
  )
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
  using _ = { [Symbol.dispose]: () => other.close() }
  const foreign = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`
  const tab = await t.page.context().newPage()
  await tab.goto(foreign)
  const events = await tab.evaluate(
    (url) =>
      new Promise((resolve) => {
        const source = new EventSource(`${url}/event`, { withCredentials: true })
        source.onopen = () => resolve("open")
        source.onerror = () => resolve("refused")
      }),
    t.url,
  )
  assert.equal(events, "refused")
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    const posting = await t.page.context().newPage()
    await posting.goto(foreign)
    const answered = posting.waitForResponse((response) => response.url().startsWith(t.url))
    await posting.evaluate(
      ([url, enctype]) => {
        const form = document.createElement("form")
        Object.assign(form, { action: `${url}/session`, method: "post", enctype })
        const input = document.createElement("input")
        input.name = '{"title":"'
        input.value = 'posted"}'
        form.append(input)
        document.body.append(form)
        form.submit()
      },
      [t.url, type],
    )
    assert.equal((await answered).status(), 403, type)
  }
  assert.deepEqual(await t.client.listSessions(), [])
  const opened = t.page.context().waitForEvent("page")
  await tab.evaluate((url) => Object.assign(window, { held: window.open(url) }), t.url)
  const shown = await opened
  await shown.getByText("Connected").waitFor()
  assert.equal(await shown.evaluate("window.opener"), null)
  await until(() => tab.evaluate("window.held.closed"), "the handle is severed")
})

test("neither codes, cookies nor keys are in the logs, the events or other files of the server", async () => {
  await using t = await openPage([])
  const [cookie] = await t.page.context().cookies()
  const key = String(await t.page.evaluate("localStorage['vitamin.key']"))
  const { code } = await t.client.createBrowserCode()
  await fetch(`${t.url}/browser`, {
    method: "POST",
    headers: { "content-type": "application/json", referer: `${t.url}/#code=${code}` },
    body: JSON.stringify({ code }),
  })
  const secrets = [code, cookie!.value.split(".")[1]!, key]
  assert.ok(secrets.every((secret) => secret.length > 30))
  const homes = ["XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"].map(
    (name) => t.tmp.env[name]!,
  )
  let read = 0
  for (const home of homes)
    for (const entry of readdirSync(home, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const file = join(entry.parentPath, entry.name)
      // A temporary file may be renamed meanwhile.
      const content = existsSync(file) ? readFileSync(file, "latin1") : ""
      read++
      for (const secret of secrets) assert.ok(!content.includes(secret), entry.name)
    }
  assert.ok(read > 0)
})
