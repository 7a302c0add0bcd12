// What a person gives to the page: secrets, images that are dropped or chosen, a model, and a login to an MCP server.
import assert from "node:assert/strict"
import { test } from "node:test"
import { mcpJson } from "../../ability/mcp/servers.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { image } from "../../fixture/images.ts"
import { lockedServer } from "../../fixture/mcp/locked-server.ts"
import { until } from "../../fixture/until.ts"
import { openPage } from "./harness.ts"

const vault = {
  variables: { VITAMIN_VAULT_PASSPHRASE: "correct horse battery" },
  config: { permission: [{ permission: "secret.use", pattern: "token", action: "allow" }] },
}

test("a secret is typed unseen, and stays out of storage, addresses, events, messages and requests to the model", async () => {
  await using t = await openPage([call("secrets_set", { name: "token" }), text("Kept.")], vault)
  const events = await t.openTab("#/events")
  await events.getByRole("heading", { name: "Events" }).waitFor()
  const { id } = await t.client.createSession({ agent: "vault" })
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("keep it")
  await t.page.getByLabel("Prompt").press("Enter")
  const field = t.page.locator(".question input")
  await field.waitFor()
  assert.equal(await field.getAttribute("type"), "password")
  assert.equal(await field.getAttribute("autocomplete"), "off")
  await field.pressSequentially("hush-value-01")
  const kept = () =>
    t.page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href])")
  assert.ok(!String(await kept()).includes("hush-"))
  await field.press("Enter")
  await t.page.getByText("Kept.").waitFor()
  assert.match(t.llm.requests.at(-1)!.raw, /The secret token is stored, 13 bytes/)
  await until(async () => /session\.idle/.test((await events.locator("main").textContent()) ?? ""), "events")
  const places = {
    kept: await kept(),
    page: await t.page.content(),
    events: await events.content(),
    messages: JSON.stringify(await t.client.listMessages({ id })),
    model: t.llm.requests.map(({ raw }) => raw).join(),
  }
  for (const [name, content] of Object.entries(places)) assert.ok(!String(content).includes("hush-"), name)
  assert.deepEqual(t.faults, [])
})

test("the rest of a password does not go into a prompt when another client answers the form", async () => {
  await using t = await openPage(
    [call("secrets_set", { name: "token" }), text("Left."), text("Heard.")],
    vault,
  )
  const { id } = await t.client.createSession({ agent: "vault" })
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("keep it")
  await t.page.getByLabel("Prompt").press("Enter")
  await t.page.locator(".question input").click()
  await t.page.keyboard.type("unseen-")
  const [form] = await t.client.listElicitations()
  await t.client.replyElicitation({ id: form!.id, action: "decline" })
  await t.page.getByText("Left.").waitFor()
  await t.page.keyboard.type("PASSWORD")
  assert.equal(await t.page.getByLabel("Prompt").inputValue(), "")
  assert.equal(t.llm.requests.length, 2)
})

test("a person who types into a form as soon as it is drawn keeps the focus there", async () => {
  await using t = await openPage([call("secrets_set", { name: "token" })], vault)
  const { id } = await t.client.createSession({ agent: "vault" })
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("keep it")
  await t.page.evaluate(() => {
    const focus = () => document.querySelector<HTMLElement>(".question input")?.focus()
    new MutationObserver(focus).observe(document, { childList: true, subtree: true })
  })
  await t.page.getByLabel("Prompt").press("Enter")
  const field = t.page.locator(".question input")
  await field.waitFor()
  await t.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200)))")
  assert.ok(await field.evaluate((input) => input === document.activeElement))
})

test("images are dropped and chosen with the button, and files that are none are refused by name", async () => {
  await using t = await openPage([text("I see both.")])
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  const png = image("note.png")
  await t.page.getByLabel("Prompt").evaluate((box, data) => {
    const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0))
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File([bytes], "dropped.png", { type: "image/png" }))
    dataTransfer.items.add(new File(["x"], "letter.pdf", { type: "application/pdf" }))
    box.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }))
  }, png.toString("base64"))
  await t.page.getByText("letter.pdf is no PNG, JPEG, GIF or WebP image.").waitFor()
  await t.page
    .locator(".composer input[type=file]")
    .setInputFiles([{ name: "chosen.png", mimeType: "image/png", buffer: png }])
  await until(async () => (await t.page.locator(".pictures img").count()) === 2, "two previews")
  await t.page.getByRole("button", { name: "Send" }).click()
  await t.page.locator(".picture img").first().waitFor()
  assert.equal(await t.page.locator(".pictures img").count(), 0)
  assert.deepEqual(t.faults, [])
})

test("the model that is chosen on the page answers the next prompt", async () => {
  await using t = await openPage([text("By another.")])
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  const chooser = t.page.getByLabel("Model", { exact: true })
  await chooser.selectOption({ label: "openai/gpt-4o" })
  await until(
    async () => (await t.client.getSession({ id })).model === "openai/gpt-4o",
    "the model is chosen",
  )
  await t.page.getByLabel("Prompt").fill("hello")
  await t.page.getByLabel("Prompt").press("Enter")
  await t.page.getByText("By another.").waitFor()
  assert.equal(t.llm.requests.at(-1)!.model, "gpt-4o")
})

test("a person signs in to an MCP server from the page, stops a login, and then has its tools", async () => {
  await using locked = await lockedServer()
  await using t = await openPage([], {
    args: ["--trust"],
    prepare: (tmp) => tmp.write(".mcp.json", mcpJson({ locked: { type: "http", url: locked.url } })),
  })
  await t.page.goto(`${t.url}/#/folder/${encodeURIComponent(t.tmp.path)}/mcp`)
  await t.page.getByRole("button", { name: "Connect locked" }).click()
  const signIn = t.page.getByRole("button", { name: "Sign in", exact: true })
  await signIn.click()
  const link = t.page.getByRole("link", { name: "Open the sign-in page" })
  await link.waitFor()
  await t.page.getByRole("button", { name: "Stop" }).click()
  await signIn.click()
  await link.waitFor()
  const href = (await link.getAttribute("href"))!
  assert.match(href, /^http:.*\/authorize/)
  assert.equal(await link.getAttribute("rel"), "noopener noreferrer")
  await fetch(href)
  await t.page.getByText("1 tool").first().waitFor()
  assert.equal(await signIn.count(), 0)
  assert.deepEqual(t.faults, [])
})
