// Questions that are answered on the page: permissions with their rules, forms and addresses of MCP servers.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { type Opened, openPage } from "./harness.ts"

async function prompt(t: Opened, words = "go"): Promise<string> {
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill(words)
  await t.page.getByLabel("Prompt").press("Enter")
  return id
}

test("always says in words what it allows, takes a changed rule, and holds in the session only", async () => {
  await using t = await openPage([
    call("bash", { command: "touch one" }),
    call("bash", { command: "touch two" }),
    text("Both."),
  ])
  const id = await prompt(t)
  const question = t.page.getByRole("group", { name: "Question" })
  await question.getByText("Run this command?").waitFor()
  // The question has the focus: nobody was writing. Its first button is one Tab away.
  await until(() => question.evaluate((box) => box === document.activeElement), "the focus")
  await t.page.getByRole("status").filter({ hasText: "A question waits" }).waitFor({ state: "attached" })
  await question.getByText("Always allow…").click()
  await question.getByText("Allows exactly the command touch one.").waitFor()
  await question.getByLabel("Rules").fill("file.edit:**")
  await question.getByRole("button", { name: "Allow always" }).click()
  await question.getByRole("alert").waitFor()
  await question.getByLabel("Rules").fill("bash.execute:touch *")
  await question.getByText('Allows every command that begins with "touch ".').waitFor()
  await question.getByLabel("Where").selectOption("session")
  await question.getByRole("button", { name: "Allow always" }).click()
  await t.page.getByText("Both.").waitFor()
  const grants = await t.client.listGrants()
  assert.deepEqual(
    grants.map(({ scope, permission, pattern, sessionId }) => [scope, permission, pattern, sessionId]),
    [["session", "bash.execute", "touch *", id]],
  )
  assert.ok(existsSync(join(t.tmp.path, "two")))
  // The focus comes back to where the person writes.
  await until(
    () => t.page.getByLabel("Prompt").evaluate((box) => box === document.activeElement),
    "the composer",
  )
  assert.deepEqual(t.faults, [])
})

test("a rejection carries its reason to the model, and who is writing keeps the focus", async () => {
  await using t = await openPage([call("bash", { command: "touch one" }), text("Then not.")])
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("I am writing")
  await t.client.promptSession({ id, text: "go", prefer: "respond-async" })
  const question = t.page.getByRole("group", { name: "Question" })
  await question.waitFor()
  assert.equal(await t.page.getByLabel("Prompt").evaluate((box) => box === document.activeElement), true)
  await question.getByLabel("Reason for the rejection").fill("use two instead")
  await question.getByLabel("Reason for the rejection").press("Enter")
  await t.page.getByText("Then not.").waitFor()
  assert.match(JSON.stringify(t.llm.requests.at(-1)!.body), /use two instead/)
  assert.equal(await t.page.getByLabel("Prompt").inputValue(), "I am writing")
})

test("an edit shows its change before it is allowed, and all edits can be allowed at once", async () => {
  await using t = await openPage([
    call("write", { path: "a.txt", content: "one\n" }),
    call("write", { path: "b.txt", content: "two\n" }),
    text("Both."),
  ])
  await prompt(t)
  const question = t.page.getByRole("group", { name: "Question" })
  await question.getByText("Write a.txt?").waitFor()
  assert.match((await question.locator(".diff tr.added").textContent()) ?? "", /\+\s*one/)
  await question.getByRole("button", { name: "All edits in this session" }).click()
  await t.page.getByText("Both.").waitFor()
  assert.ok(existsSync(join(t.tmp.path, "b.txt")))
})

test("a question of a task is answered in the session that gave the task", async () => {
  await using t = await openPage(
    ({ messages }) => {
      const last = JSON.stringify(messages.at(-1))
      if (last.includes("make it for me")) return call("bash", { command: "touch made" })
      if (last.includes("The task is done")) return text("All done.")
      return last.includes("delegate")
        ? call("subtask", { task: "make it for me" })
        : text("The task is done")
    },
    { config: { permission: [{ permission: "agent.delegate", pattern: "*", action: "allow" }] } },
  )
  await prompt(t, "delegate")
  await t.page.getByRole("group", { name: "Question" }).getByText("Run this command?").waitFor()
  await t.page.getByRole("button", { name: "Once" }).click()
  await t.page.getByText("All done.").waitFor()
  assert.ok(existsSync(join(t.tmp.path, "made")))
})

const everything = new URL(
  "../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js",
  import.meta.url,
).pathname

