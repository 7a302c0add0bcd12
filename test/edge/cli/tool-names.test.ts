// A tool of a server has one name wherever people see it: the one that models use. Rules are about `server/tool`.
import assert from "node:assert/strict"
import { test } from "node:test"
import { mcpJson, tinyServer } from "../../ability/mcp/servers.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { openTerminal } from "../../fixture/terminal.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

test("search, list, the permission question and the grant use the same name for a server's tool", async () => {
  await using tmp = await tmpdir({ git: true })
  const tools = [{ name: "get-sum", description: "Adds two numbers" }]
  tmp.write(".mcp.json", mcpJson({ every: tinyServer({ tools }) }))
  await vitamin(tmp, ["trust", "--yes"])
  assert.equal((await vitamin(tmp, ["mcp", "test"])).code, 0)

  const search = ["tool", "search", "add numbers"]
  assert.match((await vitamin(tmp, search)).out, /^every_get-sum +every +Adds two numbers$/m)
  const found = JSON.parse((await vitamin(tmp, [...search, "--format", "json"])).out)
  assert.equal(found[0].tool.name, "every_get-sum")
  assert.match((await vitamin(tmp, ["tool", "list"])).out, /^every_get-sum /m)

  await using llm = await fakeLlm([call("every_get-sum", {}), text("done")])
  await using terminal = openTerminal(tmp, ["run", "go"], { env: env(llm, "chat").variables })
  await terminal.sees(/say why not\): /)
  assert.match(terminal.shown(), /^every_get-sum needs your permission:\s+mcp\.call {2}every\/get-sum$/m)
  terminal.type("a\n")
  assert.equal(await terminal.exit, 0, terminal.shown())
  const { out } = await vitamin(tmp, ["permission", "list"])
  assert.match(out, / mcp\.call:every\/get-sum {2}\(the tool every_get-sum\)$/m)
})
