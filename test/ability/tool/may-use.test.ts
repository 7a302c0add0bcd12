// Which tools an agent may use: those it names, minus those that its rules deny altogether.
import assert from "node:assert/strict"
import { test } from "node:test"
import { z } from "zod"
import { defineAgent } from "#ability/agent/define-agent.ts"
import type { Definition } from "#ability/call/types.ts"
import type { Rule } from "#ability/permission/rule.ts"
import { permissionOf } from "#ability/tool/may-use.ts"
import * as Tool from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { manuals } from "../../../script/references/tools.ts"
import { inProject } from "./harness.ts"

const ids = (agent: string) => ToolRegistry.forAgent(agent).map(({ id }) => id)
const deny = (permission: string, pattern = "*"): Rule => ({ permission, pattern, action: "deny" })
const everything =
  "file.read file.write file.edit bash.execute network.fetch agent.delegate todo tool.execute".split(" ")

/** The permission that the documented example of a built-in tool needs. To be called in an Instance. */
function needOf({ id, permission }: Definition): string | undefined {
  return permission?.(manuals[id]?.example)[0]?.permission
}

/** The tools of an agent that names none, without those that need one of these permissions. */
function usualWithout(...denied: string[]): string[] {
  const tools = ToolRegistry.list().filter((tool) => !tool.onlyNamed && !denied.includes(needOf(tool) ?? ""))
  return tools.map(({ id }) => id)
}

test("ToolRegistry.forAgent() gives build all tools, plan those that change nothing", async () => {
  await inProject(async () => {
    assert.deepEqual(ids("build"), usualWithout())
    assert.deepEqual(ids("plan"), usualWithout("bash.execute", "file.edit", "file.write"))
    assert.ok(ids("build").includes("bash"))
    assert.throws(() => ids("nobody"), { name: "Agent.NotFound" })
  })
})

test("ToolRegistry.forAgent() gives the tools that an agent names, if they exist", async () => {
  await inProject(async () => {
    defineAgent({ id: "analyst", tools: ["read", "grep", "teleport"] })
    assert.deepEqual(ids("analyst"), ["grep", "read"])
    defineAgent({ id: "finder", tools: ["symbols", "recall"] })
    assert.deepEqual(ids("finder"), ["recall", "symbols"])
    defineAgent({ id: "mute", tools: [] })
    assert.deepEqual(ids("mute"), [])
  })
})

for (const [permissions, denied] of [
  [[deny("file.read")], ["file.read"]],
  [[deny("file.*", "**")], ["file.read", "file.write", "file.edit"]],
  [[deny("*")], everything],
  [[deny("network.fetch")], ["network.fetch"]],
  [[deny("agent.delegate")], ["agent.delegate"]],
  [[deny("file.write", "secret/**")], []],
  [[deny("bash.execute", "rm *")], []],
  [[deny("file.write"), { ...deny("file.write", "docs/**"), action: "allow" }], []],
  [[{ ...deny("file.write", "docs/**"), action: "allow" }, deny("file.write")], ["file.write"]],
  [[deny("bash.execute"), { ...deny("bash.execute"), action: "ask" }], []],
] as [Rule[], string[]][])
  test(`ToolRegistry.forAgent() of an agent with ${JSON.stringify(permissions)}`, async () => {
    await inProject(async () => {
      defineAgent({ id: "it", permissions })
      assert.deepEqual(ids("it"), usualWithout(...denied))
    })
  })

test("ToolRegistry.forAgent() knows the permission behind each built-in tool", async () => {
  await inProject(async () => {
    for (const tool of ToolRegistry.list()) {
      assert.equal(permissionOf(tool), needOf(tool), `the row of ${tool.id} in may-use.ts`)
      defineAgent({ id: "it", tools: [tool.id], permissions: everything.map((name) => deny(name)) })
      assert.equal(ids("it").includes(tool.id), needOf(tool) === undefined, tool.id)
    }
  })
})

test("a defined tool that only reads is offered to every agent; any other is not if tool.execute is denied", async () => {
  await inProject(async () => {
    const plan = { description: "", parameters: z.object({}), execute: async () => "" }
    Tool.define("looks", () => ({ ...plan, readOnly: true }))
    Tool.define("acts", () => plan)
    assert.ok(["acts", "looks"].every((id) => ids("build").includes(id)))
    assert.deepEqual([ids("plan").includes("looks"), ids("plan").includes("acts")], [true, false])
  })
})
