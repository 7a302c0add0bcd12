// Stats, the event log, the server, and settings of the browser.
import assert from "node:assert/strict"
import { test } from "node:test"
import { text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { type Opened, openPage } from "./harness.ts"

async function prompt({ client }: Opened, words = "hello"): Promise<string> {
  const { id } = await client.createSession({})
  await client.promptSession({ id, text: words })
  return id
}

test("stats show tokens and turns as bars and as a table, and follow the work", async () => {
  await using t = await openPage([text("One."), text("Two.")])
  await t.page.getByRole("link", { name: "Stats" }).first().click()
  await t.page.getByText("No session was used in this time.").waitFor()
  await prompt(t)
  const turns = t.page.locator(".card", { has: t.page.getByRole("heading", { name: "Turns" }) })
  await turns.getByRole("img", { name: /Turns from .*: 1 in total/ }).waitFor()
  await prompt(t)
  await turns.getByRole("img", { name: /2 in total/ }).waitFor()
  assert.equal(await turns.locator(".bars .series-0").count(), 1)
  await turns.getByText("Turns as a table").click()
  assert.match((await turns.getByRole("row").last().textContent())!, /^\d{4}-\d\d-\d\d\s*2$/)
  await t.page.getByLabel("Divided by").selectOption("Agent")
  await turns.locator(".legend", { hasText: "build" }).waitFor()
  await t.page.getByLabel("Time").selectOption("A year")
  await turns.locator(".ends", { hasText: /^\d{4}-\d\d\d{4}/ }).waitFor()
  assert.deepEqual(t.faults, [])
})

test("the event log filters by type, session and text, pauses, and stays bounded", async () => {
  await using t = await openPage([text("One."), text("Two.")])
  await t.page.getByRole("link", { name: "Events" }).click()
  await t.page.getByText("No event yet.").waitFor()
  const id = await prompt(t, "<script>alert(1)</script>")
  await t.page.getByLabel("Type").selectOption("session.idle")
  await t.page.getByText(/^1 of \d+ events$/).waitFor()
  await t.page.getByRole("list", { name: "Events" }).getByRole("button").click()
  assert.equal(
    JSON.parse((await t.page.getByLabel("Event", { exact: true }).textContent())!).payload.sessionId,
    id,
  )
  await t.page.keyboard.press("Escape")
  await t.page.getByLabel("Type").selectOption("All")
  await t.page.getByLabel("Search events").fill("<script>alert")
  await t.page.locator(".rows li", { hasText: "message.created" }).first().waitFor()
  await t.page.getByLabel("Search events").fill("")
  await t.page.getByRole("button", { name: "Pause" }).click()
  const counted = t.page.locator(".view > .small")
  await counted.getByText("paused").waitFor()
  const shown = await counted.textContent()
  await prompt(t)
  assert.equal(await counted.textContent(), shown)
  await t.page.getByRole("button", { name: "Pause" }).click()
  await counted.getByText(/events$/).waitFor()
  for (let at = 0; at < 500; at++) await t.client.updateSession({ id, title: `Title ${at}` })
  await t.page.getByText("500 of 500 events, older ones were dropped").waitFor()
  assert.ok((await t.page.locator(".rows li").count()) < 60)
  assert.deepEqual(t.faults, [])
})

test("the server view lists browsers, and signs out another one and this one", async () => {
  await using t = await openPage([])
  const { code } = await t.client.createBrowserCode()
  const context = await t.browser.newContext({ userAgent: "<b>Other browser</b>" })
  const other = await context.newPage()
  await other.goto(`${t.url}/#code=${code}`)
  await other.getByText("Connected").waitFor()
  await t.page.getByRole("link", { name: "Server", exact: true }).click()
  await t.page.getByText(t.tmp.path).waitFor()
  const row = t.page.getByRole("listitem").filter({ hasText: "<b>Other browser</b>" })
  await row.getByRole("button", { name: "Sign out" }).click()
  await until(async () => (await row.count()) === 0, "the other browser is gone")
  await other.reload()
  await other.getByText("Not signed in").waitFor()
  await t.page.getByRole("button", { name: "Sign out this browser" }).click()
  await t.page.getByText("Not signed in").waitFor()
  assert.deepEqual(await t.client.listBrowsers(), [])
  assert.deepEqual(t.faults, [])
})

test("the theme is kept, and single keys are shortcuts until they are turned off", async () => {
  await using t = await openPage([])
  const back = () => t.page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  await t.page.goto(`${t.url}/#/server`)
  await t.page.getByLabel("Colours").selectOption("Dark")
  const dark = await back()
  await t.page.reload()
  await t.page.getByLabel("Colours").waitFor()
  assert.equal(await back(), dark)
  await t.page.getByLabel("Colours").selectOption("Light")
  assert.notEqual(await back(), dark)
  await t.page.locator("main").focus()
  await t.page.keyboard.press("e")
  await t.page.getByRole("heading", { name: "Events" }).waitFor()
  await t.page.keyboard.press("/")
  await t.page.keyboard.type("s?")
  assert.equal(await t.page.getByLabel("Search events").inputValue(), "s?")
  await t.page.locator("main").focus()
  await t.page.keyboard.press("?")
  await t.page.getByLabel("Single keys are shortcuts").uncheck()
  await t.page.keyboard.press("Escape")
  await t.page.keyboard.press("s")
  assert.match(t.page.url(), /#\/events$/)
  assert.deepEqual(t.faults, [])
})
