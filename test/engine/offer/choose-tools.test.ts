// Which tools requests name: all if they are few, the matching ones if they are many; new ones are always appended.
import assert from "node:assert/strict"
import { test } from "node:test"
import { defineAgent } from "#ability/agent/define-agent.ts"
import * as Session from "#engine/session/session.ts"
import { usualTools } from "../../fixture/builtin-tools.ts"
import { call, type Request, text } from "../../fixture/fake-llm.ts"
import { toolsOf } from "../../fixture/mcp/many-tools.ts"
import { defineTool, inWorld, resultsOf } from "../session/harness.ts"
import { loadMany, loadServer, namesOf, tokensBeyond } from "../session/many.ts"

const outputs = async (world: { messages(): ReturnType<typeof Session.messages> }) =>
  resultsOf(await world.messages()).map(({ output }) => String(output))

/** Tools and messages of each request begin with the bytes of the request before it. */
function assertGrows(requests: Request[]): void {
  for (const [i, { body }] of requests.entries())
    for (const key of ["tools", "messages"]) {
      const before = JSON.stringify(requests[i - 1]?.body[key] ?? []).slice(0, -1)
      assert.ok(JSON.stringify(body[key]).startsWith(before), `${key} of request ${i + 1}`)
    }
}

test("a few tools of servers are all sent after the built-in ones, and a new one is appended", async () => {
  await inWorld([text("one"), text("two")], async ({ ask, llm }) => {
    await loadServer("m", { tools: toolsOf("music").slice(0, 2), called: [] })
    await ask("hello")
    await loadServer("a", { tools: toolsOf("airport").slice(0, 1), called: [] })
    await ask("again")
    const few = [...usualTools, "m_create_playlist", "m_get_playlist"]
    assert.deepEqual(namesOf(llm.requests[0]!), few)
    assert.deepEqual(namesOf(llm.requests[1]!), [...few, "a_create_flight"])
    assertGrows(llm.requests)
  })
})

test("of 527 tools a first request names up to ten that fit, and tool_search", async () => {
  await inWorld([call("billing_create_refund", { title: "for Ada" }), text("done")], async ({ ask, llm }) => {
    const called = await loadMany()
    await ask("Create a refund for the customer Ada", { asks: "once" })
    const [first] = llm.requests
    assert.deepEqual(namesOf(first!).slice(0, usualTools.length + 1), [...usualTools, "tool_search"])
    assert.ok(namesOf(first!).length <= usualTools.length + 11)
    assert.ok(namesOf(first!).includes("billing_create_refund"), namesOf(first!).join())
    assert.ok(tokensBeyond(first!) <= 3_000)
    assert.deepEqual(called, [{ tool: "billing/create_refund", args: { title: "for Ada" } }])
    assertGrows(llm.requests)
  })
})

test("a prompt with several requests gets a tool for each, and none for a request that no tool fits", async () => {
  await inWorld([text("done"), text("done")], async ({ ask, llm }) => {
    await loadMany()
    await ask(
      "Create a refund for Ada's invoice, create a meeting for Friday, then show me the weather forecast",
    )
    const names = namesOf(llm.requests[0]!)
    for (const name of ["billing_create_refund", "calendar_create_meeting", "weather_get_forecast"])
      assert.ok(names.includes(name), `${name} in ${names}`)
    await ask("fix the failing test in src/index.ts")
    assert.deepEqual(namesOf(llm.requests[1]!), names)
  })
  await inWorld([text("done")], async ({ ask, llm }) => {
    await loadMany()
    await ask("fix the failing test in src/index.ts")
    assert.deepEqual(namesOf(llm.requests[0]!), [...usualTools, "tool_search"])
  })
})

test("tools that tool_search finds are appended from the next request on, and kept in later prompts", async () => {
  const script = [
    call("tool_search", { query: "create a prescription", limit: 3 }),
    call("clinic_create_prescription", { title: "x" }),
    text("one"),
    text("two"),
    text("A summary."),
    text("three"),
  ]
  await inWorld(script, async (world) => {
    const { ask, llm, session } = world
    const called = await loadMany()
    await ask("Which invoice is open?", { asks: "once" })
    const [first, second] = llm.requests
    assert.ok(!namesOf(first!).some((name) => name.startsWith("clinic_")))
    assert.equal(namesOf(second!).length, namesOf(first!).length + 3)
    assert.ok(namesOf(second!).slice(-3).includes("clinic_create_prescription"), namesOf(second!).join())
    assert.match((await outputs(world))[0]!, /^clinic_\w+ \(now among your tools\): /)
    assert.deepEqual(called, [{ tool: "clinic/create_prescription", args: { title: "x" } }])
    await ask("Book a table")
    await Session.compact(session.id)
    await ask("Book a table")
    const sent = llm.requests.filter(({ tools }) => tools.length)
    assertGrows(sent.slice(0, 4))
    assert.deepEqual(sent.at(-1)!.body.tools, sent.at(-2)!.body.tools)
    const offered = namesOf(sent.at(-1)!).slice(usualTools.length)
    assert.deepEqual((await Session.get(session.id)).offered, offered)
  })
})

test("tool_search reports if nothing fits, if all tools are listed, and if a tool cannot be called", async () => {
  const script = [
    call("tool_search", { call: "clinic_no_such", arguments: {} }),
    call("tool_search", { call: "tool_search", arguments: { call: "clinic_get_patient" } }),
    call("tool_search", {}),
    text("done"),
  ]
  await inWorld(script, async (world) => {
    const called = await loadMany()
    await world.ask("Which invoice is open?", { asks: "once" })
    const [missing, nested, empty] = await outputs(world)
    assert.match(missing!, /"clinic_no_such" cannot be called by tool_search: no tool of yours has this name/)
    assert.match(nested!, /"tool_search" cannot be called by tool_search/)
    assert.match(empty!, /expected what to look for, or the tool to call/)
    assert.deepEqual(called, [])
  })
  await inWorld([call("tool_search", { query: "x" }), text("done")], async (world) => {
    defineAgent({ id: "finder", tools: ["tool_search"] })
    await world.ask("go", { agent: "finder" })
    assert.deepEqual(await outputs(world), ["There are no other tools than those that you have."])
  })
})

test("an agent finds and calls only the tools that it names", async () => {
  const own = toolsOf("hotel").map(({ name }) => `hotel_${name}`)
  const script = [
    call("tool_search", { query: "show an invoice of the billing system", limit: 20 }),
    call("tool_search", { call: "billing_get_invoice", arguments: { id: "1" } }),
    call("billing_get_invoice", { id: "1" }),
    text("done"),
  ]
  await inWorld(script, async (world) => {
    const called = await loadMany()
    defineTool("unrelated", async () => "")
    defineAgent({ id: "porter", tools: ["read", ...own] })
    await world.ask("Show the guest of room 4", { agent: "porter", asks: "once" })
    const { requests } = world.llm
    assert.ok(namesOf(requests[0]!).includes("hotel_get_guest"), namesOf(requests[0]!).join())
    for (const name of requests.flatMap(namesOf))
      assert.ok(["read", "tool_search", ...own].includes(name), name)
    const [, through, direct] = await outputs(world)
    assert.match(through!, /"billing_get_invoice" cannot be called by tool_search/)
    assert.match(direct!, /"billing_get_invoice" is not a tool of the agent "porter"/)
    assert.deepEqual(called, [])
  })
})
