// The sessions of an Instance share one Chromium, and nothing that is in it.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Browsers from "#ability/browser/browsers.ts"
import type { Json } from "#ability/tool/tool.ts"
import { loadToolGroups } from "#ability/tool/tool-groups.ts"
import { hasProcess } from "#util/process.ts"
import { until } from "../../fixture/until.ts"
import { call, inProject } from "../tool/harness.ts"
import { granting, type Site, site } from "../web/pages.ts"

const sessions = ["ses_1", "ses_2", "ses_3", "ses_4"]
const pidsOf = () => new Set(sessions.map((id) => Browsers.get(id)?.pid()))

async function browse(web: Site, sessionId: string, name: string, args: Json = {}): Promise<string> {
  const { text } = await call(`browser_${name}`, args, { slots: granting(web), sessionId })
  return text
}

function cookieSite(): Promise<Site & AsyncDisposable> {
  return site({
    "/": (response, { headers }) => {
      response.writeHead(200, { "content-type": "text/html", "set-cookie": "seen=yes" })
      response.end(`<p>cookie: ${headers.cookie ?? "none"}</p><p>stored: <b></b></p>
<script>document.querySelector("b").textContent = localStorage.before ?? "nothing"; localStorage.before = "something"</script>`)
    },
  })
}

test("four sessions at once are in one Chromium, without cookies or storage of each other", async () => {
  await using web = await cookieSite()
  await inProject(async () => {
    await loadToolGroups()
    const pages = await Promise.all(sessions.map((id) => browse(web, id, "open", { url: web.origin })))
    for (const page of pages) assert.match(page, /cookie: none\nstored: nothing/)
    const [pid, ...others] = pidsOf()
    assert.ok(pid! > 0 && others.length === 0)
    assert.match(
      await browse(web, "ses_1", "open", { url: web.origin }),
      /cookie: seen=yes\nstored: something/,
    )
    for (const id of sessions.slice(0, 3)) await Browsers.end(id)
    assert.match(await browse(web, "ses_4", "read"), /cookie: none/)
    assert.match(await browse(web, "ses_1", "open", { url: web.origin }), /cookie: none\nstored: nothing/)
    assert.equal(Browsers.get("ses_1")!.pid(), pid)
    for (const id of sessions) await Browsers.end(id)
    await until(() => !hasProcess(pid!), "the browser ends with its last page")
  })
})

test("a crash of the shared Chromium is reported to each session, and they start a new one together", async () => {
  await using web = await cookieSite()
  await inProject(async () => {
    await loadToolGroups()
    const openAll = () => Promise.all(sessions.map((id) => browse(web, id, "open", { url: web.origin })))
    await openAll()
    const [pid] = pidsOf()
    process.kill(pid!, "SIGKILL")
    await until(() => pidsOf().has(undefined) && pidsOf().size === 1, "the sessions see the crash")
    for (const id of sessions) assert.match(await browse(web, id, "read"), /The browser ended unexpectedly/)
    for (const page of await openAll()) assert.match(page, /cookie: none/)
    assert.equal(pidsOf().size, 1)
    assert.notEqual([...pidsOf()][0], pid)
  })
})

test("a page that hangs in one session does not disturb the others", async () => {
  await using web = await site({
    "/": "<p>Here</p>",
    "/loop": "<button onclick='for (;;) {}'>Loop</button>",
  })
  await inProject(async () => {
    await loadToolGroups()
    await browse(web, "ses_1", "open", { url: `${web.origin}/loop` })
    await browse(web, "ses_2", "open", { url: web.origin })
    const abort = new AbortController()
    const clicked = call(
      "browser_click",
      { ref: "e1" },
      { slots: granting(web), sessionId: "ses_1", signal: abort.signal },
    )
    assert.match(await browse(web, "ses_2", "open", { url: web.origin }), /Here/)
    const pid = Browsers.get("ses_2")!.pid()
    abort.abort()
    assert.equal((await clicked).status, "interrupted")
    assert.match(await browse(web, "ses_1", "open", { url: web.origin }), /Here/)
    assert.match(await browse(web, "ses_2", "read"), /Here/)
    assert.equal(Browsers.get("ses_2")!.pid(), pid)
  })
})
