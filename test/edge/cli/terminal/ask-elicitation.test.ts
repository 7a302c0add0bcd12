// Questions of an MCP server, with a person at a terminal and without one.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { mcpJson, officialServer } from "../../../ability/mcp/servers.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const form = call("everything_trigger-elicitation-request", {})
const rule = "mcp.call:everything/*"

async function withEverything(): Promise<Tmp> {
  const tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
  await vitamin(tmp, ["trust", "--yes"])
  assert.equal((await vitamin(tmp, ["mcp", "test", "everything"])).code, 0)
  return tmp
}

test("a person fills in one form of a server in the terminal, and declines another", async () => {
  await using tmp = await withEverything()
  await using llm = await fakeLlm([form, form, text("Thanks.")])
  await using terminal = openTerminal(tmp, ["run", "--allow", rule, "go"], {
    env: env(llm, "chat").variables,
  })
  const asked = /\[a\]ccept, \[d\]ecline, \[c\]ancel: /
  await terminal.sees(asked)
  assert.match(terminal.shown(), /The MCP server everything asks:\n {2}Please provide inputs/)
  // The status line is drawn every second, and not while a question is open.
  await sleep(1_300)
  assert.match(terminal.shown(), /\[c\]ancel: $/)
  terminal.type("a\n")
  await terminal.sees(/ name \(required\) String: Your full, legal name: /)
  terminal.type("\n")
  await terminal.sees(/name: it is required/)
  await terminal.sees(/Your full, legal name: /, 2)
  terminal.type("Ada\n")
  await terminal.sees(/Agree to the terms and conditions: /)
  terminal.type("yes\n")
  const rest = [
    "first line",
    "email",
    "website",
    "date of birth",
    "favorite integer",
    "Favorite number",
    "friend",
  ]
  for (const words of rest) {
    await terminal.sees(new RegExp(`${words}.*: $`, "i"))
    terminal.type(words === "favorite integer" ? "13\n" : "\n")
  }
  for (const words of ["instruments", "hero", "fish", "pet"]) {
    await terminal.sees(new RegExp(`type of ${words}: $|favorite.* ${words}: $`, "i"))
    terminal.type(words === "instruments" ? "Piano, Bass\n" : "\n")
  }
  await terminal.sees(asked, 2)
  terminal.type("d\n")
  assert.equal(await terminal.exit, 0, terminal.shown())
  const sent = (at: number) => JSON.stringify(llm.requests[at]!.body)
  assert.match(sent(1), /- Name: Ada.*Agreed to terms: true.*Favorite Integer: 13/s)
  assert.match(sent(1), /Piano.*Bass/s)
  assert.match(sent(2), /declined to provide/)
})

test("the URL of a server's question is shown with control characters escaped", async () => {
  await using tmp = await withEverything()
  const url = "https://example.test/login?id=1"
  const visit = { url, message: "Sign in\u001b]0;owned\u0007\nhere" }
  await using llm = await fakeLlm([call("everything_trigger-url-elicitation", visit), text("Thanks.")])
  const { variables } = env(llm, "chat")
  await using terminal = openTerminal(tmp, ["run", "--allow", rule, "go"], { env: variables })
  await terminal.sees(/\[c\]ancel: /)
  assert.match(
    terminal.shown(),
    /The MCP server everything asks:\n {2}Sign in\\u\{1b\}\]0;owned\\u\{7\}\n {2}here\n {2}https:\/\/example\.test\/login\?id=1\n {2}Open it yourself/,
  )
  terminal.type("a\n")
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.match(JSON.stringify(llm.requests[1]!.body), /accept/i)
})

test("a server's question is declined at once, with a report, if nobody can be asked", async () => {
  await using tmp = await withEverything()
  await using llm = await fakeLlm([form, text("No.")])
  const { code, err } = await vitamin(tmp, ["run", "--allow", rule, "go"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(err, /question of MCP server everything was declined: nobody can be asked/)
  assert.match(JSON.stringify(llm.requests[1]!.body), /declined to provide/)
})
