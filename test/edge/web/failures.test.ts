// The page when something is late, missing or gone: what it shows is true, and says what a person can do.
import assert from "node:assert/strict"
import { mkdirSync, rmSync } from "node:fs"
import { test } from "node:test"
import { createClient, createHttpTransport } from "#client/client.ts"
import { call, status, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { openPage } from "./harness.ts"
import { startProxy } from "./proxy.ts"

test("what happens while the sessions are read is neither lost nor undone by what was read", async () => {
  await using t = await openPage([call("bash", { command: "touch one" }), text("Done.")])
  const { id } = await t.client.createSession({ title: "first" })
  const removed = await t.client.createSession({ title: "removed meanwhile" })
  const late = Promise.withResolvers<void>()
  const read = Promise.withResolvers<void>()
  await t.page.route(/\/session\?.*everywhere/, async (route) => {
    const answer = await route.fetch()
    read.resolve()
    await late.promise
    await route.fulfill({ response: answer })
  })
  await t.page.reload()
  await read.promise
  await t.client.createSession({ title: "created meanwhile" })
  await t.client.removeSession({ id: removed.id })
  await t.client.promptSession({ id, text: "go", prefer: "respond-async" })
  await until(async () => (await t.client.listPermissions()).length === 1, "the question")
  late.resolve()
  await t.page.getByText("created meanwhile").waitFor()
  await t.page.getByText("1 question waits").waitFor()
  assert.equal(await t.page.getByText("removed meanwhile").count(), 0)
  assert.deepEqual(t.faults, [])
})

test("what happens before a late event stream is open is shown when it opens", async () => {
  await using t = await openPage([text("Answered meanwhile.")])
  const { id } = await t.client.createSession({ title: "first" })
  const open = Promise.withResolvers<void>()
  await t.page.context().route(/\/event$/, async (route) => {
    await open.promise
    await route.continue()
  })
  await t.page.reload()
  await t.page.getByText("first").waitFor()
  const [session, stats] = [await t.openTab(`#/session/${id}`), await t.openTab("#/stats")]
  await session.getByText("Nothing here yet.").waitFor()
  await stats.getByText("No session was used in this time.").waitFor()
  await t.client.createSession({ title: "created meanwhile" })
  await t.client.promptSession({ id, text: "hello" })
  open.resolve()
  await t.page.getByText("created meanwhile").waitFor()
  await session.getByText("Answered meanwhile.").waitFor()
  await stats.getByText("1 prompts").waitFor()
})

test("the page reads nothing before its event stream is open, and then reads once", async () => {
  await using t = await openPage([])
  await t.client.createSession({ title: "first" })
  const [asked, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const reads: string[] = []
  await t.page.route(/\/event$/, async (route) => {
    asked.resolve()
    await open.promise
    await route.continue()
  })
  t.page.on("request", (request) => {
    if (/everywhere/.test(request.url())) reads.push(request.url())
  })
  // The page waits for the stream as long as this clock stands.
  await t.page.clock.install()
  await t.page.clock.pauseAt(Date.now() + 10_000)
  await t.page.reload()
  await asked.promise
  await t.page.evaluate(() => fetch("/icon.svg"))
  assert.deepEqual(reads, [])
  open.resolve()
  await t.page.getByText("Connected").waitFor()
  await t.page.clock.resume()
  await t.page.getByText("first").waitFor()
  assert.equal(reads.length, 1)
})

test("the title of the tab says how many questions wait", async () => {
  await using t = await openPage([call("bash", { command: "touch one" }), text("Done.")])
  const { id } = await t.client.createSession({ title: "The work" })
  await t.page.goto(`${t.url}/#/session/${id}`)
  await until(async () => (await t.page.title()) === "The work · vitamin", "the title")
  await t.client.promptSession({ id, text: "go", prefer: "respond-async" })
  await until(async () => (await t.page.title()) === "(1) The work · vitamin", "the question is in the title")
  await t.page.getByRole("button", { name: "Allow once" }).click()
  await until(async () => (await t.page.title()) === "The work · vitamin", "the question is answered")
})

test("a prompt that failed says why also after a reload, and can be sent again", async () => {
  await using t = await openPage([status(401, { message: "Wrong key" }), text("Now it works.")])
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("say it")
  await t.page.getByLabel("Prompt").press("Enter")
  const failed = t.page.getByRole("region", { name: "Error" })
  await failed.getByText("Wrong key").waitFor()
  assert.equal(await t.page.locator(".conversation").getByText("Wrong key").count(), 1, "it is shown once")
  await t.page.reload()
  await failed.getByText(/Wrong key.*OPENAI_API_KEY/).waitFor()
  await failed.getByRole("button", { name: "Send it again" }).click()
  await t.page.getByText("Now it works.").waitFor()
  await until(async () => (await failed.count()) === 0, "the error is gone")
  assert.match(JSON.stringify(t.llm.requests.at(-1)!.body), /say it/)
})

test("a session that does not exist, and one that was removed while the page was away, say so", async () => {
  await using t = await openPage([text("Hello.")])
  await t.page.goto(`${t.url}/#/session/sess_nothing`)
  await t.page.getByText("There is no such session.").waitFor()
  const { id } = await t.client.createSession({})
  await using proxy = await startProxy(t.url)
  const { code } = await t.client.createBrowserCode()
  await t.page.goto(`${proxy.url}/#code=${code}`)
  await t.page.getByText("Connected").waitFor()
  await t.page.goto(`${proxy.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").waitFor()
  proxy.refuse(true)
  proxy.drop()
  await t.page.getByText("Connection lost").waitFor()
  await t.client.removeSession({ id })
  proxy.refuse(false)
  await t.page.getByText("This session was removed.").waitFor()
})

test("a session of a folder that was deleted can be read and removed", async () => {
  await using t = await openPage([text("From the folder.")])
  const folder = `${t.tmp.path}-other`
  mkdirSync(folder)
  const client = createClient(createHttpTransport({ url: t.url, token: t.token, directory: folder }))
  const { id } = await client.createSession({ title: "of a folder" })
  await client.promptSession({ id, text: "hello" })
  rmSync(folder, { recursive: true })
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByText("From the folder.").waitFor()
  await t.page.getByText(`The folder ${folder} does not exist any more.`).waitFor()
  assert.equal(await t.page.getByLabel("Prompt").count(), 0)
  assert.equal(await t.page.locator(".problems p").count(), 0)
  await t.page.goto(`${t.url}/#/`)
  await t.page.getByRole("button", { name: "More for of a folder" }).click()
  await t.page.getByRole("button", { name: "Remove…" }).click()
  await t.page.getByRole("button", { name: "Remove for ever" }).click()
  await until(async () => (await t.page.getByText("of a folder").count()) === 0, "it is removed")
  assert.deepEqual(await t.client.listSessions({ everywhere: true }), [])
})

test("a button that is pressed twice sends one prompt, and a question answered in two tabs at once counts once", async () => {
  await using t = await openPage([call("bash", { command: "echo x >> count" }), text("Counted.")])
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("count it")
  await t.page.getByRole("button", { name: "Send" }).dblclick()
  const other = await t.openTab(`#/session/${id}`)
  const buttons = [t.page, other].map((page) => page.getByRole("button", { name: "Allow once" }))
  await Promise.all(buttons.map((button) => button.waitFor()))
  // No waiting: the question may close in the other tab before it is clicked there.
  const clickNow = (all: Element[]) => (all[0] as HTMLElement | undefined)?.click()
  await Promise.all(buttons.map((button) => button.evaluateAll(clickNow)))
  for (const page of [t.page, other]) {
    await page.getByText("Counted.").waitFor()
    await until(async () => (await page.locator(".question").count()) === 0, "no question is left")
    assert.equal(await page.locator(".message.user").count(), 1)
  }
  assert.equal(t.llm.requests.length, 2)
  assert.deepEqual(t.faults, [])
})
