// `vitamin run` from its start to the first request: with 527 tools of three known MCP servers beside ten of one,
// interleaved, and what that request says of tools.
import assert from "node:assert/strict"
import { fileURLToPath } from "node:url"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import { mcpJson, tinyServer } from "../test/ability/mcp/servers.ts"
import { vitamin } from "../test/fixture/cli.ts"
import { env, fakeLlm, type Request, text } from "../test/fixture/fake-llm.ts"
import { domainNames, toolsOf } from "../test/fixture/mcp/many-tools.ts"
import { type Tmp, tmpdir } from "../test/fixture/tmpdir.ts"
import { median, report } from "./measure.ts"

const rounds = Number(process.env.ROUNDS ?? 11)
const goal = 2
const tokenGoal = 3_000
const script = fileURLToPath(new URL("../test/fixture/mcp/many-server.ts", import.meta.url))
const builtin = new Set("bash edit fetch glob grep ls read subtask todo write".split(" "))

const server = (domains: string[]) => ({ command: process.execPath, args: [script, domains.join()] })
await using few = await projectWith({ office: tinyServer({ tools: toolsOf("crm").slice(0, 10) }) })
await using many = await projectWith({
  office: server(domainNames.slice(0, 6)),
  town: server(domainNames.slice(6, 12)),
  land: server(domainNames.slice(12)),
})
const times: Record<"few" | "many", number[]> = { few: [], many: [] }
// The first one makes the index.
const { time: first, request } = await start(many)
await start(few)
for (let i = 0; i < rounds; i++) {
  times.few.push((await start(few)).time)
  times.many.push((await start(many)).time)
}
report("527 tools: start to request (floor: ten)", median(times.many), median(times.few), "ms", goal)
report("  the first start, which makes the index", first, median(times.few), "ms")
const tokens = tokensBeyond(request)
console.log(
  `definitions beyond the built-in tools: ${tokens} tokens  goal ${tokenGoal} ${tokens <= tokenGoal ? "met" : "MISSED"}`,
)
if (tokens > tokenGoal) process.exitCode = 1

async function projectWith(servers: Record<string, object>): Promise<Tmp> {
  const tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson(servers))
  await vitamin(tmp, ["trust", "--yes"])
  assert.equal((await vitamin(tmp, ["mcp", "test"])).code, 0)
  return tmp
}

async function start(tmp: Tmp): Promise<{ time: number; request: Request }> {
  let arrived = 0
  await using llm = await fakeLlm(() => {
    arrived = performance.now()
    return text("Done.")
  })
  const begun = performance.now()
  const { code, err } = await vitamin(tmp, ["run", "Create a refund for Ada"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  return { time: arrived - begun, request: llm.requests[0]! }
}

function tokensBeyond({ body }: Request): number {
  const tools = body.tools as { function: { name: string } }[]
  return tools
    .filter(({ function: { name } }) => !builtin.has(name))
    .reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool)), 0)
}
