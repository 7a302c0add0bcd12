// The six specialists and the rows RT-01 to RT-20 that hold for every one of them.
import assert from "node:assert/strict"
import { test } from "node:test"
import { agentSpecs, orchestratorInstruction, parseReject, partitionTools, specToDefinition } from "#index.ts"

const names = agentSpecs.map(({ name }) => name)

test("RT-01, RT-02, RT-03: agentSpecs has the six specialists in order, each with every field", () => {
  assert.deepEqual(names, ["operator", "navigator", "vault", "librarian", "planner", "chronicler"])
  assert.equal(new Set(names).size, names.length)
  const fields =
    "accepts alwaysInclude cannotDo description instruction keywords name prefixes returns".split(" ")
  for (const spec of agentSpecs) assert.deepEqual(Object.keys(spec).sort(), fields)
})

for (const { name, instruction, keywords, accepts, returns } of agentSpecs) {
  test(`RT-08, RT-18: the instruction of ${name} has four sections in order and the reject protocol`, () => {
    const sections = ["## What You Do", "## Input Format", "## Output Format", "## Constraints"]
    const places = sections.map((section) => instruction.indexOf(section))
    assert.ok(places.every((place, i) => place > (places[i - 1] ?? -1)))
    assert.match(instruction, /\[REJECT\] This task requires <correct_agent>\. I handle: .+\./)
    assert.deepEqual(parseReject(instruction), undefined, "the instruction itself is no rejection")
  })

  test(`RT-11, RT-19: ${name} has keywords, and says what it accepts and returns`, () => {
    assert.ok(keywords.length > 0 && accepts !== "" && returns !== "")
  })
}

for (const [row, name, words] of [
  ["RT-12", "operator", "run execute command shell file"],
  ["RT-13", "navigator", "browse web url page navigate"],
  ["RT-14", "vault", "encrypt decrypt sign secret payment wallet"],
] as const)
  test(`${row}: the keywords of ${name} include ${words}`, () => {
    const { keywords } = agentSpecs.find((spec) => spec.name === name)!
    for (const word of words.split(" ")) assert.ok(keywords.includes(word), word)
  })

const tool = (id: string, routingName?: string) => ({ id, ...(routingName ? { routingName } : {}) })

test("RT-16, RT-20: partitionTools() gives each tool to the longest prefix, or to nobody", () => {
  const tools = [
    tool("read", "fs_read"),
    tool("browser_open"),
    tool("search_x"),
    tool("search_x_deep"),
    tool("weather"),
  ]
  const specs = [...agentSpecs, { name: "diver", prefixes: ["search_x_"] }]
  const { byAgent, unmatched } = partitionTools(tools, specs)
  const ids = Object.entries(byAgent).map(([name, all]) => [name, all.map(({ id }) => id)])
  assert.deepEqual(Object.fromEntries(ids), {
    operator: ["read"],
    navigator: ["browser_open"],
    vault: [],
    librarian: ["search_x"],
    planner: [],
    chronicler: [],
    diver: ["search_x_deep"],
  })
  assert.deepEqual(
    unmatched.map(({ id }) => id),
    ["weather"],
  )
})

test("RT-04, RT-05: the orchestrator's instruction has a section for each active specialist", () => {
  const active = agentSpecs.slice(0, 2)
  const text = orchestratorInstruction({ active, unmatched: [] })
  assert.deepEqual(
    [...text.matchAll(/^### (.+)$/gm)].map(([, name]) => name),
    ["operator", "navigator"],
  )
  for (const { name, description, keywords, accepts, returns, cannotDo } of active) {
    const section = text.slice(text.indexOf(`### ${name}`)).split("\n\n", 1)[0]!
    for (const line of [
      `- Role: ${description}`,
      `- Keywords: ${keywords.join(", ")}`,
      `- Accepts: ${accepts}`,
      `- Returns: ${returns}`,
      `- Cannot: ${cannotDo.join(", ")}`,
    ])
      assert.ok(section.split("\n").includes(line), line)
  }
})

test("RT-07: the orchestrator's instruction names the five steps of a decision in order", () => {
  const text = orchestratorInstruction({ active: agentSpecs, unmatched: [] })
  const places = ["CLASSIFY", "MATCH", "SELECT", "VERIFY", "DELEGATE"].map((step) =>
    text.indexOf(`. ${step}:`),
  )
  assert.ok(
    places.every((place, i) => place > (places[i - 1] ?? 0)),
    String(places),
  )
})

test("RT-16, RT-17: the orchestrator's instruction names unmatched tools only if there are some", () => {
  const of = (unmatched: string[]) => orchestratorInstruction({ active: agentSpecs, unmatched })
  assert.match(of(["weather", "pager"]), /## Unmatched Tools\n.*weather, pager/)
  assert.doesNotMatch(of([]), /Unmatched Tools/)
})

test("a base text replaces the opening of the orchestrator's instruction", () => {
  const text = orchestratorInstruction({ base: "You lead.", active: [], unmatched: [] })
  assert.ok(text.startsWith("You lead.\n\n"))
})

test("specToDefinition() makes a specialist for tasks whose system prompt is the instruction", () => {
  const [operator] = agentSpecs
  const { id, role, mode, systemPrompt } = specToDefinition(operator!)
  assert.deepEqual(
    [id, role, mode, systemPrompt],
    ["operator", "specialist", "subagent", operator!.instruction],
  )
})

for (const [text, expected] of [
  [
    "[REJECT] This task requires navigator. I handle: files, commands.",
    { agent: "navigator", handles: "files, commands" },
  ],
  ["  \n> **[REJECT]** This task requires the `Vault`.", { agent: "vault" }],
  ["[reject] no", {}],
  ["[REJECT]", {}],
  ["[REJECT] This task requires <librarian>. I handle: x.", { agent: "librarian", handles: "x" }],
  ["The form is: [REJECT] This task requires navigator.", undefined],
  ["Done.\n[REJECT] This task requires navigator.", undefined],
  ["REJECT", undefined],
  ["", undefined],
] as const)
  test(`parseReject(${JSON.stringify(text)}) is ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(parseReject(text), expected)
  })
