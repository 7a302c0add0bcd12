// The built-in offline model: which calls it makes for a request, what it never does, and how it describes results.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import { createRulesModel } from "#ability/provider/rules/rules-model.ts"
import { readArguments } from "#ability/tool/read-arguments.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { frontText } from "#knowledge/memory/window.ts"
import { free, inProject } from "../../tool/harness.ts"
import { partsOf, textOf } from "../harness.ts"
import { drive, loadRequests, missesIn, type Request } from "./measure.ts"

const lists = ["requests.jsonc", "more-requests.jsonc"]
const [requests, more] = lists.map((name) => loadRequests(new URL(name, import.meta.url))) as [
  Request[],
  Request[],
]
const show = (value: unknown) => JSON.stringify(value)

for (const [list, least] of [
  [requests, 150],
  [more, 120],
] as const)
  test(`local/rules makes the right calls for nine of ten of ${list.length} requests, and destroys nothing unasked`, async (t) => {
    assert.ok(list.length >= least)
    const misses = await missesIn(list)
    for (const { request, made } of misses) t.diagnostic(`${show(request)} → ${show(made)}`)
    const rate = 1 - misses.length / list.length
    assert.ok(rate >= 0.9, `${list.length - misses.length} of ${list.length} are right`)
    assert.deepEqual(
      misses.filter(({ destroys }) => destroys),
      [],
    )
  })

test("local/rules makes only calls that the schemas of the tools accept", async () => {
  await inProject(async () => {
    for (const { request } of [...requests, ...more])
      for (const { tool, arguments: args } of (await drive(request)).made)
        await readArguments(ToolRegistry.get(tool), { arguments: args as never })
  })
})

