// The stored result of a tool call over HTTP: its call, its status, its structured output,
// and how long the tool itself ran.
import assert from "node:assert/strict"
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import type * as Message from "#knowledge/message/message.ts"
import { mcpJson, tinyServer } from "../../ability/mcp/servers.ts"
import { apiOf } from "../../fixture/api-of.ts"
import { serving, vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

const weather = { city: "Rome", days: [{ degrees: 21 }, { degrees: 23 }] }
const both = { total: 3 }
const tools = [
  { name: "structured", result: { content: [], structuredContent: weather } },
  {
    name: "written",
    result: {
      content: [{ type: "text", text: JSON.stringify(weather, null, 4) }],
      structuredContent: weather,
    },
  },
  {
    name: "told",
    result: { content: [{ type: "text", text: "There are three." }], structuredContent: both },
  },
]
const config = `import { Tool } from "@vitamin-agent/vitamin"
import { z } from "zod"
Tool.define("forecast", () => ({
  description: "The forecast.",
  parameters: z.object({}),
  readOnly: true,
  execute: async () => (${JSON.stringify(weather)}),
}))
export default {}
`

async function setUp(script: Parameters<typeof fakeLlm>[0]) {
  const tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ tiny: tinyServer({ tools }) }))
  tmp.write(".vitamin/config.ts", config)
  mkdirSync(join(tmp.path, "node_modules"))
  symlinkSync(
    fileURLToPath(new URL("../../../node_modules/zod", import.meta.url)),
    join(tmp.path, "node_modules/zod"),
  )
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const llm = await fakeLlm(script)
  const served = await serving(tmp, [], env(llm, "chat").variables)
  const api = apiOf(served)
  const { id } = (await api("POST", "/session", {})).body
  return {
    llm,
    api,
    ask: (more: object = {}) => api("POST", `/session/${id}/message`, { text: "go", ...more }),
    async results(): Promise<Message.Of<"tool_result">["data"][]> {
      const { body } = await api("GET", `/session/${id}/message`)
      return body
        .filter(({ type }: Message.Info) => type === "tool_result")
        .map(({ data }: Message.Info) => data)
    },
    async [Symbol.asyncDispose]() {
      await served.child[Symbol.asyncDispose]()
      await llm[Symbol.asyncDispose]()
      await tmp[Symbol.asyncDispose]()
    },
  }
}

test("a tool result names its call, its end and its time, and has structured output as structure", async () => {
  await using world = await setUp([
    call("tiny_structured", {}, { id: "call_1" }),
    call("tiny_written", {}, { id: "call_2" }),
    call("tiny_told", {}, { id: "call_3" }),
    call("forecast", {}, { id: "call_4" }),
    text("Done."),
  ])
  const before = Date.now()
  assert.equal((await world.ask({ asks: "once" })).status, 200)
  const results = await world.results()
  assert.deepEqual(
    results.map(({ requestId, toolName, status }) => [requestId, toolName, status]),
    [
      ["call_1", "tiny_structured", "success"],
      ["call_2", "tiny_written", "success"],
      ["call_3", "tiny_told", "success"],
      ["call_4", "forecast", "success"],
    ],
  )
  assert.deepEqual(results[0]!.output, weather)
  assert.deepEqual(results[1]!.output, weather)
  // The text differs from the structured data: the model gets the text, and the data is stored too.
  assert.equal(results[2]!.output, "There are three.")
  assert.deepEqual(results[2]!.metadata?.data, both)
  assert.deepEqual(results[3]!.output, weather)
  for (const one of [0, 1, 3]) assert.equal(results[one]!.metadata?.data, undefined, "it is stored once")
  for (const { duration, timestamp } of results) {
    assert.ok(Number.isInteger(duration) && duration >= 0)
    assert.ok(timestamp >= before && timestamp <= Date.now())
  }
  const sent = world.llm.requests.at(-1)!.messages.flatMap((message) => message.results)
  assert.deepEqual(
    sent.map(({ text }) => text),
    [JSON.stringify(weather), JSON.stringify(weather), "There are three.", JSON.stringify(weather)],
  )
})

test("the duration of a call starts when it is allowed, and a rejected call has none", async () => {
  await using world = await setUp([call("tiny_told", {}), call("tiny_told", { again: true }), text("Done.")])
  const { api } = world
  const answered = world.ask()
  const replied: number[] = []
  for (const reply of ["once", "reject"]) {
    let pending: { id: string }[] = []
    await until(async () => {
      pending = (await api("GET", "/permission/pending")).body
      return pending.length > 0
    }, "permission is asked for")
    // The call waits at least as long as this.
    await new Promise((resolve) => setTimeout(resolve, 300))
    replied.push(Date.now())
    await api("POST", `/permission/${pending[0]!.id}/respond`, { reply })
  }
  await answered
  const [allowed, rejected] = await world.results()
  assert.ok(allowed!.timestamp - allowed!.duration >= replied[0]! - 5, "it began after the reply")
  assert.deepEqual([rejected!.status, rejected!.duration], ["error", 0])
})
