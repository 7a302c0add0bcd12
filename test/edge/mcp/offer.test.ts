// Which tools `vitamin mcp serve` offers, and how calls run.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { toolsNeeding } from "../../fixture/builtin-tools.ts"
import { vitamin } from "../../fixture/cli.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { eras, namesOf, overStdio, textOf } from "./harness.ts"

const revision = { legacy: "2025-11-25", auto: "2026-07-28" }

for (const era of eras)
  test(`only tools that the rules allow are offered and run, in ${revision[era]}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using served = await overStdio(tmp, { era })
    const { client } = served
    assert.equal(client.getNegotiatedProtocolVersion(), revision[era])
    assert.equal(client.getServerVersion()?.name, "vitamin")
    const { tools } = await client.listTools()
    assert.deepEqual(await namesOf(client), [...toolsNeeding("file.read", "todo"), "run"].sort())
    assert.deepEqual(tools.find(({ name }) => name === "read")?.annotations, { readOnlyHint: true })
    assert.match(
      textOf(await client.callTool({ name: "read", arguments: { path: "README.md" } })),
      /# fixture/,
    )
    const call = (name: string) =>
      client.callTool({ name, arguments: { command: "touch here", path: "here", content: "" } })
    for (const name of ["subtask", "nothing"])
      await assert.rejects(call(name), {
        code: -32602,
        message: `Tool "${name}" is not offered. Available: ${tools.map((tool) => tool.name).join(", ")}`,
      })
    // A tool that a person could allow: the newer revision has an error code for it.
    for (const name of ["bash", "write"])
      await assert.rejects(call(name), {
        code: era === "auto" ? -32021 : -32602,
        message: new RegExp(`Tool "${name}" is not offered`),
      })
    assert.equal(existsSync(join(tmp.path, "here")), false)
  })

test("a denied tool, even `run`, is not offered to a client that can ask a person", async () => {
  await using tmp = await tmpdir({ git: true })
  const args = ["--deny", "file.read:*", "--deny", "bash.execute", "--deny", "tool.execute:run"]
  await using served = await overStdio(tmp, {
    args,
    answer: () => ({ action: "accept", content: { allow: true } }),
  })
  assert.deepEqual(
    await namesOf(served.client),
    toolsNeeding("file.edit", "file.write", "network.fetch", "todo"),
  )
  for (const name of ["read", "bash", "run"])
    await assert.rejects(served.client.callTool({ name, arguments: {} }), /is not offered/)
})

test("a tool that is allowed for some targets is offered, and refused for other targets", async () => {
  await using tmp = await tmpdir({ git: true })
  const args = ["--allow", "bash.execute:echo *", "--allow", "file.write:out/**"]
  await using served = await overStdio(tmp, { args })
  const { client } = served
  const offered = [...toolsNeeding("bash.execute", "file.read", "file.write", "todo"), "run"]
  assert.deepEqual(await namesOf(client), offered.sort())
  assert.equal(textOf(await client.callTool({ name: "bash", arguments: { command: "echo hi" } })), "hi\n")
  const refused = await client.callTool({ name: "bash", arguments: { command: "touch here" } })
  assert.equal(refused.isError, true)
  assert.match(textOf(refused), /nobody can be asked here. --allow "bash.execute:touch here" or --yes/)
  assert.equal(existsSync(join(tmp.path, "here")), false)
  const outside = await client.callTool({ name: "write", arguments: { path: "a.txt", content: "x" } })
  assert.equal(outside.isError, true)
  assert.equal(existsSync(join(tmp.path, "a.txt")), false)
})

test("--yes offers tools that need a permission, and an invalid rule is a usage error", async () => {
  await using tmp = await tmpdir({ git: true })
  await using served = await overStdio(tmp, { args: ["--yes"] })
  assert.ok((await namesOf(served.client)).includes("bash"))
  await served.client.callTool({ name: "bash", arguments: { command: "touch here" } })
  assert.ok(existsSync(join(tmp.path, "here")))
  const { code, out, err } = await vitamin(tmp, ["mcp", "serve", "--allow", "bsh.execute"])
  assert.deepEqual([code, out], [2, ""])
  assert.match(err, /--allow: .*bsh\.execute/)
})

for (const era of eras)
  test(`the client's person is asked, and the answer holds for that call, in ${revision[era]}`, async () => {
    await using tmp = await tmpdir({ git: true })
    const questions: string[] = []
    const replies = [
      { action: "accept" as const, content: { allow: true } },
      { action: "accept" as const, content: { allow: false } },
      { action: "decline" as const },
    ]
    const answer = (question: string) => replies[questions.push(question) - 1]!
    await using served = await overStdio(tmp, { era, answer })
    const { client } = served
    const write = (path: string) =>
      client.callTool({ name: "write", arguments: { path, content: "words\n" } })
    const done = await write("a.txt")
    assert.equal(done.isError, undefined, textOf(done))
    assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "words\n")
    for (const path of ["b.txt", "c.txt"]) {
      const refused = await write(path)
      assert.equal(refused.isError, true)
      assert.match(textOf(refused), /"write" was not run: the person rejected it/)
      assert.equal(existsSync(join(tmp.path, path)), false)
    }
    // If the rules decide, nobody is asked.
    await client.callTool({ name: "read", arguments: { path: "a.txt" } })
    assert.equal(questions.length, 3)
    assert.match(questions[0]!, /^Allow write: file\.write of "a\.txt"\?\n.*words/s)
  })

