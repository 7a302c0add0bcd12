// Pages that hang, open windows and dialogs, send files, or end the browser.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { go } from "#ability/browser/act.ts"
import { createBrowserSession } from "#ability/browser/browser-session.ts"
import { openPage } from "#ability/browser/browsers.ts"
import { hasProcess } from "#util/process.ts"
import { until } from "../../fixture/until.ts"
import { inProject } from "../tool/harness.ts"
import { site } from "../web/pages.ts"
import { browsing, refOf } from "./browsing.ts"

test("a page that never answers ends in an error after 20 s, and the browser can still be used", async () => {
  await using web = await site({ "/": "<p>Here</p>", "/never": () => {} })
  await browsing(web, async ({ use, fail }) => {
    assert.match(
      await fail("open", { url: `${web.origin}/never` }),
      /\/never" could not be opened: it took longer than 20 s\./,
    )
    assert.match(await use("open", { url: web.origin }), /Here/)
  })
})

test("a page whose script never ends loses the browser, and the next page opens in a new one", async () => {
  await using web = await site({ "/": "<p>Here</p>", "/loop": "<p>x</p><script>for (;;) {}</script>" })
  await inProject(async () => {
    const session = createBrowserSession("ses_1", { call: 4_000, open: openPage })
    const { signal } = new AbortController()
    const context = { sessionId: "ses_1", messageId: "m", callId: "c", signal, granted: [web.origin] }
    const open = (path: string) =>
      session.use({ context, first: web.origin, starts: true }, async (opened) => {
        await go(opened, web.origin + path)
        return opened.snapshot.read(opened.page)
      })
    try {
      assert.match(await open("/"), /Here/)
      const pid = session.pid()!
      await assert.rejects(open("/loop"), /did not respond for 4 s, so the browser was closed/)
      await until(() => !hasProcess(pid), "the browser ends")
      assert.match(await open("/"), /Here/)
    } finally {
      await session.close()
    }
  })
})

test("a hundred windows are closed, and the first one is shown in the page", async () => {
  await using web = await site({
    "/": `<button onclick="for (let n = 0; n < 100; n++) window.open('/window?' + n)">Many</button>
<a target=_blank href="/window?link">Blank</a>`,
    "/window": (response, request) =>
      void response.writeHead(200, { "content-type": "text/html" }).end(`<p>Window ${request.url}`),
  })
  await browsing(web, async ({ use }) => {
    const page = await use("open", { url: web.origin })
    const text = await use("click", { ref: refOf(page, "Many") })
    assert.match(text, /Window \/window\?0\n/)
    assert.match(text, /\[windows that the page opened were closed: .*\(\d+ in all\)\]/)
    assert.equal(web.asked.filter(({ url }) => url!.startsWith("/window")).length, 1)
    const again = await use("open", { url: web.origin })
    assert.match(await use("click", { ref: refOf(again, "Blank") }), /Window \/window\?link\n/)
  })
})

test("an answer without content leaves the page as it is, and nothing waits for another one", async () => {
  await using web = await site({
    "/": `<a href="/none">Vote</a><form action="/none" method=post><button>Send</button></form><p>Here</p>`,
    "/none": (response) => void response.writeHead(204).end(),
  })
  await browsing(web, async ({ use }) => {
    const page = await use("open", { url: web.origin })
    for (const name of ["Vote", "Send"])
      assert.match(await use("click", { ref: refOf(page, name) }), /^Clicked e\d\. The address is still /)
    assert.equal(web.asked.filter(({ url }) => url === "/none").length, 2)
    assert.match(await use("read"), /Here/)
  })
})

test("dialogs are answered and reported, also those that ask before a page is left", async () => {
  await using web = await site({
    "/": `<button onclick="alert('Beware'); said.textContent = confirm('Really?') + ' ' + prompt('Name?', 'Ada')">Ask</button>
<p id=said></p><input name=x><script>addEventListener("beforeunload", (event) => event.preventDefault())</script>`,
    "/next": "<p>Next</p>",
  })
  await browsing(web, async ({ use }) => {
    const page = await use("open", { url: web.origin })
    const no = await use("click", { ref: refOf(page, "Ask") })
    assert.match(
      no,
      /alert "Beware", answered with OK; confirm "Really\?", answered with Cancel; prompt "Name\?"/,
    )
    assert.match(await use("read"), /false null/)
    const yes = await use("click", { ref: refOf(page, "Ask"), accept: true })
    assert.match(yes, /confirm "Really\?", answered with OK/)
    assert.match(await use("read"), /true Ada/)
    await use("type", { ref: refOf(page, "textbox"), text: "changed" })
    assert.match(await use("open", { url: `${web.origin}/next` }), /Next/)
  })
})

test("a download is kept in the session's folder, and not opened", async () => {
  const disposition = 'attachment; filename="../../r p.csv"'
  await using web = await site({
    "/": `<a href="/file">Get</a>`,
    "/file": (response) =>
      void response
        .writeHead(200, { "content-disposition": disposition, "content-type": "text/csv" })
        .end("a,b\n1,2\n"),
  })
  await browsing(web, async ({ use }) => {
    const page = await use("open", { url: web.origin })
    const kept = (text: string) => /\[downloads, kept and not opened: (.+)\]/.exec(text)![1]!
    const clicked = kept(await use("click", { ref: refOf(page, "Get") }))
    assert.match(clicked, /\/outputs\/ses_1\/downloads\/1-[\w.-]+csv$/)
    assert.equal(readFileSync(clicked, "utf8"), "a,b\n1,2\n")
    const opened = kept(await use("open", { url: `${web.origin}/file` }))
    assert.equal(readFileSync(opened, "utf8"), "a,b\n1,2\n")
    assert.notEqual(opened, clicked)
  })
})

test("a browser that was killed is reported, and the next page starts a new one; none is left at the end", async () => {
  await using web = await site({ "/": "<p>Here</p>" })
  const pids: number[] = []
  await browsing(web, async ({ use, fail, pid }) => {
    await use("open", { url: web.origin })
    pids.push(pid()!)
    process.kill(pid()!, "SIGKILL")
    assert.match(
      await fail("wait", { seconds: 5 }),
      /The browser ended unexpectedly\. .*use browser_open again/,
    )
    assert.match(await use("open", { url: web.origin }), /Here/)
    pids.push(pid()!)
  })
  for (const pid of pids) assert.ok(!hasProcess(pid))
})
