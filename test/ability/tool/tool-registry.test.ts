// Defining tools, in which instances they exist, and the forms in which models get them.
import assert from "node:assert/strict"
import { afterEach, test } from "node:test"
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import { z } from "zod"
import * as Tool from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { Instance } from "#kernel/instance.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { call, free, inProject } from "./harness.ts"

afterEach(() => Instance.disposeAll())

const plan = (description: string) => () => ({
  description,
  parameters: z.object({ text: z.string() }),
  execute: async ({ text }: { text: string }) => `${description} ${text}`,
})

test("Tool.define() makes a definition with its defaults and registers it", async () => {
  await inProject(async () => {
    const echo = Tool.define("echo", plan("echo"))
    assert.equal(echo.id, "echo")
    assert.equal(echo.category, "utility")
    assert.equal(echo.readOnly, false)
    assert.equal(ToolRegistry.get("echo").description, "echo")
    assert.equal((await call("echo", { text: "hi" }, { slots: free })).text, "echo hi")
    const search = Tool.define("look", () => ({ ...plan("look")(), category: "search", readOnly: true }))
    assert.deepEqual([search.category, search.readOnly], ["search", true])
  })
})

test("Tool.define() inside an Instance is known there only; outside, in every later Instance", async () => {
  await using one = await tmpdir()
  await using two = await tmpdir()
  const has = (id: string) => ToolRegistry.find(id) !== undefined
  await Instance.provide({ directory: one.path, fn: () => void Tool.define("only_one", plan("1")) })
  Tool.define("for_all", plan("all"))
  assert.equal(await Instance.provide({ directory: one.path, fn: () => has("only_one") }), true)
  assert.equal(await Instance.provide({ directory: one.path, fn: () => has("for_all") }), false)
  assert.equal(await Instance.provide({ directory: two.path, fn: () => has("only_one") }), false)
  assert.equal(await Instance.provide({ directory: two.path, fn: () => has("for_all") }), true)
  assert.deepEqual([has("for_all"), has("only_one"), has("read")], [true, false, true])
})

test("Tool.define() of the same id replaces the tool in that Instance", async () => {
  await using other = await tmpdir()
  await inProject(async () => {
    const before = ToolRegistry.toModelTools(["read"])
    Tool.define("read", plan("mine"))
    assert.equal(ToolRegistry.get("read").description, "mine")
    assert.notEqual(ToolRegistry.toModelTools(["read"]), before)
    const elsewhere = await Instance.provide({
      directory: other.path,
      fn: () => ToolRegistry.get("read").description,
    })
    assert.match(elsewhere, /^Read a text file/)
  })
})

for (const id of ["", "a b", "a.b", "ä", "x".repeat(65)])
  test(`Tool.define() refuses the id ${JSON.stringify(id.slice(0, 10))}`, () => {
    assert.throws(() => Tool.define(id, plan("x")), { name: "Tool.InvalidId" })
  })

test("Tool.define() refuses parameters that have no JSON Schema", () => {
  const define = (parameters: z.ZodType) =>
    Tool.define("bad", () => ({ description: "", parameters, execute: async () => "" }))
  assert.throws(() => define(z.object({ when: z.date() })), { name: "NotRepresentable" })
  assert.throws(() => define(z.string()), { message: /parameters of "bad" must be one object/ })
  assert.equal(ToolRegistry.find("bad"), undefined)
})

test("ToolRegistry.get() of an unknown name lists the tools and the nearest one", async () => {
  await using tmp = await tmpdir()
  const unknown = (id: string) => Instance.provide({ directory: tmp.path, fn: () => ToolRegistry.get(id) })
  await assert.rejects(unknown("grp"), (error: Error) => {
    assert.match(
      error.message,
      /^Tool "grp" does not exist\. Available: (\w+, )*glob, grep, ls, read(, \w+)*\. Did you mean "grep"\?$/,
    )
    assert.equal(error.name, "Tool.NotFound")
    return true
  })
  await assert.rejects(unknown("nothing_like_it"), /Available: [\w, ]+$/)
})

test("ToolRegistry.list() and forAgent() give the built-in tools in order of id", async () => {
  await inProject(async () => {
    const ids = ToolRegistry.list().map(({ id }) => id)
    assert.deepEqual(ids, [...ids].sort())
    for (const id of ["glob", "grep", "ls", "read"]) assert.ok(ids.includes(id))
    assert.deepEqual(
      ToolRegistry.forAgent("build"),
      ToolRegistry.list().filter(({ onlyNamed }) => !onlyNamed),
    )
    assert.ok(
      ToolRegistry.list()
        .filter(({ id }) => /^(glob|grep|ls|read)$/.test(id))
        .every((tool) => tool.readOnly),
    )
  })
})

test("ToolRegistry.toModelTools() returns the same bytes each time, in the form of doStream", async () => {
  await inProject(async () => {
    const tools = ToolRegistry.toModelTools(["read", "glob", "read"])
    const typed: readonly LanguageModelV4FunctionTool[] = tools
    assert.deepEqual(
      typed.map(({ name }) => name),
      ["glob", "read"],
    )
    assert.equal(ToolRegistry.toModelTools(["glob", "read"]), tools)
    assert.deepEqual(Object.keys(tools[0]!), ["type", "name", "description", "inputSchema"])
    assert.throws(() => ToolRegistry.toModelTools(["nope"]), { name: "Tool.NotFound" })
  })
})

test("the four built-in tools cost a request less than 1 600 bytes", async (t) => {
  await inProject(async () => {
    const tools = ToolRegistry.toModelTools(["glob", "grep", "ls", "read"])
    for (const tool of tools) t.diagnostic(`${tool.name}: ${JSON.stringify(tool).length} bytes`)
    assert.ok(JSON.stringify(tools).length < 1_600, `${JSON.stringify(tools).length} bytes`)
  })
})
