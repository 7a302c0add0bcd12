// An MCP server of the person's own skill: the trust in the project does not matter.
import assert from "node:assert/strict"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const tiny = readFileSync(new URL("../../ability/mcp/tiny-server.ts", import.meta.url), "utf8")

test("a server of the person's own skill starts, even if it runs an unreviewed project file", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/config.jsonc", "{}")
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const server = tmp.write("tools/server.ts", tiny)
  const behaviour = JSON.stringify({ tools: [{ name: "query", description: "Query the database." }] })
  const entry = JSON.stringify({ command: process.execPath, args: [server, behaviour] })
  const folder = join(tmp.env.XDG_CONFIG_HOME!, "vitamin/skills/data")
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, "SKILL.md"),
    `---\nname: data\ndescription: Works with the database.\nmcp: { db: ${entry} }\n---\nUse the server.\n`,
  )
  await using llm = await fakeLlm([call("db_query", { sql: "select 1" }), text("Done.")])
  const args = ["run", "--allow", "mcp.call", "/data", "query", "the", "database"]
  const { code, err } = await vitamin(tmp, args, env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(llm.requests[1]!.messages.at(-1)!.results[0]!.text, /query ran/)
})
