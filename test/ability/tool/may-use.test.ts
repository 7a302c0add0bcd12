// Which tools an agent may use: those it names, minus those that its rules deny altogether.
import assert from "node:assert/strict"
import { test } from "node:test"
import { z } from "zod"
import { defineAgent } from "#ability/agent/define-agent.ts"
import type { Rule } from "#ability/permission/rule.ts"
import * as Tool from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { inProject } from "./harness.ts"

/** What an agent that names none has; the others are only for those that name them. */
const all = "bash edit fetch glob grep ls read subtask todo write".split(" ")
const ids = (agent: string) => ToolRegistry.forAgent(agent).map(({ id }) => id)
/** A tool that is added later is no matter of these tests. */
const usual = (agent: string) => ids(agent).filter((id) => all.includes(id))
const without = (...names: string[]) => all.filter((id) => !names.includes(id))
const deny = (permission: string, pattern = "*"): Rule => ({ permission, pattern, action: "deny" })

test("ToolRegistry.forAgent() gives build all tools, plan those that change nothing", async () => {
  await inProject(async () => {
    assert.deepEqual(usual("build"), all)
    assert.deepEqual(usual("plan"), without("bash", "edit", "write"))
    assert.throws(() => ids("nobody"), { name: "Agent.NotFound" })
  })
})

test("ToolRegistry.forAgent() gives the tools that an agent names and that are there", async () => {
  await inProject(async () => {
    defineAgent({ id: "analyst", tools: ["read", "grep", "teleport"] })
    assert.deepEqual(ids("analyst"), ["grep", "read"])
    defineAgent({ id: "finder", tools: ["symbols", "recall"] })
    assert.deepEqual(ids("finder"), ["recall", "symbols"])
    defineAgent({ id: "mute", tools: [] })
    assert.deepEqual(ids("mute"), [])
  })
})

for (const [permissions, left] of [
  [[deny("file.read")], without("glob", "grep", "ls", "read")],
  [[deny("file.*", "**")], without("edit", "glob", "grep", "ls", "read", "write")],
  [[deny("*")], []],
  [[deny("network.fetch")], without("fetch")],
  [[deny("agent.delegate")], without("subtask")],
  [[deny("file.write", "secret/**")], all],
  [[deny("bash.execute", "rm *")], all],
  [[deny("file.write"), { ...deny("file.write", "docs/**"), action: "allow" }], all],
  [[{ ...deny("file.write", "docs/**"), action: "allow" }, deny("file.write")], without("write")],
  [[deny("bash.execute"), { ...deny("bash.execute"), action: "ask" }], all],
] as [Rule[], string[]][])
  test(`ToolRegistry.forAgent() of an agent with ${JSON.stringify(permissions)}`, async () => {
    await inProject(async () => {
      defineAgent({ id: "it", permissions })
      assert.deepEqual(usual("it"), left)
    })
  })

test("ToolRegistry.forAgent() knows the permission behind each built-in tool", async () => {
  const needs: Record<string, [args: object, permission: string]> = {
    read: [{ path: "a" }, "file.read"],
    glob: [{ pattern: "*" }, "file.read"],
    grep: [{ pattern: "a" }, "file.read"],
    ls: [{}, "file.read"],
    write: [{ path: "a", content: "" }, "file.write"],
    edit: [{ path: "a", edits: [{ oldText: "a", newText: "b" }] }, "file.edit"],
    bash: [{ command: "ls" }, "bash.execute"],
    fetch: [{ url: "https://example.com" }, "network.fetch"],
    subtask: [{ task: "t" }, "agent.delegate"],
    todo: [{}, "todo"],
    symbols: [{}, "file.read"],
    recall: [{}, "file.read"],
  }
  await inProject(async () => {
    // Who looks for tools that are there for it needs nothing.
    const tools = ToolRegistry.list().filter(({ id }) => id !== "tool_search")
    assert.deepEqual(
      tools.map(({ id }) => id),
      Object.keys(needs).sort(),
    )
    for (const tool of tools) {
      const [args, permission] = needs[tool.id]!
      assert.ok(
        tool.permission?.(args).some((need) => need.permission === permission),
        tool.id,
      )
      defineAgent({ id: "it", tools: [tool.id], permissions: [deny(permission)] })
      assert.equal(ids("it").includes(tool.id), false, tool.id)
    }
  })
})

test("a defined tool that only reads is left to every agent; one that does more falls with tool.execute", async () => {
  await inProject(async () => {
    const plan = { description: "", parameters: z.object({}), execute: async () => "" }
    Tool.define("looks", () => ({ ...plan, readOnly: true }))
    Tool.define("acts", () => plan)
    assert.ok(["acts", "looks"].every((id) => ids("build").includes(id)))
    assert.deepEqual([ids("plan").includes("looks"), ids("plan").includes("acts")], [true, false])
  })
})
