// Tools beyond the list of a request: tool_search shows their parameters and calls them; rules, questions and records
// use the real tool.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import type * as Message from "#knowledge/message/message.ts"
import { badCall, call, calls, reasoning, text, wires } from "../../fixture/fake-llm.ts"
import type { ManyTool } from "../../fixture/mcp/many-tools.ts"
import { inWorld, resultsOf } from "../session/harness.ts"
import { type Called, loadServer, namesOf, tokensBeyond } from "../session/many.ts"
import { next } from "../session/needy.ts"

const metals = "iron copper zinc lead tin silver gold nickel cobalt chrome titanium tungsten".split(" ")

/** Twelve tools of about 900 tokens each: a first request holds three, and any request six. */
async function loadSmithy(): Promise<Called> {
  const called: Called = []
  const tools = metals.map((metal): ManyTool => {
    const description = `Melts ${metal}. ${"It takes its time and needs a lot of heat. ".repeat(55)}`
    const properties = { grams: { type: "integer", description: `how much ${metal}` } }
    return { name: `melt_${metal}`, description, inputSchema: { type: "object", properties, required: [] } }
  })
  await loadServer("smithy", { tools, called })
  return called
}

const search = (metal: string) => call("tool_search", { query: `melt ${metal}`, limit: 1 })
const through = (metal: string, args: unknown) =>
  call("tool_search", { call: `smithy_melt_${metal}`, arguments: args })
const askedFor = (messages: Message.Info[]) =>
  messages.flatMap((message) =>
    message.type === "tool_request"
      ? message.data.calls.map(({ name, arguments: args, approval }) => ({ name, args, approval }))
      : [],
  )

test("the list ends at 6000 tokens, and a tool beyond it is asked for, run and stored under its real name", async () => {
  const filling = ["zinc", "lead", "tin", "silver", "nickel", "cobalt", "chrome"]
  const script = [...filling.map(search), search("gold"), through("gold", { grams: 3 }), text("done")]
  await inWorld(script, async ({ ask, llm, messages, events }) => {
    const called = await loadSmithy()
    const answered = ask("Melt iron and copper")
    const [question] = await next()
    assert.equal(question!.tool, "smithy_melt_gold")
    assert.deepEqual(
      question!.needs.map(({ permission, target }) => `${permission} ${target}`),
      ["mcp.call smithy/melt_gold"],
    )
    assert.match(question!.preview ?? "", /"grams": 3/)
    assert.deepEqual(called, [], "nothing runs before the person has answered")
    await Permission.reply(question!.id, "once")
    await answered
    assert.deepEqual(called, [{ tool: "smithy/melt_gold", args: { grams: 3 } }])
    for (const request of llm.requests) assert.ok(tokensBeyond(request) <= 6_000)
    assert.ok(tokensBeyond(llm.requests[0]!) <= 3_000)
    assert.ok(tokensBeyond(llm.requests.at(-1)!) > 4_500)
    assert.ok(!llm.requests.flatMap(namesOf).includes("smithy_melt_gold"))
    const kept = askedFor(await messages()).at(-1)
    assert.deepEqual(kept, { name: "smithy_melt_gold", args: { grams: 3 }, approval: "approved" })
    const results = resultsOf(await messages())
    assert.equal(results.at(-1)!.toolName, "smithy_melt_gold")
    assert.match(
      String(results.at(-2)!.output),
      /^smithy_melt_gold: Melts gold\..*\n {2}parameters: .*"grams"/,
    )
    assert.match(String(results.at(-2)!.output), /tool_search \{ "call": its name, "arguments": \{…\} \}\.$/)
    const asked = events.find(({ type }) => type === "permission.requested")
    assert.match(JSON.stringify(asked?.payload), /"tool":"smithy_melt_gold"/)
  })
})

test("a rule that denies a server's tool also denies it through tool_search", async () => {
  const script = [calls([through("gold", { grams: 1 }), through("tin", { grams: 2 })]), text("done")]
  const permission = [
    { permission: "mcp.call", pattern: "smithy/*", action: "allow" },
    { permission: "mcp.call", pattern: "smithy/melt_gold", action: "deny" },
  ]
  await inWorld(
    script,
    async ({ ask, messages }) => {
      const called = await loadSmithy()
      await ask("Melt iron and copper")
      assert.deepEqual(called, [{ tool: "smithy/melt_tin", args: { grams: 2 } }])
      const [gold, tin] = resultsOf(await messages())
      assert.match(
        String(gold!.output),
        /"smithy_melt_gold" was not run: mcp\.call of "smithy\/melt_gold" is denied/,
      )
      assert.equal(tin!.output, "melt_tin is done")
      assert.deepEqual(
        askedFor(await messages()).map(({ approval }) => approval),
        ["denied", "approved"],
      )
    },
    { config: { permission } },
  )
})

test("no call through tool_search runs if nobody can be asked, not even of built-in tools", async () => {
  const shell = call("tool_search", { call: "bash", arguments: { command: "touch made" } })
  await inWorld([calls([through("gold", {}), shell]), text("done")], async ({ ask, messages, tmp }) => {
    const called = await loadSmithy()
    await ask("Melt iron and copper", { asks: "deny" })
    assert.deepEqual(called, [])
    const [gold, bash] = resultsOf(await messages())
    assert.match(String(gold!.output), /"smithy_melt_gold" was not run/)
    assert.match(String(bash!.output), /"bash" was not run/)
    assert.equal(existsSync(join(tmp.path, "made")), false)
  })
})

test("arguments in a string are parsed, and the real tool reports broken ones", async () => {
  const script = [
    through("tin", '{"grams": 5}'),
    through("tin", '{"grams": '),
    badCall("tool_search", '{"call": "smithy_melt_tin", '),
    call("smithy_melt_tin", { grams: 6 }),
    text("done"),
  ]
  await inWorld(script, async ({ ask, messages }) => {
    const called = await loadSmithy()
    await ask("Melt iron and copper", { asks: "once" })
    assert.deepEqual(
      called.map(({ args }) => args),
      [{ grams: 5 }, { grams: 6 }],
    )
    assert.deepEqual(
      resultsOf(await messages()).map(({ toolName, status }) => `${toolName} ${status}`),
      ["smithy_melt_tin success", "smithy_melt_tin error", "tool_search error", "smithy_melt_tin success"],
    )
  })
})

for (const wire of wires)
  test(`a call through tool_search is sent back over ${wire} as a call of the real tool`, async () => {
    const script = [reasoning("Gold?", through("gold", { grams: 4 })), text("done")]
    await inWorld(
      script,
      async ({ ask, llm }) => {
        const called = await loadSmithy()
        await ask("Melt iron and copper", { asks: "once" })
        assert.deepEqual(called, [{ tool: "smithy/melt_gold", args: { grams: 4 } }])
        const [first, second] = llm.requests
        assert.ok(namesOf(first!).includes("tool_search"))
        assert.deepEqual(
          second!.messages.flatMap((message) => message.calls.map(({ name }) => name)),
          ["smithy_melt_gold"],
        )
      },
      { wire },
    )
  })
