// What a model with a small window and an unknown output limit gets of real files, through the built command.
import assert from "node:assert/strict"
import { test } from "node:test"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, calls, env, fakeLlm, type Reply, type Request, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { checkWire } from "../../fixture/wire-rules.ts"

/** As in `budget.ts`: the part of the window that stays free for the answer, and for errors of the estimate. */
const reserve = (context: number) => context / 4 + Math.ceil(context / 25)
const file = (lines: number, name = "a") =>
  `${Array.from({ length: lines }, (_, i) => `line ${i + 1} of file ${name}, in plain words`).join("\n")}\n`

async function run(tmp: Tmp, context: number, replies: Reply[]): Promise<Request[]> {
  const left = [...replies]
  // It counts tokens like our estimate: vitamin would believe a lower count.
  await using llm = await fakeLlm((request) => ({
    ...left.shift()!,
    usage: { input: tokensOf(request), output: 20 },
  }))
  const models = { "fake-model": { context } }
  const variables = {
    ...env(llm, "chat").variables,
    VITAMIN_CONFIG: JSON.stringify({ provider: { openai: { models } } }),
  }
  const { code, err } = await vitamin(tmp, ["run", "read the files"], variables)
  assert.equal(code, 0, err)
  for (const request of llm.requests) {
    checkWire(request)
    assert.ok(tokensOf(request) + reserve(context) <= context, `${tokensOf(request)} tokens of ${context}`)
  }
  return llm.requests
}

function tokensOf({ system, messages, body }: Request): number {
  const parts = messages.flatMap(({ text, calls: asked, results }) => [
    text,
    ...asked.map(({ name, arguments: given }) => `${name} ${given}`),
    ...results.map((result) => result.text),
  ])
  return [system, JSON.stringify(body.tools), ...parts].reduce((sum, part) => sum + estimateTokens(part), 0)
}

function resultsOf(request: Request): string[] {
  return request.messages.flatMap(({ results }) => results.map((result) => result.text))
}

function assertFull(request: Request, context: number): void {
  const share = (tokensOf(request) + reserve(context)) / context
  assert.ok(share > 0.9, `results were cut although only ${Math.round(share * 100)} % of the window is used`)
}

for (const [context, least] of [
  [8_192, 5_000],
  [16_384, 18_000],
] as const)
  test(`a window of ${context} tokens gets as much of a file of 600 lines as fits`, async () => {
    await using tmp = await tmpdir({ git: true })
    tmp.write("a.txt", file(600))
    const requests = await run(tmp, context, [call("read", { path: "a.txt" }), text("done")])
    const [result] = resultsOf(requests.at(-1)!)
    assert.ok(result!.includes("line 1 of file a") && result!.includes("line 600 of file a"))
    assertFull(requests.at(-1)!, context)
    assert.ok(result!.length >= least, `${result!.length} characters reach the model`)
  })

test("a window of 32768 tokens gets all of a file of 600 lines", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.txt", file(600))
  const requests = await run(tmp, 32_768, [call("read", { path: "a.txt" }), text("done")])
  const [result] = resultsOf(requests.at(-1)!)
  for (let i = 1; i <= 600; i++) assert.ok(result!.includes(`line ${i} of file a`), `line ${i} is missing`)
})

test("the results of one step share the window: short ones are whole, long ones are cut to the same length", async () => {
  await using tmp = await tmpdir({ git: true })
  for (const name of ["a", "b"]) tmp.write(`${name}.txt`, file(900, name))
  tmp.write("c.txt", file(30, "c"))
  const reads = ["a", "b", "c"].map((name) => call("read", { path: `${name}.txt` }, { id: name }))
  const requests = await run(tmp, 16_384, [calls(reads), text("done")])
  const [a, b, c] = resultsOf(requests.at(-1)!)
  for (let i = 1; i <= 30; i++) assert.ok(c!.includes(`line ${i} of file c`))
  assert.ok(Math.abs(a!.length - b!.length) < 500, `${a!.length} and ${b!.length} characters`)
  assertFull(requests.at(-1)!, 16_384)
})

test("older results are cut before the newest", async () => {
  await using tmp = await tmpdir({ git: true })
  const names = ["a", "b", "c", "d"]
  for (const name of names) tmp.write(`${name}.txt`, file(350, name))
  const reads = names.map((name) => call("read", { path: `${name}.txt` }, { id: name }))
  const requests = await run(tmp, 16_384, [...reads, text("done")])
  const results = resultsOf(requests.at(-1)!)
  const newest = results.at(-1)!
  for (let i = 1; i <= 350; i++) assert.ok(newest.includes(`line ${i} of file d`), `line ${i} is missing`)
  assert.match(results[0]!, /left out here to save tokens; all of it in \S+, which read and grep can open/)
})
