// A read-only tool of an MCP server: the work tree is not scanned for changes.
import assert from "node:assert/strict"
import { test } from "node:test"
import { mcpJson, tinyServer } from "../../../ability/mcp/servers.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

test("a call of a read-only MCP tool takes no snapshot, and one of another tool does", async () => {
  await using tmp = await tmpdir({ git: true })
  const tools = [{ name: "look", annotations: { readOnlyHint: true } }, { name: "change" }]
  tmp.write(".mcp.json", mcpJson({ tiny: tinyServer({ tools }) }))
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  await using llm = await fakeLlm([call("tiny_look", {}), call("tiny_change", {}), text("Done.")])
  const { variables } = env(llm, "chat")
  const run = await vitamin(tmp, ["run", "--allow", "mcp.call:tiny/*", "--format", "json", "go"], variables)
  assert.equal(run.code, 0, run.err)
  const list = await vitamin(tmp, ["session", "list", "--format", "json"], variables)
  const [{ id }] = JSON.parse(list.out)
  const { messages } = JSON.parse((await vitamin(tmp, ["session", "export", id], variables)).out)
  const calls = messages.flatMap((message: { data: { calls?: { name: string; snapshot?: object }[] } }) =>
    (message.data.calls ?? []).map(({ name, snapshot }) => [name, snapshot !== undefined]),
  )
  assert.deepEqual(calls, [
    ["tiny_look", false],
    ["tiny_change", true],
  ])
})
