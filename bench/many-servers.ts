// `vitamin run` from its start to the first request: with 50 MCP servers that were seen before, of which 5 hang and 5
// crash, beside none, interleaved. Then whether the 40 work.
import assert from "node:assert/strict"
import { mcpJson, tinyServer } from "../test/ability/mcp/servers.ts"
import { vitamin } from "../test/fixture/cli.ts"
import { call, calls, env, fakeLlm, type Script, text } from "../test/fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../test/fixture/tmpdir.ts"
import { median, report } from "./measure.ts"

const rounds = Number(process.env.ROUNDS ?? 15)
const goal = 1.2
const good = Array.from({ length: 40 }, (_, i) => `good${i}`)
const bad = ["hang", "crash"].flatMap((mode) => Array.from({ length: 5 }, (_, i) => [`${mode}${i}`, mode]))
const tools = [{ name: "one", description: "Does one thing.", inputSchema: { type: "object" } }]

await using none = await tmpdir({ git: true })
await using many = await tmpdir({ git: true })
const working = good.map((id) => [id, tinyServer({ tools })] as const)
await configure(working)
const tested = await vitamin(many, ["mcp", "test"])
assert.equal(tested.code, 0, tested.out + tested.err)
await configure([...working, ...bad.map(([id, mode]) => [id!, tinyServer({ mode })] as const)])
await start(many, [text("Done.")])
const times: Record<"none" | "many", number[]> = { none: [], many: [] }
for (let i = 0; i < rounds; i++) {
  times.none.push((await start(none, [text("Done.")])).time)
  times.many.push((await start(many, [text("Done.")])).time)
}
report("50 servers: start to request (floor: none)", median(times.many), median(times.none), "ms", goal)
const all = calls(good.map((id) => call(`${id}_one`, {})))
const { raw } = await start(many, [all, text("Done.")])
const worked = raw.split("one ran").length - 1
console.log(`of 40 servers that can, ${worked} worked  goal 40 ${worked === 40 ? "met" : "MISSED"}`)
if (worked !== 40) process.exitCode = 1

async function configure(servers: (readonly [id: string, entry: object])[]) {
  many.write(".mcp.json", mcpJson(Object.fromEntries(servers)))
  const { code, err } = await vitamin(many, ["trust", "--yes"])
  assert.equal(code, 0, err)
}

async function start(tmp: Tmp, script: Script): Promise<{ time: number; raw: string }> {
  let arrived = 0
  const replies = [...(script as [])]
  await using llm = await fakeLlm(() => {
    arrived ||= performance.now()
    return replies.shift()!
  })
  const begun = performance.now()
  const { code, err } = await vitamin(tmp, ["run", "--yes", "Do one thing"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  return { time: arrived - begun, raw: llm.requests.at(-1)!.raw }
}
