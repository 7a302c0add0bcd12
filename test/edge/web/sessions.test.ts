// The list of sessions: of all folders, searched, filtered and changed.
import assert from "node:assert/strict"
import { mkdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { createClient, createHttpTransport } from "#client/client.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { type Opened, openPage } from "./harness.ts"

const rows = ({ page }: Opened) => page.getByRole("list", { name: "Sessions" }).getByRole("listitem")
const titles = (t: Opened) => rows(t).locator(".title").allTextContents()

test("the list has the sessions of all folders, and narrows them by words, state and folder", async () => {
  await using t = await openPage([])
  const other = join(dirname(t.tmp.path), "<b>other")
  mkdirSync(other)
  const there = createClient(createHttpTransport({ url: t.url, token: t.token, directory: other }))
  await t.client.createSession({ title: "Fix the login" })
  await t.client.createSession({ title: "Write notes" })
  await there.createSession({ title: "<img src=x onerror=alert(1)>" })
  await t.page.getByRole("link", { name: "Sessions", exact: true }).first().click()
  await t.page.getByText("3 sessions").waitFor()
  assert.deepEqual(await titles(t), ["<img src=x onerror=alert(1)>", "Write notes", "Fix the login"])
  await t.page.getByLabel("Search sessions").fill("LOGIN fix")
  await t.page.getByText("1 session", { exact: true }).waitFor()
  assert.deepEqual(await titles(t), ["Fix the login"])
  await t.page.getByLabel("State").selectOption("Failed")
  await t.page.getByText("No session matches.").waitFor()
  await t.page.getByLabel("State").selectOption("Any state")
  await t.page.getByLabel("Search sessions").fill("")
  await t.page.getByLabel("Folder", { exact: true }).selectOption(other)
  await t.page.getByText("1 session", { exact: true }).waitFor()
  const title = `Sessions · …/${dirname(other).split("/").at(-1)}/<b>other · vitamin`
  await until(async () => (await t.page.title()) === title, `the title is ${title}`)
  assert.deepEqual(t.faults, [])
})

test("a session is renamed, forked, and removed after a confirmation", async () => {
  await using t = await openPage([])
  const { id } = await t.client.createSession({ title: "Old name" })
  await t.page.getByRole("button", { name: "More for Old name" }).click()
  const dialog = t.page.getByRole("dialog", { name: "Old name" })
  await dialog.getByLabel("Title").fill("New name")
  await dialog.getByRole("button", { name: "Rename" }).click()
  await t.page.getByRole("button", { name: "More for New name" }).click()
  assert.equal((await t.client.getSession({ id })).title, "New name")
  await t.page.getByRole("button", { name: "Fork" }).click()
  await t.page.getByLabel("Prompt").waitFor()
  const [fork] = (await t.client.listSessions()).filter(({ parentId }) => parentId === id)
  assert.ok(t.page.url().endsWith(fork!.id))
  await t.page.goBack()
  const more = t.page.getByRole("button", { name: "More for New name" })
  await more.first().click()
  await t.page.getByRole("button", { name: "Remove…" }).click()
  assert.equal((await t.client.listSessions()).length, 2)
  await t.page.getByRole("button", { name: "Remove for ever" }).click()
  await t.page.getByText("1 session", { exact: true }).waitFor()
  assert.equal((await t.client.listSessions()).length, 1)
  assert.deepEqual(t.faults, [])
})

test("a question of any session is in the list, and leads to where it is answered", async () => {
  await using t = await openPage([call("bash", { command: "touch made" }), text("Done.")])
  const { id } = await t.client.createSession({ title: "Asks" })
  await t.client.promptSession({ id, text: "go", prefer: "respond-async" })
  await t.page.getByLabel("State").selectOption("Waits for an answer")
  const asking = t.page.getByRole("region", { name: "Waiting for an answer" })
  await asking.getByRole("link", { name: /touch made/ }).click()
  await t.page.getByRole("button", { name: "Once" }).click()
  await t.page.locator(".message.assistant", { hasText: "Done." }).waitFor()
  await t.page.getByRole("link", { name: "Sessions", exact: true }).click()
  await until(async () => (await asking.count()) === 0, "no question is left")
})

test("the list of a folder that no longer exists shows its sessions, and its views say what is wrong", async () => {
  await using t = await openPage([])
  const gone = join(dirname(t.tmp.path), "gone")
  mkdirSync(gone)
  const there = createClient(createHttpTransport({ url: t.url, token: t.token, directory: gone }))
  await there.createSession({ title: "Left behind" })
  rmSync(gone, { recursive: true })
  await t.restart()
  await t.page.goto(`${t.url}/#/folder/${encodeURIComponent(gone)}`)
  await t.page.reload()
  await t.page.getByText("Left behind").waitFor()
  await t.page.getByRole("link", { name: "Tools" }).click()
  await t.page.locator("main").getByRole("alert").getByRole("button", { name: "Try again" }).waitFor()
  assert.match((await t.page.locator("main [role=alert]").textContent())!, /gone/)
})
