// Agents in code: defined, found, listed, resolved.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { Input } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { defineAgent } from "#ability/agent/define-agent.ts"
import { Instance } from "#kernel/instance.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { inProject } from "./harness.ts"

const trust = (tmp: Tmp) => Trust.grant(tmp.path)

const analyst = {
  id: "analyst",
  domain: "analysis",
  role: "specialist",
  capabilities: ["data.analyze"],
  tools: ["read", "grep"],
  model: "claude-sonnet-4-20250514",
} satisfies Input

test("defineAgent() registers an agent with its fields and defaults", async () => {
  await inProject(async () => {
    const made = defineAgent(analyst)
    assert.deepEqual(made, {
      ...analyst,
      name: "analyst",
      skills: [],
      mode: "subagent",
      systemPrompt: "",
      permissions: [],
      metadata: {},
    })
    assert.deepEqual(AgentRegistry.get("analyst"), made)
    assert.equal(defineAgent({ id: "plain" }).role, "specialist")
    const full = {
      ...analyst,
      name: "The analyst",
      skills: ["charts"],
      mode: "primary",
      temperature: 0.3,
      maxTokens: 4_000,
      systemPrompt: "Look at numbers.",
      permissions: [{ permission: "file.write", pattern: "reports/**", action: "allow" }],
      metadata: { keywords: ["sales figures"], team: { size: 3 } },
    } satisfies Input
    assert.deepEqual(defineAgent(full), full)
  })
})

test("defineAgent() inside an Instance is known there only; outside, in every later Instance", async () => {
  await using one = await tmpdir()
  await using two = await tmpdir()
  const has = (id: string) => AgentRegistry.find(id) !== undefined
  try {
    await Instance.provide({ directory: one.path, fn: () => void defineAgent({ id: "only_one" }) })
    defineAgent({ id: "for_all" })
    const seen = (directory: string) =>
      Instance.provide({ directory, fn: () => [has("only_one"), has("for_all"), has("build")] })
    assert.deepEqual(await seen(one.path), [true, false, true])
    assert.deepEqual(await seen(two.path), [false, true, true])
    assert.deepEqual([has("only_one"), has("for_all"), has("build")], [false, true, true])
  } finally {
    await Instance.disposeAll()
  }
})

for (const [definition, says] of [
  [{ id: "a", capabilites: [] }, /capabilites: the key is unknown; did you mean "capabilities"\?/],
  [{ id: "a", role: "boss" }, /role: .*received "boss"/],
  [{ id: "a", temperature: "hot" }, /temperature: expected number/],
  [{ id: "a", maxTokens: 1.5 }, /maxTokens: expected int/],
  [{ id: "a b" }, /id: expected letters/],
  [{ name: "nobody" }, /id: is missing/],
  [
    { id: "a", permissions: [{ permission: "file.wirte", pattern: "*", action: "deny" }] },
    /permissions\[0\]\.permission: .*did you mean "file\.write"/,
  ],
  [
    { id: "a", permissions: [{ permission: "file.write", pattern: "*", action: "dney" }] },
    /permissions\[0\]\.action/,
  ],
  [{ id: "a", metadata: { reasoning: "hard" } }, /metadata\.reasoning/],
  [[], /expected an object/],
] as [unknown, RegExp][])
  test(`defineAgent(${JSON.stringify(definition)}) says what is wrong, and registers nothing`, async () => {
    await inProject(async () => {
      const before = AgentRegistry.list()
      assert.throws(() => defineAgent(definition as Input), { name: "Agent.Invalid", message: says })
      assert.deepEqual(AgentRegistry.list(), before)
    })
  })

test("AgentRegistry.get() throws NotFound with the available ids and the nearest one", async () => {
  await inProject(async () => {
    defineAgent({ id: "reviewer" })
    assert.throws(() => AgentRegistry.get("reviwer"), {
      name: "Agent.NotFound",
      message:
        /"reviwer" does not exist\. Available: .*build, .*plan, .*reviewer.* Did you mean "reviewer"\?/,
    })
  })
})

test("AgentRegistry.byDomain() and byCapability() give exactly those agents", async () => {
  await inProject(async () => {
    defineAgent({ id: "fixer", domain: "coding", capabilities: ["code.fix", "code.read"] })
    defineAgent({ id: "coder", domain: "coding", capabilities: ["code.write"] })
    defineAgent({ id: "writer", domain: "writing", capabilities: ["code.read"] })
    const ids = (agents: { id: string }[]) => agents.map(({ id }) => id)
    assert.deepEqual(ids(AgentRegistry.byDomain("coding")), ["coder", "fixer"])
    assert.deepEqual(ids(AgentRegistry.byDomain("cod")), [])
    assert.deepEqual(ids(AgentRegistry.byCapability("code.read")), ["fixer", "writer"])
    assert.deepEqual(ids(AgentRegistry.byCapability("code")), [])
  })
})

test("the built-in agents build and plan are primary, and plan denies writing and commands", async () => {
  await inProject(async () => {
    for (const id of ["build", "plan"]) assert.equal(AgentRegistry.get(id).mode, "primary")
    assert.deepEqual(AgentRegistry.get("build").permissions, [])
    const denied = AgentRegistry.get("plan").permissions.map(
      ({ permission, action }) => `${action} ${permission}`,
    )
    for (const permission of ["file.write", "file.edit", "bash.execute"])
      assert.ok(denied.includes(`deny ${permission}`), permission)
  })
})

test("AgentRegistry.resolve() chooses by the words of the agents, and gives the reasons", async () => {
  await inProject(async () => {
    defineAgent({ id: "coder", domain: "coding", capabilities: ["bug.fix"] })
    defineAgent({ id: "author", domain: "writing" })
    const { agent, score, reasons, ranked } = await AgentRegistry.resolve("Fix the login bug")
    assert.equal(agent.id, "coder")
    assert.ok(score > 0)
    assert.match(reasons.join(), /capability bug\.fix/)
    assert.deepEqual(ranked[0], { agent: "coder", score, reasons })
  })
})

test("AgentRegistry.resolve() returns the default if no agent fits: build, or the configured one", async () => {
  await inProject(async () => {
    const { agent, score, reasons } = await AgentRegistry.resolve("zzz qqq")
    assert.deepEqual([agent.id, score], ["build", 0])
    assert.match(reasons.join(), /default/)
    assert.equal((await AgentRegistry.resolve("")).agent.id, "build")
  })
  await inProject(
    async () => {
      defineAgent({ id: "coder" })
      assert.equal((await AgentRegistry.resolve("zzz qqq")).agent.id, "coder")
    },
    { files: { ".vitamin/config.jsonc": '{ "agent": { "name": "coder" } }' }, prepare: trust },
  )
})

test("AgentRegistry.getDefault() accepts an unknown name for the default agent, but no misspelling", async () => {
  const named = (name: string, fn: () => Promise<unknown>) =>
    inProject(fn, { files: { ".vitamin/config.jsonc": JSON.stringify({ agent: { name } }) }, prepare: trust })
  await named("my-project-agent", async () => assert.equal((await AgentRegistry.getDefault()).id, "build"))
  await named("plam", () => assert.rejects(AgentRegistry.getDefault(), { name: "Agent.NotFound" }))
})
