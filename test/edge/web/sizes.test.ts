// The page stays small: what a browser loads until it shows the list or a session, and all of it, as gzip packs it.
import assert from "node:assert/strict"
import { readdirSync, statSync } from "node:fs"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { type Opened, openPage } from "./harness.ts"
import { layMessages, ran, says } from "./lay-messages.ts"

const folder = fileURLToPath(new URL("../../../dist/web/", import.meta.url))

/** Bytes of the page's own files, with their headers, that come before the view is shown. */
async function loadedFor(t: Opened, path: string, shown: string): Promise<number> {
  const page = await t.page.context().newPage()
  const devtools = await page.context().newCDPSession(page)
  await devtools.send("Network.enable")
  await devtools.send("Network.setCacheDisabled", { cacheDisabled: true })
  const files = new Set<string>()
  let bytes = 0
  devtools.on("Network.responseReceived", ({ requestId, response: { url } }) => {
    if (/^\/(?:$|assets\/)/.test(new URL(url).pathname)) files.add(requestId)
  })
  devtools.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (files.has(requestId)) bytes += encodedDataLength
  })
  await page.goto(`${t.url}/${path}`)
  await page.locator(shown).waitFor()
  const before = bytes
  await page.close()
  return before
}

test("a browser loads at most 60 KB of the page for the list, and for a session", async (context) => {
  let id = ""
  await using t = await openPage([], {
    prepare(tmp) {
      const diff = "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-one\n+two\n"
      id = layMessages(tmp.path, [
        says("user", "Do it"),
        ...ran({ name: "edit", arguments: { path: "a" } }, "edited", { data: { diff } }),
        ...ran({ name: "bash", arguments: { command: "ls" } }, "\u001b[31ma\u001b[m"),
        says("assistant", "It is **done**:\n\n```ts\nconst two = 2\n```"),
      ])
    },
  })
  const list = await loadedFor(t, "#/", ".rows .title")
  const session = await loadedFor(t, `#/session/${id}`, ".message.assistant .k-keyword")
  context.diagnostic(`list ${list} bytes, session ${session} bytes`)
  assert.ok(list > 20_000 && list <= 60_000, `list: ${list}`)
  assert.ok(session > list && session <= 60_000, `session: ${session}`)
})

test("all of the page has at most 120 KB", (context) => {
  const all = readdirSync(folder)
    .filter((name) => name.endsWith(".gz"))
    .reduce((sum, name) => sum + statSync(folder + name).size, 0)
  context.diagnostic(`${all} bytes`)
  assert.ok(all > 60_000 && all <= 120_000, `all: ${all}`)
})