test("local/rules answers with lines of the smallest file that it listed", async () => {
  await inProject(async (tmp) => {
    const lines = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`)
    tmp.write("src/deep/er/small.ts", lines.join("\n"))
    tmp.write("src/big.ts", "x\n".repeat(5_000))
    tmp.write("src/tiny.js", "no TypeScript\n")
    tmp.write("tiny.ts", "not under src\n")
    const { text, made } = await drive(
      "list the TypeScript files under src and show the first 10 lines of the smallest",
    )
    assert.deepEqual(made.at(-1), {
      tool: "read",
      arguments: { path: "src/deep/er/small.ts", startLine: 1, endLine: 10 },
    })
    assert.match(text, /2 files:\nsrc\/big\.ts\nsrc\/deep\/er\/small\.ts/)
    assert.ok(text.includes(lines.slice(0, 10).join("\n")), text)
    assert.doesNotMatch(text, /line 11|tiny/)
  })
})

test("local/rules counts, shows the end of a file, and says what matched where", async () => {
  await inProject(async (tmp) => {
    tmp.write("a.txt", "one\ntwo\nthree\n")
    tmp.write("src/a.ts", "// TODO: x\ncode\n// TODO: y\n")
    assert.match((await drive("how many lines does a.txt have?")).text, /^3 lines in a\.txt$/)
    assert.equal((await drive("show the last 2 lines of a.txt")).text, "a.txt:\ntwo\nthree")
    assert.match(
      (await drive("how many TODOs are in src?")).text,
      /^2 matches in src\nsrc\/a\.ts:1: \/\/ TODO: x\n/,
    )
    assert.match((await drive("list src and tell me how many there are")).text, /^1 entry in src/)
  })
})

test("local/rules shows the end of a long file, and retries with read or ls if it mistook a file for a folder or the reverse", async () => {
  await inProject(async (tmp) => {
    tmp.write("long.txt", Array.from({ length: 5_000 }, (_, i) => `line ${i + 1}\n`).join(""))
    assert.equal((await drive("show the last 2 lines of long.txt")).text, "long.txt:\nline 4999\nline 5000")
    tmp.write("bin/start", "exec node\n")
    tmp.write("old.md/a.txt", "a\n")
    const { made, text } = await drive("show me bin/start and read old.md")
    assert.deepEqual(
      made.map(({ tool }) => tool),
      ["ls", "read", "read", "ls"],
    )
    assert.match(text, /^bin\/start:\nexec node\n\nold\.md:\na\.txt /)
  })
})

test("local/rules says that it shows a text and cannot summarize it", async () => {
  await inProject(async (tmp) => {
    tmp.write("a.txt", "hello\n")
    assert.match((await drive("summarize a.txt")).text, /^a\.txt:\nhello\n\n.*cannot summarize it/)
    assert.equal((await drive("read a.txt")).text, "a.txt:\nhello")
  })
})

test("local/rules appends without removing text, and overwrites no file unasked", async () => {
  await inProject(async (tmp) => {
    const file = tmp.write("a.txt", "same\nsame\nlast\nlast\n")
    await drive('add "new" to a.txt', { slots: free })
    assert.equal(readFileSync(file, "utf8"), "same\nsame\nlast\nlast\nnew\n")
    await drive("create a file called a.txt", { slots: free })
    assert.equal(readFileSync(file, "utf8"), "same\nsame\nlast\nlast\nnew\n")
    await drive("create a file called fresh.txt", { slots: free })
    assert.equal(readFileSync(join(tmp.path, "fresh.txt"), "utf8"), "")
    await drive("replace 'new' with '$& (x)' in a.txt and then write 'y' to b/c.txt", { slots: free })
    assert.equal(readFileSync(file, "utf8"), "same\nsame\nlast\nlast\n$& (x)\n")
    assert.equal(readFileSync(join(tmp.path, "b/c.txt"), "utf8"), "y")
  })
})

test("local/rules reports the error of a tool, and skips the steps after it", async () => {
  await inProject(async (tmp) => {
    tmp.write("README.md", "# fixture\n")
    const missing = await drive("read REDME.md")
    assert.match(missing.text, /did not work: "REDME\.md" does not exist\. Did you mean "README\.md"\?/)
    const slots = { permit: () => ({ message: "bash.execute was denied" }) }
    const { text, made } = await drive("run `touch x` and then write 'y' to z.txt", { slots })
    assert.equal(made.length, 1)
    assert.match(text, /bash touch x did not work: .*bash\.execute was denied/)
    assert.match(text, /Not done \(write 'y' to z\.txt\): I stopped, because the step before it was not done/)
    const failing = await drive("run `exit 3` then run `touch made`", { slots: free })
    assert.equal(failing.made.length, 1)
    assert.match(failing.text, /exit code 3/)
  })
})

test("local/rules uses no tool that it was not given", async () => {
  await inProject(async () => {
    const { made, text } = await drive("list src and run `npm test`", { tools: ["read"] })
    assert.deepEqual(made, [])
    assert.match(text, /I have no rule for this request/)
  })
})

test("local/rules calls a tool of the project by name, with the arguments of the request", async () => {
  const tool: LanguageModelV4FunctionTool = {
    type: "function",
    name: "weather_lookup",
    inputSchema: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" } },
      required: ["city"],
    },
  }
  const ask = async (text: string) =>
    (await createRulesModel().doGenerate({ prompt: said(text), tools: [tool] })).content[0]
  const { toolName, input } = (await ask("use weather_lookup with city Paris and days 3")) as {
    toolName: string
    input: string
  }
  assert.deepEqual([toolName, JSON.parse(input)], ["weather_lookup", { city: "Paris", days: 3 }])
  assert.match(show(await ask("use weather_lookup")), /weather_lookup needs city/)
})

test('local/rules resolves "it" to the file of the earlier request', async () => {
  await inProject(async (tmp) => {
    tmp.write("a.txt", "hello\n")
    const { made } = await drive("now replace 'hello' with 'bye' in it", {
      earlier: [
        { role: "user", content: [{ type: "text", text: "read a.txt" }] },
        {
          role: "assistant",
          content: [{ type: "tool-call", toolCallId: "1", toolName: "read", input: { path: "a.txt" } }],
        },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "1",
              toolName: "read",
              output: { type: "text", value: "1\thello" },
            },
          ],
        },
        { role: "assistant", content: [{ type: "text", text: "a.txt:\nhello" }] },
      ],
    })
    assert.deepEqual(made, [
      { tool: "edit", arguments: { path: "a.txt", edits: [{ oldText: "hello", newText: "bye" }] } },
    ])
  })
})

test("local/rules streams what it generates, with an end and without a price", async () => {
  const tools = [...ToolRegistry.toModelTools()] as LanguageModelV4FunctionTool[]
  const model = createRulesModel()
  const called = await partsOf(model, { prompt: said("list src and read a.txt"), tools })
  assert.deepEqual(
    called.map(({ type }) => type),
    ["stream-start", "tool-call", "tool-call", "finish"],
  )
  const spoken = await partsOf(model, { prompt: said("hello"), tools })
  assert.match(textOf(spoken), /^Hello\./)
  for (const [parts, unified] of [
    [called, "tool-calls"],
    [spoken, "stop"],
  ] as const) {
    const end = parts.at(-1)!
    assert.ok(end.type === "finish")
    assert.equal(end.finishReason.unified, unified)
    assert.deepEqual([end.usage.inputTokens.total, end.usage.outputTokens.total], [0, 0])
  }
  assert.match(
    textOf(await partsOf(model, { prompt: said("prove Fermat's theorem"), tools })),
    /I have no rule for this request\.[\s\S]*offline model[\s\S]*what can you do\?/,
  )
  await assert.rejects(async () => model.doStream({ prompt: said("x"), abortSignal: AbortSignal.abort() }), {
    name: "AbortError",
  })
})

for (const [what, text] of Object.entries({
  "one word": "a".repeat(100_000),
  "open quotes": "'a ".repeat(33_000),
  brackets: "()".repeat(50_000),
  joints: "and then ".repeat(11_000),
  requests: "read a.ts and ".repeat(7_000),
  replacements: "replace a with b in ".repeat(5_000),
  colons: "write : ".repeat(12_000),
  slashes: `read ${"a/".repeat(50_000)}`,
  stars: `find ${"*a".repeat(50_000)}`,
  lines: "lines 1 to ".repeat(9_000),
  "control characters": "\u0000\u001b[2J".repeat(20_000),
  blocks: "```\na\n```\n\n".repeat(8_000),
  greetings: "hi\n\n".repeat(25_000),
  "links in brackets": "[a](https://b".repeat(8_000),
  backslashes: `read ${"a\\\\".repeat(33_000)}`,
  "halves of characters": "\ud83d".repeat(50_000),
}))
  test(`local/rules handles 100 KB of ${what}, and gives the same answer again`, async () => {
    const tools = [...ToolRegistry.toModelTools()] as LanguageModelV4FunctionTool[]
    const once = await createRulesModel().doGenerate({ prompt: said(text), tools })
    const again = await createRulesModel().doGenerate({ prompt: said(text), tools })
    assert.deepEqual(once, again)
    assert.ok(once.content.length > 0)
  })

test("local/rules follows the request after a compaction, not the one before it", async () => {
  const front = frontText({ summary: "It began with: read old.txt", pinned: "- (1 of 1) write x to old.txt" })
  const content = [front, "read new.txt"].map((text) => ({ type: "text" as const, text }))
  const tools = [...ToolRegistry.toModelTools()] as LanguageModelV4FunctionTool[]
  const { content: made } = await createRulesModel().doGenerate({
    prompt: [{ role: "user", content }],
    tools,
  })
  assert.match(JSON.stringify(made), /new\.txt/)
  assert.doesNotMatch(JSON.stringify(made), /old\.txt/)
})

function said(text: string): LanguageModelV4CallOptions["prompt"] {
  return [{ role: "user", content: [{ type: "text", text }] }]
}
