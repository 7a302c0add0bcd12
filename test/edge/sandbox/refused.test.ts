// What a prompt in the sandbox is refused, because it is kept outside. Each refusal says so in words.
import assert from "node:assert/strict"
import { test } from "node:test"
import { whyNot } from "../../ability/sandbox/world.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, type Reply, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { resultsIn } from "./harness.ts"

const agent = `---
description: Tries what is kept outside
tools: [secrets_list, memory_list, recall, graph_search, rag_add, save_knowledge, subtask]
---
You try.
`
const a2a = { far: { url: "http://127.0.0.1:9", token: "far-token", description: "Works elsewhere." } }
const outside = (what: string) =>
  `${what} cannot be used in the sandbox, because it is kept outside. Say so to the person.`

test("the vault, memory, documents and remote agents are refused inside, and the model is told so", {
  skip: whyNot("user") ?? false,
}, async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("../config/vitamin/agents/tries.md", agent)
  const memory = "The memory of earlier sessions"
  const attempts: [what: string, attempt: Reply][] = [
    ["The vault", call("secrets_list", {})],
    [memory, call("memory_list", {})],
    [memory, call("recall", { text: "word" })],
    [memory, call("graph_search", { text: "word" })],
    ["The list of documents", call("rag_add", { folder: "." })],
    ["The knowledge of this project", call("save_knowledge", { fact: "It rains.", source: "README.md:1" })],
    ['The remote agent "far"', call("subtask", { task: "help", agent: "far" })],
  ]
  await using llm = await fakeLlm([...attempts.map(([, attempt]) => attempt), text("Done.")])
  const variables = { ...env(llm, "chat").variables, VITAMIN_CONFIG: JSON.stringify({ a2a }) }
  const args = ["run", "--sandbox", "--yes", "--allow", "agent.remote:far"]
  const { code, err } = await vitamin(tmp, [...args, "--agent", "tries", "go"], variables)
  assert.equal(code, 0, err)
  const results = resultsIn(llm)
  for (const [i, [what]] of attempts.entries()) assert.ok(results[i]!.includes(outside(what)), results[i])
  const direct = await vitamin(tmp, [...args, "--agent", "far", "go"], variables)
  assert.equal(direct.code, 1)
  assert.ok(direct.err.includes(outside('The remote agent "far"')), direct.err)
})
