// More sessions than the page reads at first: older ones are read when a person wants them, and none that asks is missed.
import assert from "node:assert/strict"
import { mkdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { type TestContext, test } from "node:test"
import type { Page } from "playwright-core"
import { createClient, createHttpTransport } from "#client/client.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { noPostgres, tmpDatabase } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { holdNext } from "./hold-next.ts"
import { type Many, minute, openMany, reload } from "./open-many.ts"

const rows = (page: Page) => page.getByRole("list", { name: "Sessions" }).getByRole("listitem")
const titles = (page: Page) => rows(page).locator(".title").allTextContents()
const status = (page: Page, words: string) => page.getByText(words, { exact: true }).waitFor()
const scroll = (page: Page, to: "top" | "end") =>
  page.locator("#main").evaluate((main, to) => main.scrollTo(0, to === "end" ? main.scrollHeight : 0), to)

/** The lists that the page reads from now on, each once: a stream that opens late has everything read again. */
function noteLists(page: Page): Map<string, Promise<number>> {
  const bytes = new Map<string, Promise<number>>()
  page.on("requestfinished", (request) => {
    const { pathname, search } = new URL(request.url())
    if (/^\/(session|question)$/.test(pathname))
      bytes.set(
        pathname + search,
        request.sizes().then(({ responseBodySize }) => responseBodySize),
      )
  })
  return bytes
}

async function showsTenThousand(t: Many, context: TestContext): Promise<void> {
  const { page } = t
  const lists = noteLists(page)
  await reload(t)
  assert.deepEqual((await titles(page)).slice(0, 3), ["Session 0", "Session 1", "Session 2"])
  // Questions are asked for of all servers, also of one that was killed: the list does not wait for them.
  await until(() => lists.size > 1, "the questions")
  assert.deepEqual([...lists.keys()].sort(), ["/question", "/session?everywhere=true&limit=100"])
  const bytes = (await Promise.all(lists.values())).reduce((sum, one) => sum + one, 0)
  context.diagnostic(`${bytes} bytes`)
  assert.ok(bytes < 100_000, `${bytes} bytes`)
  const drawn = await rows(page).count()
  assert.ok(drawn > 10 && drawn < 60, `${drawn} rows are drawn`)
  assert.equal(await rows(page).first().getAttribute("aria-setsize"), "-1")
  for (const count of [400, 1_600, 6_400]) {
    await scroll(page, "end")
    await status(page, `${count} sessions, the last used`)
  }
  await scroll(page, "end")
  await status(page, "10000 sessions")
  assert.equal(lists.size, 6)
  await scroll(page, "end")
  const last = page.locator('[aria-posinset="10000"][aria-setsize="10000"]')
  await last.getByText("Session 9999").waitFor()
  assert.ok(await last.evaluate((row) => row.getBoundingClientRect().bottom <= innerHeight + 40))
  assert.ok((await rows(page).count()) < 60)
  await reload(t)
  await page.getByLabel("Search sessions").fill("Session 4321")
  await status(page, "1 session")
  assert.deepEqual(await titles(page), ["Session 4321"])
  await page.getByLabel("Search sessions").fill(t.ids[9_998]!)
  await until(async () => (await titles(page))[0] === "Session 9998", "a session is found by its id")
  assert.deepEqual(t.faults, [])
}

test("of 10,000 sessions the newest are read first, scrolling reaches the oldest, and a search finds any", async (context) => {
  await using t = await openMany([], { count: 10_000 })
  await showsTenThousand(t, context)
})

test("of 10,000 sessions in a database the newest are read first too", {
  skip: noPostgres,
}, async (context) => {
  await using database = await tmpDatabase()
  await using t = await openMany([], { count: 10_000, database })
  await showsTenThousand(t, context)
})

test("a state, a folder and a link find sessions that were not read", async () => {
  await using t = await openMany([], { from: Date.now() + 500 * minute })
  const { page } = t
  const other = join(dirname(t.tmp.path), "other")
  mkdirSync(other)
  const there = createClient(createHttpTransport({ url: t.url, token: t.token, directory: other }))
  await there.createSession({ title: "Old there" })
  await reload(t)
  await page.getByLabel("State").selectOption("Idle")
  await status(page, "151 sessions")
  await reload(t)
  const lists = noteLists(page)
  await page.goto(`${t.url}/#/folder/${encodeURIComponent(other)}`)
  await status(page, "1 session")
  assert.deepEqual(await titles(page), ["Old there"])
  assert.deepEqual([...lists.keys()], ["/session?limit=100"])
  await reload(t)
  await page.getByLabel("Folder", { exact: true }).selectOption("Other folders…")
  await status(page, "151 sessions")
  await page.getByLabel("Folder", { exact: true }).selectOption(other)
  await status(page, "1 session")
  await reload(t)
  await page.goto(`${t.url}/#/session/${t.ids[149]}`)
  await page.getByRole("heading", { name: "Session 149" }).waitFor()
})

test("an old session that is used moves to the top, a new one is shown, and a removed one goes", async () => {
  await using t = await openMany([text("Done.")])
  const { page } = t
  await t.client.promptSession({ id: t.ids[149]!, text: "go" })
  await until(async () => (await titles(page))[0] === "Session 149", "it is the first")
  await status(page, "101 sessions, the last used")
  await t.client.removeSession({ id: t.ids[1]! })
  await t.client.createSession({ title: "Created" })
  await until(async () => (await titles(page))[0] === "Created", "a new one is the first")
  assert.deepEqual((await titles(page)).slice(0, 4), ["Created", "Session 149", "Session 0", "Session 2"])
  await scroll(page, "end")
  await status(page, "150 sessions")
})

test("an old session that waits for an answer is listed with its question, also if a task of it asks", async () => {
  await using t = await openMany(
    ({ messages }) => {
      const last = JSON.stringify(messages.at(-1))
      if (last.includes("delegate")) return call("subtask", { task: "make it for me" })
      return last.includes("make it") ? call("bash", { command: "touch made" }) : text("Done.")
    },
    { from: Date.now() + 180 * minute },
  )
  const { page } = t
  const id = t.ids[0]!
  await t.client.promptSession({ id, text: "delegate", prefer: "respond-async" })
  await until(async () => (await t.client.listPermissions()).length === 1, "the question")
  await reload(t, "101 sessions, the last used")
  const asking = page.getByRole("region", { name: "Waiting for an answer" })
  await asking.getByRole("link", { name: /touch made/ }).waitFor()
  await page.getByLabel("State").selectOption("Waits for an answer")
  await rows(page).first().getByText("1 question").waitFor()
  assert.deepEqual(await titles(page), ["Session 0"])
  await rows(page).first().getByRole("link").click()
  await page.getByRole("button", { name: "Once" }).click()
  await until(async () => (await t.client.getSession({ id })).status === "idle", "the end")
  await page.reload()
  await page.locator(".call .task").waitFor()
  assert.deepEqual(t.faults, [])
})

test("what happens while older sessions are read is not undone by what was read", async () => {
  await using t = await openMany([text("Done.")])
  const { page } = t
  const older = await holdNext(page, /limit=400$/)
  await scroll(page, "end")
  await older.read
  await t.client.removeSession({ id: t.ids[148]! })
  await t.client.promptSession({ id: t.ids[149]!, text: "go" })
  await status(page, "101 sessions, the last used")
  await older.give()
  await status(page, "149 sessions")
  await scroll(page, "top")
  await until(async () => (await titles(page))[0] === "Session 149", "it is the first")
})

test("after a lost connection the list is read again as far as it was read, and what was removed goes", async () => {
  await using t = await openMany([])
  await scroll(t.page, "end")
  await status(t.page, "150 sessions")
  rmSync(join(t.folder, `${t.ids[5]}.json`))
  await t.restart()
  await status(t.page, "149 sessions")
})

test("a list that could not be read is read when the person scrolls again, or the connection is back", async () => {
  await using t = await openMany([])
  const { page } = t
  const body = '{"error":{"name":"Broken","message":"It is broken."}}'
  let asked = 0
  await page.route(/\/session\?/, (route) => {
    asked++
    return route.fulfill({ status: 500, contentType: "application/json", body })
  })
  await scroll(page, "end")
  await page.getByText("It is broken.").waitFor()
  assert.equal(asked, 1)
  await scroll(page, "top")
  await page.locator('[aria-posinset="1"]').waitFor()
  await page.unrouteAll()
  await scroll(page, "end")
  await status(page, "150 sessions")
  await page.route(/\/session\?/, (route) =>
    route.fulfill({ status: 500, contentType: "application/json", body }),
  )
  await page.reload()
  await page.getByText("It is broken.").waitFor()
  await page.unrouteAll()
  await t.restart()
  await status(page, "100 sessions, the last used")
})
