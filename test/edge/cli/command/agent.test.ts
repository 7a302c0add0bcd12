// `vitamin agent …` and `vitamin run --agent` as processes.
import assert from "node:assert/strict"
import { test } from "node:test"
import { builtinAgents } from "#ability/agent/builtin-agents.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const reviewer = `---
domain: quality
tools: [read, grep, teleport]
temperature: 0.2
permissions: [{ permission: file.edit, pattern: "*", action: deny }]
metadata: { description: Reads changes, keywords: [review, pull request] }
---
You review.
`
const coder =
  'import { defineAgent } from "vitamin"\nexport default defineAgent({ id: "coder", domain: "coding" })\n'

function writeAgents(tmp: Tmp) {
  tmp.write(".vitamin/agents/reviewer.md", reviewer)
  tmp.write(".vitamin/agents/coder.ts", coder)
  tmp.write(".vitamin/agents/broken.yaml", "temperature: hot\n")
}

test("vitamin agent list shows the built-in agents and the project's, and names the files that it ignores", async () => {
  await using tmp = await tmpdir()
  writeAgents(tmp)
  const { code, out, err } = await vitamin(tmp, ["agent", "list"])
  assert.equal(code, 0, err)
  assert.match(out, /^build +primary +executor +general +\S/m)
  assert.match(out, /^plan +primary +advisor/m)
  assert.match(out, /^reviewer +subagent +specialist +quality +Reads changes$/m)
  assert.doesNotMatch(out, /coder|broken/)
  assert.match(err, /broken\.yaml:1:\d+: temperature: expected number/)
  assert.match(err, /coder\.ts is ignored: the folder is not trusted/)
  const trusted = await vitamin(tmp, ["agent", "list", "--trust", "--format", "json"])
  const ids = (JSON.parse(trusted.out) as { id: string }[]).map(({ id }) => id)
  assert.deepEqual(ids, [...builtinAgents.map(({ id }) => id), "coder", "reviewer"].sort())
})

test("vitamin agent show prints one agent with its tools and rights", async () => {
  await using tmp = await tmpdir()
  writeAgents(tmp)
  const { code, out } = await vitamin(tmp, ["agent", "show", "reviewer"])
  assert.equal(code, 0)
  assert.match(out, /^tools +grep, read$/m)
  assert.match(out, /^not here +teleport$/m)
  assert.match(out, /^permissions +deny file\.edit:\*$/m)
  assert.match(out, /^file +\S+reviewer\.md$/m)
  assert.match(out, /\n\nYou review\.$/)
  const json = JSON.parse((await vitamin(tmp, ["agent", "show", "reviewer", "--format", "json"])).out)
  assert.deepEqual([json.temperature, json.usableTools], [0.2, ["grep", "read"]])
  const missing = await vitamin(tmp, ["agent", "show", "reviewr"])
  assert.equal(missing.code, 1)
  assert.match(missing.err, /Agent "reviewr" does not exist\..* Did you mean "reviewer"\?/)
})

test("vitamin agent route prints the chosen agent and the reasons", async () => {
  await using tmp = await tmpdir()
  writeAgents(tmp)
  const route = (...words: string[]) => vitamin(tmp, ["agent", "route", "--trust", ...words])
  assert.match((await route("Fix the login bug")).out, /^coder +\d+ {2}"fix" belongs to the domain coding/)
  assert.match(
    (await route("review", "this", "pull", "request")).out,
    /^reviewer .*the phrase "pull request"/,
  )
  assert.match((await route("zzz")).out, /^build: no agent fits; the default is build$/)
  const json = JSON.parse((await route("Fix the login bug", "--format", "json")).out)
  assert.equal(json.agent, "coder")
  assert.equal(json.ranked[0].agent, "coder")
  assert.equal((await route()).code, 2)
})

test("vitamin run --agent uses that agent; an unknown one fails and creates no session", async () => {
  await using tmp = await tmpdir()
  writeAgents(tmp)
  await using llm = await fakeLlm([text("fine")])
  const { variables } = env(llm, "chat")
  const { code, out, err } = await vitamin(tmp, ["run", "--agent", "reviewer", "look"], variables)
  assert.equal(code, 0, err)
  assert.equal(out, "fine")
  assert.match(llm.requests[0]!.system, /You review\./)
  assert.equal(llm.requests[0]!.body.temperature, 0.2)
  const missing = await vitamin(tmp, ["run", "--agent", "nobody", "look"], variables)
  assert.equal(missing.code, 1)
  assert.match(
    missing.err,
    /^vitamin: Agent "nobody" does not exist\. Available: auto, build, .*reviewer.*$/m,
  )
  const sessions = JSON.parse((await vitamin(tmp, ["session", "list", "--format", "json"])).out)
  assert.equal(sessions.length, 1)
})

test("vitamin session list and run --continue skip the sessions of subtasks", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([
    call("subtask", { task: "a part" }),
    text("part"),
    text("whole"),
    text("more"),
  ])
  const { variables } = env(llm, "chat")
  const { code, out, err } = await vitamin(tmp, ["run", "--allow", "agent.delegate", "all"], variables)
  assert.equal(code, 0, err)
  assert.equal(out, "whole")
  assert.match(err, /^· Task /m)
  assert.match(err, /^↳ \w+: a part$/m)
  const listed = async (...more: string[]) =>
    (await vitamin(tmp, ["session", "list", ...more])).out.split("\n")
  assert.equal((await listed()).length, 1)
  assert.equal((await listed("--tasks")).length, 2)
  await vitamin(tmp, ["run", "--continue", "go on"], variables)
  assert.equal(llm.requests[3]!.messages[0]?.text, "all")
})
