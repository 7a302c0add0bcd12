// Which agent a request is for, decided by words alone.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Agent from "#ability/agent/agent.ts"
import { rank } from "#ability/agent/rank.ts"

const agents = [
  { id: "coder", domain: "coding", capabilities: ["code.write", "bug.fix"] },
  { id: "analyst", domain: "analysis", capabilities: ["data.analyze"] },
  { id: "reviewer", domain: "quality", metadata: { keywords: ["review", "pull request"] } },
  { id: "scribe", domain: "documentation", metadata: { description: "Keeps the handbook of the team." } },
  {
    id: "browser",
    domain: "web",
    metadata: { keywords: ["page", "url"], cannotDo: ["pay for", "log in"] },
  },
].map((agent) => Agent.parse(agent, { source: agent.id }))

const order = (input: string) => rank({ input, agents, rules: [] }).map(({ agent }) => agent)

for (const [input, best] of [
  ["Fix the login bug", "coder"],
  ["the tests are failing, debug them", "coder"],
  ["Analyze last month's sales data", "analyst"],
  ["please review this", "reviewer"],
  ["Look at the pull request and fix bugs", "reviewer"],
  ["ask the reviewer about the code", "reviewer"],
  ["update the README", "scribe"],
  ["what does the handbook say", "scribe"],
  ["open the page at this url", "browser"],
] as const)
  test(`rank() puts ${best} first for ${JSON.stringify(input)}`, () => assert.equal(order(input)[0], best))

test("rank() weighs a phrase more than its single words", () => {
  const score = (input: string) =>
    rank({ input, agents, rules: [] }).find(({ agent }) => agent === "reviewer")?.score
  assert.ok(score("look at the pull request")! > (score("pull my request") ?? 0))
})

test("rank() leaves out agents that cannot do it, unless a rule chooses them", () => {
  assert.deepEqual(order("open the page and pay for it"), [])
  const rules = [{ match: "page", agent: "browser" }]
  const [best] = rank({ input: "open the page and pay for it", agents, rules })
  assert.equal(best?.agent, "browser")
})

test("rank() returns the same order each time, equal scores by id", () => {
  const twins = ["zeta", "alpha"].map((id) => Agent.parse({ id, capabilities: ["a.thing"] }, { source: id }))
  const first = rank({ input: "a thing", agents: twins, rules: [] })
  assert.deepEqual(
    first.map(({ agent }) => agent),
    ["alpha", "zeta"],
  )
  assert.deepEqual(rank({ input: "a thing", agents: twins.toReversed(), rules: [] }), first)
})

test("rank() reads words of any script, and finds nothing for stop words", () => {
  const [cook] = ["повар"].map((word) =>
    Agent.parse({ id: "cook", metadata: { keywords: [word] } }, { source: "cook" }),
  )
  assert.equal(rank({ input: "Позови: ПОВАР!", agents: [cook!], rules: [] })[0]?.agent, "cook")
  for (const input of ["", "   ", "?!", "the of and", "x".repeat(100_000)]) assert.deepEqual(order(input), [])
})

test("rank() reads a rule as words, never as a pattern", () => {
  const rules = [{ match: "(a+)+$", agent: "coder" }]
  assert.deepEqual(rank({ input: `${"a".repeat(50_000)}!`, agents, rules }), [])
})
