// The page for people with a role: what they may not do is not offered, and the page says why.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createClient, createHttpTransport } from "#client/client.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { type Opened, openPage } from "./harness.ts"

const allowed = { permission: [{ permission: "*", pattern: "**", action: "allow" }] }

/** A page in a browser of its own, for somebody with a personal token. */
async function openFor(t: Opened, name: string, role: "reader" | "member") {
  const { token } = await t.client.createToken({ name, role })
  const client = createClient(createHttpTransport({ url: t.url, token, directory: t.tmp.path }))
  const context = await t.browser.newContext()
  const page = await context.newPage()
  const faults: string[] = []
  page.on("pageerror", ({ message }) => faults.push(message))
  const refused: string[] = []
  page.on("response", (response) => {
    if (response.status() === 403) refused.push(`${response.request().method()} ${response.url()}`)
  })
  const { code } = await client.createBrowserCode()
  await page.goto(`${t.url}/#code=${code}`)
  await page.getByText("Connected").waitFor()
  return { page, client, faults, refused }
}

const buttonsOf = async ({ page }: { page: Opened["page"] }) =>
  (await page.locator("main button:visible").allTextContents()).map((one) => one.trim())

test("a reader sees a session that is shared with them, and nothing that they may not do", async () => {
  await using t = await openPage(
    [
      call("write", { path: "a.txt", content: "one\n" }),
      text("Written."),
      call("bash", { command: "touch b" }),
      text("Done."),
    ],
    { config: { permission: [{ permission: "file.*", pattern: "**", action: "allow" }] } },
  )
  const { id } = await t.client.createSession({ title: "The work" })
  await t.client.promptSession({ id, text: "write it" })
  const rita = await openFor(t, "rita", "reader")
  await t.client.shareSession({ id, name: "rita", role: "reader" })
  await rita.page.goto(`${t.url}/#/`)
  await rita.page.reload()
  await rita.page.getByText("The work").waitFor()
  // The list may be read before the role is.
  await until(async () => (await buttonsOf(rita)).length === 0, "no buttons for a reader")
  await rita.page.goto(`${t.url}/#/session/${id}`)
  await rita.page.getByText("Written.").waitFor()
  await rita.page
    .getByText("You may read this session, but not prompt it: your role on this server is reader.")
    .waitFor()
  assert.equal(await rita.page.getByLabel("Prompt").count(), 0)
  assert.equal(await rita.page.getByRole("button", { name: /Branch|Undo/ }).count(), 0)
  // A question is shown, without a way to answer it.
  await t.client.promptSession({ id, text: "run it", prefer: "respond-async" })
  await rita.page.getByText(/A question waits for somebody who may answer it/).waitFor()
  assert.equal(await rita.page.getByRole("button", { name: /Allow|Reject/ }).count(), 0)
  await rita.page.keyboard.press("Escape")
  for (const panel of ["changes", "branches", "context"]) {
    await rita.page.goto(`${t.url}/#/session/${id}/${panel}`)
    await rita.page.locator(".panel h2, .panel table, .panel .files, .panel .tree").first().waitFor()
    const names = (await buttonsOf(rita)).join(" ")
    assert.doesNotMatch(names, /Undo|Redo|Switch|Branch from|Fork|Compact/, panel)
  }
  assert.equal((await t.client.getSession({ id })).status, "waiting")
  await rita.page.goto(`${t.url}/#/folder/${encodeURIComponent(t.tmp.path)}`)
  const parts = rita.page.getByRole("navigation", { name: "Parts of the folder" })
  await parts.getByRole("link", { name: "Agents" }).waitFor()
  assert.doesNotMatch((await parts.textContent()) ?? "", /Trust|Settings|Extensions/)
  for (const part of ["mcp", "tools", "skills", "agents", "models", "permissions", "stats"]) {
    await rita.page.goto(`${t.url}/#/folder/${encodeURIComponent(t.tmp.path)}/${part}`)
    await until(async () => (await rita.page.locator("[aria-busy=true]").count()) === 0, part)
  }
  assert.deepEqual(rita.refused, [], "the page asks for nothing that the server refuses")
  assert.equal(await rita.page.locator(".problems p").count(), 0)
  assert.deepEqual([...t.faults, ...rita.faults], [])
})

test("a member works in sessions of their own and in those shared for it, and only reads others", async () => {
  await using t = await openPage([text("Hello, Max."), text("Hello again.")], { config: allowed })
  const max = await openFor(t, "max", "member")
  const read = await t.client.createSession({ title: "To read" })
  const shared = await t.client.createSession({ title: "To work in" })
  await t.client.shareSession({ id: read.id, name: "max", role: "reader" })
  await t.client.shareSession({ id: shared.id, name: "max", role: "member" })
  await max.page.reload()
  await max.page.getByText("To read").waitFor()
  const more = max.page.locator("button.more")
  await until(async () => (await more.count()) === 1, "only one may be changed")
  assert.equal(await more.getAttribute("aria-label"), "More for To work in")
  await max.page.goto(`${t.url}/#/session/${read.id}`)
  await max.page.getByText("it is shared with you for reading").waitFor()
  await max.page.goto(`${t.url}/#/session/${shared.id}`)
  await max.page.getByLabel("Prompt").fill("hello")
  await max.page.getByLabel("Prompt").press("Enter")
  await max.page.getByText("Hello, Max.").waitFor()
  await max.page.goto(`${t.url}/#/`)
  await max.page.getByRole("button", { name: "New session" }).click()
  await max.page.getByLabel("Prompt").fill("hello")
  await max.page.getByLabel("Prompt").press("Enter")
  await max.page.getByText("Hello again.").waitFor()
  assert.deepEqual(max.refused, [])
  assert.deepEqual([...t.faults, ...max.faults], [])
})
