// Requests that need several tools of several servers, through the built command: which tools the first request offers.
import assert from "node:assert/strict"
import { test } from "node:test"
import { serverTools } from "../../../bench/offered-tools.ts"
import { readQueries } from "../../../bench/retrieval-sets.ts"
import { mcpJson, tinyServer } from "../../ability/mcp/servers.ts"
import { usualTools } from "../../fixture/builtin-tools.ts"
import { vitamin } from "../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const builtin = new Set([...usualTools, "tool_search"])
const servers = ["github", "slack", "jira", "confluence", "gmail", "gcal", "stripe", "kubernetes", "datadog"]

/** More tools than a request may name, with stored manifests, as after a first start. */
async function withServers(tmp: Tmp): Promise<void> {
  const of = (server: string) => serverTools().filter((tool) => tool.server === server)
  const toolsOf = (server: string) =>
    of(server).map(({ name, description, properties }) => ({
      name,
      description,
      inputSchema: { type: "object", properties },
    }))
  const entries = servers.map((server) => [server, tinyServer({ tools: toolsOf(server) })])
  tmp.write(".mcp.json", mcpJson(Object.fromEntries(entries)))
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const tested = await vitamin(tmp, ["mcp", "test"])
  assert.equal(tested.code, 0, tested.out + tested.err)
}

async function offeredFor(tmp: Tmp, prompt: string): Promise<string[]> {
  await using llm = await fakeLlm([text("done")])
  const { code, err } = await vitamin(tmp, ["run", prompt], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  return llm.requests[0]!.tools.map(({ name }) => name).filter((name) => !builtin.has(name))
}

test("a first request offers most of the tools that its prompt needs, and few for a coding prompt", async () => {
  await using tmp = await tmpdir({ git: true })
  await withServers(tmp)
  const judging = readQueries("servers").filter((_, at) => at % 2 === 1)
  const isHere = (id: string) => servers.includes(id.split("/")[0]!)
  const several = judging.filter(({ gold }) => gold.length > 1 && gold.every(isHere))
  assert.ok(several.length >= 4, `${several.length} prompts`)
  let [right, wanted, needless] = [0, 0, 0]
  for (const { query, gold } of several) {
    const offered = await offeredFor(tmp, query)
    wanted += gold.length
    right += gold.filter((id) => offered.includes(id.replace("/", "_"))).length
  }
  assert.ok(right >= 0.8 * wanted, `${right} of ${wanted} right tools are offered`)
  const coding = judging.filter(({ gold }) => !gold.length).slice(0, 8)
  for (const { query } of coding) needless += (await offeredFor(tmp, query)).length
  assert.ok(needless <= coding.length, `${needless} tools for ${coding.length} coding prompts`)
})

test("a tool whose description begins with a blank line is listed with its first non-blank line", async () => {
  await using tmp = await tmpdir({ git: true })
  const tools = [{ name: "gauge", description: "\n    Measure the pressure.\n\n    Args: none\n" }]
  tmp.write(".mcp.json", mcpJson({ plant: tinyServer({ tools }) }))
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  assert.equal((await vitamin(tmp, ["mcp", "test"])).code, 0)
  assert.match((await vitamin(tmp, ["tool", "list"])).out, /^plant_gauge +\S+ +Measure the pressure\.$/m)
  const found = await vitamin(tmp, ["tool", "search", "pressure", "--limit", "1"])
  assert.match(found.out, /^plant_gauge +plant +Measure the pressure\.$/m)
})
