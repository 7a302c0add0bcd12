import assert from "node:assert/strict"
import { test } from "node:test"
import * as Agent from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { rank } from "#ability/agent/rank.ts"
import { rankOnce } from "#ability/agent/rank-once.ts"
import { inProject } from "./harness.ts"

const made = (id: string, keywords: string[]) =>
  Agent.parse({ id, name: id, systemPrompt: "x", metadata: { keywords } } as never, { source: id })

/** A definition that counts how often it is looked into. */
function watched(agent: Agent.AgentDefinition) {
  let looks = 0
  const get = (target: Agent.AgentDefinition, name: string | symbol) => {
    if (name === "metadata") looks++
    return Reflect.get(target, name)
  }
  return { agent: new Proxy({ ...agent }, { get }), looks: () => looks }
}

test("rankOnce() gives what rank() gives, and ranks the same request once", () =>
  inProject(async () => {
    const { agent, looks } = watched(made("poet", ["poem"]))
    const options = { input: "write a poem", agents: [agent, made("cook", ["soup"])], rules: [] }
    const ranked = rank(options)
    assert.equal(ranked[0]?.agent, "poet")
    assert.deepEqual(await rankOnce(options), ranked)
    const before = looks()
    assert.deepEqual(await rankOnce({ ...options }), ranked)
    assert.equal(looks(), before)
  }))

test("other words, agents, rules or defaults are ranked anew", () =>
  inProject(async () => {
    const [poet, cook] = [made("poet", ["poem"]), made("cook", ["soup"])]
    const options = { input: "write a poem about soup", agents: [poet, cook], rules: [] }
    const variants = [
      options,
      { ...options, input: "Write a poem about soup" },
      { ...options, agents: [cook] },
      { ...options, agents: [made("poet", ["rhyme"]), cook] },
      { ...options, rules: [{ match: "soup", agent: "cook" }] },
      { ...options, fallback: "poet" },
    ]
    for (const variant of [...variants, ...variants]) assert.deepEqual(await rankOnce(variant), rank(variant))
  }))

test("AgentRegistry.resolve() sees an agent that was registered since", () =>
  inProject(async () => {
    const first = await AgentRegistry.resolve("please polish the brass lamp")
    assert.deepEqual((await AgentRegistry.resolve("please polish the brass lamp")).ranked, first.ranked)
    AgentRegistry.register({
      id: "polisher",
      name: "Polisher",
      systemPrompt: "x",
      metadata: { keywords: ["polish"] },
    } as never)
    assert.equal((await AgentRegistry.resolve("please polish the brass lamp")).agent.id, "polisher")
  }))
