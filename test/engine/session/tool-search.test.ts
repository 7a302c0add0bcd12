// The description and the answers of `tool_search`: the description stays the same in a session, whatever servers come
// and go, and no server takes all places of an answer.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { Instance } from "#kernel/instance.ts"
import { call, type Request, text } from "../../fixture/fake-llm.ts"
import { type ManyTool, toolsOf } from "../../fixture/mcp/many-tools.ts"
import { defineTool, inWorld, resultsOf } from "./harness.ts"
import { loadMany, loadServer } from "./many.ts"

const domains = ["airport", "billing", "calendar", "clinic", "hotel", "music"]

function searchIn({ body }: Request): string {
  const tools = body.tools as { function: { name: string } }[]
  return JSON.stringify(tools.find((tool) => tool.function.name === "tool_search") ?? "none")
}

function tool(name: string, description: string): ManyTool {
  return { name, description, inputSchema: { type: "object", properties: {}, required: [] } }
}

test("tool_search is described the same way in a whole session, whatever servers come and go", async () => {
  // A server that comes in the middle of a prompt, one between two prompts, and one that leaves.
  const script = [call("open", {}), text("one"), text("two"), text("three"), text("four")]
  await inWorld(script, async ({ ask, llm, tmp }) => {
    await loadMany(domains)
    defineTool("open", async () => {
      await loadServer("aaa", { tools: toolsOf("weather"), called: [] })
      return "It is open."
    })
    await ask("Which invoice is open?", { asks: "once" })
    await loadServer("bbb", { tools: toolsOf("music").slice(0, 3), called: [] })
    await ask("Which one is paid?")
    await ToolRegistry.removeFromMCP("calendar")
    await ask("And now?")
    assert.match(searchIn(llm.requests[0]!), /There are tools of: airport, billing, calendar/)
    assert.deepEqual([llm.requests.length, new Set(llm.requests.map(searchIn)).size], [4, 1])
    // As after a restart: only stored data is known.
    await Instance.dispose()
    await Instance.provide({
      directory: tmp.path,
      async fn() {
        await loadMany(["billing", "music"])
        for (const id of ["new", "newer"]) await loadServer(id, { tools: toolsOf("hotel"), called: [] })
        await ask("Which invoice is the oldest?")
      },
    })
    assert.equal(llm.requests.length, 5)
    assert.equal(searchIn(llm.requests.at(-1)!), searchIn(llm.requests[0]!))
  })
})

test("a server whose tools match every word does not take all places of a tool_search answer", async () => {
  const flood = Array.from({ length: 40 }, (_, i) =>
    tool(`melt_gold_${i}`, `Melt gold, melt silver, melt gold again. ${"Needs heat and time. ".repeat(20)}`),
  )
  const script = [call("tool_search", { query: "melt gold", limit: 5 }), text("done")]
  await inWorld(script, async ({ ask, messages }) => {
    await loadServer("flood", { tools: flood, called: [] })
    const ring = "Makes a ring for a finger of any size, also from old gold that people bring."
    await loadServer("workshop", { tools: [tool("make_ring", ring)], called: [] })
    await ask("hello")
    const output = String(resultsOf(await messages())[0]!.output)
    assert.equal(output.match(/^flood_melt_gold_/gm)?.length, 4, output)
    assert.match(output, /^workshop_make_ring/m)
  })
})

test("if no other server has a match, an answer of tool_search is as long as requested", async () => {
  const flood = Array.from({ length: 40 }, (_, i) =>
    tool(`melt_gold_${i}`, `Melt gold. ${"Needs heat and time. ".repeat(20)}`),
  )
  await inWorld(
    [call("tool_search", { query: "melt gold", limit: 5 }), text("done")],
    async ({ ask, messages }) => {
      await loadServer("flood", { tools: flood, called: [] })
      await loadServer("post", { tools: [tool("send_letter", "Sends a letter.")], called: [] })
      await ask("hello")
      const output = String(resultsOf(await messages())[0]!.output)
      assert.equal(output.match(/flood_melt_gold_/g)?.length, 5, output)
    },
  )
})