async function withEverything(tmp: Tmp): Promise<void> {
  tmp.write(
    ".mcp.json",
    JSON.stringify({
      mcpServers: { everything: { command: process.execPath, args: [everything, "stdio"] } },
    }),
  )
  await vitamin(tmp, ["trust", "--yes"])
  assert.equal((await vitamin(tmp, ["mcp", "test", "everything"])).code, 0)
}

test("a form of an MCP server is filled in with all kinds of fields, and a wrong field is named", async () => {
  await using t = await openPage(
    [
      call("everything_trigger-elicitation-request", {}),
      call("everything_trigger-url-elicitation", { url: "https://exämple.test/go?x=1", message: "Look" }),
      text("Thanks."),
    ],
    {
      prepare: withEverything,
      config: { permission: [{ permission: "mcp.call", pattern: "**", action: "allow" }] },
    },
  )
  await prompt(t)
  const question = t.page.getByRole("group", { name: "Question" })
  await question.getByText("The MCP server everything asks").waitFor()
  await question.getByRole("button", { name: "Send" }).click()
  const name = question.locator("input[aria-invalid=true]").first()
  assert.match((await question.locator(".field .error").first().textContent()) ?? "", /required/)
  await until(() => name.evaluate((box) => box === document.activeElement), "the wrong field has the focus")
  await name.fill("Ada <b>x</b>")
  await question.locator("input[type=email]").fill("nobody")
  await question.getByRole("button", { name: "Send" }).click()
  await question.getByText("it is not of the form email").waitFor()
  await question.locator("input[type=email]").fill("ada@example.org")
  await question.locator("input[type=url]").fill("https://example.org")
  await question.locator("input[type=date]").fill("1815-12-10")
  await question.locator("select").first().selectOption("true")
  await question.locator("input[type=checkbox]").first().check()
  assert.equal(await question.locator("input[type=number]").first().inputValue(), "42")
  await question.getByRole("button", { name: "Send" }).click()
  await question.locator(".address code").waitFor()
  assert.equal(await question.getByRole("link").getAttribute("rel"), "noopener noreferrer")
  assert.match(JSON.stringify(t.llm.requests.at(-1)!.body), /ada@example\.org/)
  await question.getByRole("button", { name: "Decline" }).click()
  await t.page.getByText("Thanks.").waitFor()
  assert.equal(t.page.context().pages().length, 1)
  assert.deepEqual(t.faults, [])
})

/** Asks when two calls run, so that its question belongs to neither session; writes the answer to a file. */
const askingServer = `
const calls = []
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n")
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line)
  if (id === "ask") {
    require("node:fs").writeFileSync("answer.json", JSON.stringify(result))
    for (const call of calls) send({ id: call, result: { content: [{ type: "text", text: "Told." }] } })
  } else if (method === "initialize") send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "asks", version: "1" } } })
  else if (method === "tools/list") send({ id, result: { tools: [{ name: "wait", description: "Waits", inputSchema: { type: "object" } }] } })
  else if (method === "tools/call") {
    if (calls.push(id) === 2) send({ id: "ask", method: "elicitation/create", params: { message: "Which colour?", requestedSchema: { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] } } })
  } else if (id !== undefined && method) send({ id, result: {} })
})`

test("a question that belongs to no single session is answered in the list, also after a reload", async () => {
  await using t = await openPage(
    ({ messages }) =>
      JSON.stringify(messages.at(-1)).includes("Told.") ? text("Done.") : call("asks_wait", {}),
    {
      args: ["--trust"],
      config: { permission: [{ permission: "*", pattern: "**", action: "allow" }] },
      prepare(tmp) {
        tmp.write("asks.cjs", askingServer)
        tmp.write(
          ".mcp.json",
          JSON.stringify({ mcpServers: { asks: { command: "node", args: ["asks.cjs"] } } }),
        )
      },
    },
  )
  await t.page.goto(`${t.url}/#/`)
  for (const title of ["one", "two"]) {
    const { id } = await t.client.createSession({ title })
    await t.client.promptSession({ id, text: "wait", prefer: "respond-async" })
  }
  await t.page.getByText("Which colour?").waitFor()
  await t.page.reload()
  await t.page.getByText("1 question waits").waitFor()
  await t.page.getByRole("button", { name: "Answer…" }).press("Enter")
  const dialog = t.page.getByRole("dialog", { name: "A question" })
  await dialog.getByLabel("colour").fill("green")
  await dialog.getByLabel("colour").press("Enter")
  await dialog.waitFor({ state: "detached" })
  const file = join(t.tmp.path, "answer.json")
  await until(() => existsSync(file) && readFileSync(file, "utf8"), "the answer")
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), { action: "accept", content: { colour: "green" } })
  assert.deepEqual(t.faults, [])
})
