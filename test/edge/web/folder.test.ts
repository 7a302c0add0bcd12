// The views of a folder, each with real parts, hostile names among them.
import assert from "node:assert/strict"
import { test } from "node:test"
import { mcpJson, tinyServer } from "../../ability/mcp/servers.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { type Opened, openPage } from "./harness.ts"

const attack = "<img src=x onerror=alert(1)>"
const show = (t: Opened, part: string) =>
  t.page.goto(`${t.url}/#/folder/${encodeURIComponent(t.tmp.path)}/${part}`)
const trusted = { args: ["--trust"] }

test("an MCP server is connected, shows what it offers as text, and is disconnected", async () => {
  const server = tinyServer({
    tools: [{ name: "count", description: attack }],
    resources: [{ uri: "note://1", name: attack, text: "x" }],
    prompts: { greet: "hello" },
  })
  const prepare: Parameters<typeof openPage>[1] & object = {
    ...trusted,
    prepare: (tmp) => tmp.write(".mcp.json", mcpJson({ notes: server })),
  }
  await using t = await openPage([], prepare)
  await show(t, "mcp")
  await t.page.getByRole("button", { name: "Connect notes" }).click()
  await t.page.getByRole("button", { name: "Disconnect notes" }).waitFor()
  await t.page.getByText("1 tool · 1 resource · 1 prompt").click()
  await t.page.getByText(`${attack} (note://1)`).waitFor()
  assert.equal(await t.page.locator("dd", { hasText: attack }).count(), 1)
  // Another client's change is shown without a reload.
  await t.client.disconnectMcpServer({ id: "notes" })
  await t.page.getByText("disconnected", { exact: true }).waitFor()
  assert.equal(await t.page.locator("main img").count(), 0)
  assert.deepEqual(t.faults, [])
})

test("tools are searched as the agent does, with scores, among thousands", async () => {
  const many = Array.from({ length: 1_990 }, (_, at) => ({
    name: `tool_${at}`,
    description: `Tool ${at}. ${attack}`,
  }))
  await using t = await openPage([], {
    ...trusted,
    prepare(tmp) {
      tmp.write(
        "many.json",
        JSON.stringify({ tools: [...many, { name: "weather", description: "Forecast of rain for a city" }] }),
      )
      tmp.write(".mcp.json", mcpJson({ many: tinyServer({ file: `${tmp.path}/many.json` }) }))
    },
  })
  await t.client.connectMcpServer({ id: "many" })
  await show(t, "tools")
  await t.page.getByText(/^20\d\d tools$/).waitFor()
  assert.ok((await t.page.locator(".rows li").count()) < 60)
  await t.page.getByLabel("Search tools").fill("rain forecast")
  const first = t.page.locator(".rows li").first()
  await first.getByText("weather").waitFor()
  assert.match((await first.textContent())!, /score \d/)
  await first.getByRole("button").click()
  await t.page
    .getByRole("dialog", { name: /weather/ })
    .getByText("Forecast of rain")
    .waitFor()
  await t.page.keyboard.press("Escape")
  await until(async () => (await t.page.getByRole("dialog").count()) === 0, "the dialog is closed")
  assert.deepEqual(t.faults, [])
})

test("skills, commands and agents are listed, and a request is routed with reasons", async () => {
  await using t = await openPage([], {
    ...trusted,
    prepare(tmp) {
      tmp.write(
        ".vitamin/skills/greet/SKILL.md",
        `---\nname: greet\ndescription: Greets ${attack}\n---\nHello`,
      )
      tmp.write(
        ".vitamin/agents/reviewer.md",
        `---\nname: Reviewer ${attack}\nmetadata:\n  description: Reviews changes\n  keywords: [review]\n---\nRead it.`,
      )
    },
  })
  await show(t, "skills")
  await t.page.getByText(`Greets ${attack}`).waitFor()
  await show(t, "agents")
  await t.page.getByRole("heading", { name: `Reviewer ${attack}` }).waitFor()
  await t.page.getByRole("textbox", { name: "Request" }).fill("review my change")
  await t.page.getByRole("button", { name: "Route" }).click()
  const chosen = t.page.getByRole("row", { name: /\(chosen\)/ })
  await chosen.waitFor()
  assert.match((await chosen.textContent())!, /reviewer.*review/)
  assert.deepEqual(t.faults, [])
})

