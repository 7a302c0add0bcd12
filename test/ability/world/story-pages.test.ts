// Pages of stories in a real Chromium: which of them another story gets.
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { findBrowser } from "#ability/browser/find-browser.ts"
import { type Chromium, startChromium } from "#ability/browser/start-browser.ts"
import { type StoryServer, startServer } from "#ability/world/start-server.ts"
import type { Surroundings } from "#ability/world/story-page.ts"
import { createStoryPages } from "#ability/world/story-pages.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

let tmp: Tmp
let chromium: Chromium
let server: StoryServer
let around: Surroundings
before(async () => {
  tmp = await tmpdir()
  tmp.write("a.stories.ts", "export {}")
  const found = findBrowser()
  assert.ok(!Array.isArray(found), "a browser is installed")
  chromium = await startChromium(found)
  server = await startServer({ root: tmp.path })
  around = { server, newContext: chromium.newContext, axe: { missing: "not needed" } }
})
after(async () => {
  server.close()
  await chromium.close()
  await tmp[Symbol.asyncDispose]()
})

const worker = (code: string) => `new SharedWorker(URL.createObjectURL(new Blob([${JSON.stringify(code)}])),
  { extendedLifetime: true })`

test("a page that was kept is used again, with another origin", async () => {
  const pages = createStoryPages(around)
  const seen = await pages.use("a.stories.ts", async ({ page, keep }) => {
    keep()
    return { page, url: page.url() }
  })
  await pages.use("a.stories.ts", async ({ page }) => {
    assert.equal(page, seen.page)
    assert.notEqual(new URL(page.url()).origin, new URL(seen.url).origin)
  })
  // Nobody kept it the second time.
  await pages.use("a.stories.ts", async ({ page }) => assert.notEqual(page, seen.page))
})

test("a page is not used again if a shared worker is left, a problem was noticed, or it crashed", async () => {
  const left = {
    worker: worker("0"),
    problem: `(setTimeout(() => { throw new Error("late") }), new Promise((resolve) => setTimeout(resolve, 100)))`,
    crash: undefined,
  }
  for (const [name, code] of Object.entries(left)) {
    const pages = createStoryPages(around)
    const first = await pages.use("a.stories.ts", async ({ page, keep }) => {
      keep()
      if (code !== undefined) await page.evaluate(`(async () => { await (${code}) })()`)
      return page
    })
    if (code === undefined) await crash(first)
    await pages.use("a.stories.ts", async ({ page }) => assert.notEqual(page, first, name))
  }
})

test("work runs again in a fresh page only if a page that was used before notices something", async () => {
  const pages = createStoryPages(around)
  const runs: unknown[] = []
  const run = (code: string) =>
    pages.use("a.stories.ts", async ({ page, noticed, keep }) => {
      runs.push(page)
      keep()
      await page.evaluate(`${code}; new Promise((resolve) => setTimeout(resolve, 500))`)
      return noticed()
    })
  const reaches = worker("fetch('https://example.com/w')")
  const problem = ["It reached for the network: example.com"]
  assert.deepEqual(await run(reaches), problem)
  assert.equal(runs.length, 1, "a fresh page decides")
  assert.deepEqual(await run("0"), [])
  assert.deepEqual(await run(reaches), problem)
  assert.equal(runs.length, 4, "a page that was used before does not")
  assert.equal(new Set(runs).size, 3)
  const fails = async () => Promise.reject(new Error("its own"))
  await run("0")
  await assert.rejects(pages.use("a.stories.ts", fails), /its own/)
  assert.equal(runs.length, 5)
})

async function crash(page: import("playwright-core").Page): Promise<void> {
  const crashed = page.waitForEvent("crash")
  const devtools = await page.context().newCDPSession(page)
  void devtools.send("Page.crash").catch(() => {})
  await crashed
}