test("calls are recorded in a session of their own, and their changes can be reverted", async () => {
  await using tmp = await tmpdir({ git: true })
  {
    await using served = await overStdio(tmp, { args: ["--allow", "file.write"] })
    const { client } = served
    const wrong = await client.callTool({ name: "read", arguments: { way: 1 } })
    assert.equal(wrong.isError, true)
    assert.match(textOf(wrong), /The arguments of "read" do not fit/)
    await client.callTool({ name: "write", arguments: { path: "new.txt", content: "1" } })
  }
  const { out } = await vitamin(tmp, ["session", "list", "--format", "json"])
  const sessions = JSON.parse(out) as { id: string; title: string; status: string }[]
  assert.deepEqual(
    sessions.map(({ title, status }) => [title, status]),
    [["Tools for MCP clients", "idle"]],
  )
  const { id } = sessions[0]!
  const shown = await vitamin(tmp, ["session", "show", id, "--format", "json"])
  const { messages } = JSON.parse(shown.out)
  assert.deepEqual(
    messages.map(({ type, parentId }: { type: string; parentId: string | null }, i: number) => [
      type,
      parentId === (messages[i - 1]?.id ?? null),
    ]),
    ["tool_request", "tool_result", "tool_request", "tool_result"].map((type) => [type, true]),
  )
  const undone = await vitamin(tmp, ["session", "revert", id, "--to", messages[1].id])
  assert.equal(undone.code, 0, undone.err)
  assert.equal(existsSync(join(tmp.path, "new.txt")), false)
})

test("results are bounded, and known secrets are redacted", async () => {
  await using tmp = await tmpdir({ git: true })
  const secret = "sk-very-long-and-secret-0123456789"
  tmp.write("keys.txt", `key=${secret}\n`)
  await using served = await overStdio(tmp, {
    args: ["--allow", "bash.execute:seq *"],
    env: { OPENAI_API_KEY: secret },
  })
  const { client } = served
  const shown = textOf(await client.callTool({ name: "read", arguments: { path: "keys.txt" } }))
  assert.match(shown, /key=/)
  assert.doesNotMatch(shown, /very-long/)
  const long = textOf(await client.callTool({ name: "bash", arguments: { command: "seq 100000" } }))
  assert.ok(Buffer.byteLength(long) <= 50_000)
  assert.match(long, /left out/)
})

test("images and structured data of a tool reach the client, and its code cannot write into the protocol", async () => {
  await using tmp = await tmpdir()
  tmp.write(
    ".vitamin/config.ts",
    `import { defineConfig, Tool } from "vitamin"
import { createRequire } from "node:module"
const { z } = createRequire(${JSON.stringify(join(import.meta.dirname, "harness.ts"))})("zod")
console.log("loaded")
Tool.define("look", () => ({
  description: "looks", parameters: z.object({}), readOnly: true,
  execute: async () => {
    console.log('{"jsonrpc":"2.0","method":"notifications/evil"}')
    process.stdout.write("more\\n")
    return { text: "", images: [{ data: "AAAA", mimeType: "image/png" }] }
  },
}))
Tool.define("count", () => ({ description: "counts", parameters: z.object({}), readOnly: true, execute: async () => ({ n: 3 }) }))
Tool.define("change", () => ({ description: "changes", parameters: z.object({}), execute: async () => "changed" }))
export default defineConfig({})
`,
  )
  await using served = await overStdio(tmp, { args: ["--trust", "--allow", "tool.execute:change"] })
  const { client } = served
  const wrong: unknown[] = []
  client.onerror = (error) => wrong.push(error)
  assert.deepEqual(
    (await namesOf(client)).filter((name) => ["look", "count", "change"].includes(name)),
    ["change", "count", "look"],
  )
  const looked = await client.callTool({ name: "look", arguments: {} })
  assert.deepEqual(looked.content, [{ type: "image", data: "AAAA", mimeType: "image/png" }])
  const counted = await client.callTool({ name: "count", arguments: {} })
  assert.deepEqual(counted.structuredContent, { n: 3 })
  assert.equal(textOf(counted), '{"n":3}')
  assert.equal(textOf(await client.callTool({ name: "change", arguments: {} })), "changed")
  assert.deepEqual(wrong, [])
  assert.match(served.errors(), /loaded\n.*evil.*\nmore\n/s)
})