test("a permission that was given is listed, and no longer holds after it is revoked", async () => {
  const touch = call("bash", { command: "touch made" })
  await using t = await openPage([touch, text("One."), touch, text("Two.")])
  await show(t, "permissions")
  await t.page.getByText("Nothing is always allowed here.").waitFor()
  const { id } = await t.client.createSession({})
  await t.client.promptSession({ id, text: "go", prefer: "respond-async" })
  const asked = async () => (await t.client.listPermissions())[0]
  await until(asked, "it asks")
  await t.client.replyPermission({ id: (await asked())!.id, reply: "always" })
  await t.page.getByRole("button", { name: /Revoke bash.execute/ }).click()
  await t.page.getByText("Nothing is always allowed here.").waitFor()
  await until(async () => (await t.client.getSession({ id })).status === "idle", "the prompt ends")
  await t.client.promptSession({ id, text: "again", prefer: "respond-async" })
  await until(asked, "it asks again")
})

test("a file that waits for review is shown with its difference, and trusted as it was shown", async () => {
  await using t = await openPage([], {
    prepare: (tmp) => tmp.write(".vitamin/config.jsonc", `{ "model": "openai/fake-model" } // ${attack}`),
  })
  await show(t, "trust")
  await t.page.getByText("Nobody has reviewed this folder.").waitFor()
  await t.page.locator(".diff .added", { hasText: attack }).waitFor()
  // A file that changed after it was shown is not trusted.
  t.tmp.write(".vitamin/config.jsonc", '{ "model": "openai/other" }')
  await t.page.getByRole("button", { name: "Trust .vitamin/config.jsonc" }).click()
  await t.page.locator(".problems").getByText("has changed since it was shown").waitFor()
  assert.equal((await t.client.listUntrusted()).isTrusted, false)
  await t.page.locator(".diff .added", { hasText: "openai/other" }).waitFor()
  await t.page.getByRole("button", { name: "Trust .vitamin/config.jsonc" }).click()
  await t.page.getByText("No file waits for review.").waitFor()
  assert.equal((await t.client.listUntrusted()).isTrusted, true)
  assert.deepEqual(t.faults, [])
})

test("settings have their layer and no secrets, and models are searched", async () => {
  const secret = "sk-nobody-may-see-this-0123456789"
  await using t = await openPage([], {
    ...trusted,
    config: { provider: { mine: { baseURL: "http://127.0.0.1:1/v1", apiKey: secret } } },
    prepare: (tmp) => tmp.write(".vitamin/config.jsonc", '{ "model": "openai/first" }'),
  })
  await show(t, "settings")
  const row = t.page.getByRole("row", { name: /^model/ })
  await row.getByText("openai/first").waitFor()
  assert.match((await row.textContent())!, /project/)
  assert.match(
    (await t.page.getByRole("row", { name: /provider.mine.baseURL/ }).textContent())!,
    /environment/,
  )
  await t.page.getByRole("row", { name: /provider.mine.apiKey/ }).waitFor()
  assert.ok(!(await t.page.content()).includes(secret))
  await show(t, "models")
  await t.page.getByLabel("Search models").fill("rules")
  await t.page.getByText("local/rules").waitFor()
  assert.deepEqual(t.faults, [])
})

test("hooks, plugins and language servers are shown with their places, and an unreviewed hook as not used", async () => {
  const hooks = { Stop: [{ hooks: [{ command: `echo ${attack}` }] }] }
  const servers = { own: { command: ["own-server", attack], extensions: { ".own": "own" } } }
  await using t = await openPage([], {
    config: { lsp: { servers } },
    prepare: (tmp) => tmp.write(".vitamin/hooks.json", JSON.stringify({ hooks })),
  })
  await show(t, "extensions")
  await t.page.getByText(/hooks\.json: its hooks are not used/).waitFor()
  await t.page.getByText("No hook is in force.").waitFor()
  await t.page.getByText("No plugin is installed.").waitFor()
  const server = t.page.locator("dd", { hasText: "own-server" })
  assert.match((await server.textContent()) ?? "", /not started · of the settings · own-server <img/)
  await t.page.getByRole("link", { name: "Review" }).click()
  await t.page.getByRole("button", { name: "Trust .vitamin/hooks.json" }).click()
  await t.page.getByText("No file waits for review.").waitFor()
  await show(t, "extensions")
  await t.page
    .locator("dd", { hasText: `echo ${attack}` })
    .getByText(".vitamin/hooks.json")
    .waitFor()
  assert.equal(await t.page.locator("main img").count(), 0)
  assert.deepEqual(t.faults, [])
})
