// `@server:uri` with an unknown server: the person is told, and the prompt continues.
import assert from "node:assert/strict"
import { test } from "node:test"
import { mcpJson, tinyServer } from "../../../ability/mcp/servers.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

test("a misspelt server name is reported with the nearest one", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ notes: tinyServer({ tools: [{ name: "one" }] }) }))
  await vitamin(tmp, ["trust", "--yes"])
  assert.equal((await vitamin(tmp, ["mcp", "test"])).code, 0)
  await using llm = await fakeLlm([text("Done."), text("Done.")])
  const { variables } = env(llm, "chat")
  const { code, out, err } = await vitamin(tmp, ["run", "Read @note:page:one, @note:page:one."], variables)
  assert.deepEqual([code, out], [0, "Done."], err)
  const said =
    'vitamin: "@note:page:one" was not attached: there is no MCP server "note". Did you mean "@notes:page:one"?\n'
  assert.equal(err.split(said).length, 2, err)
  const other = await vitamin(tmp, ["run", "Ask @alice:example.org:8448 or @note:12:3."], variables)
  assert.doesNotMatch(other.err, /not attached/)
})

test("text in the form of a resource is reported even without any server", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done.")])
  const { variables } = env(llm, "chat")
  const { code, err } = await vitamin(tmp, ["run", "Read @notes:page://one"], variables)
  assert.equal(code, 0, err)
  assert.match(err, /"@notes:page:\/\/one" was not attached: there is no MCP server "notes"\.\n/)
})
