// Names and texts of servers that hide something, or could be mistaken for those of another server.
import assert from "node:assert/strict"
import { test } from "node:test"
import { fieldsOf } from "#ability/elicitation/elicitation-form.ts"
import { createMCPClient } from "#ability/mcp/client/create-client.ts"
import { checkEntry, normalizeServer } from "#ability/mcp/server/normalize-server.ts"
import { checkSchema } from "#ability/tool/check-schema.ts"
import { nameApart, type ServerTool, toolsOf } from "#ability/tool/server-tools.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { plainText } from "#util/plain-text.ts"

/** Kept from the eyes of the linter, which takes it for a template. */
const variable = ["$", "{SOME_TOKEN}"].join("")
const hidden = "a\u202eb\u200b\u{e0041}\u001b[2J"

test("of two tools with one name none keeps it, so that a call never reaches the other server", () => {
  const [mine] = toolsFrom("a_b", { name: "c" }).tools
  const [theirs] = toolsFrom("a", { name: "b_c" }).tools
  const [alone] = nameApart([mine!], new Set())
  assert.deepEqual([alone!.id, alone!.server], ["a_b_c", "a_b"])
  const both = nameApart([mine!, theirs!], new Set())
  assert.ok(both.every(({ id }) => id !== "a_b_c" && /^[\w-]{1,64}$/.test(id)))
  // Nor is there a way to name a tool like what another will be called.
  const apart = both.find(({ server }) => server === "a_b")!
  const [thief] = toolsFrom("a_b", { name: apart.id.slice("a_b_".length) }).tools
  const all = nameApart([mine!, theirs!, thief!], new Set())
  assert.equal(new Set(all.map(({ id }) => id)).size, 3)
  assert.equal(
    all.find(({ id }) => id === thief!.id)!.permission!({})[0]!.target,
    `a_b/${thief!.id.slice(4)}`,
  )
})

test("a tool whose name looks like another, is a pattern, or is that of a resource is left out", () => {
  const names = ["*", "all*", "a\u3164b", "a\u034fb", "resource:demo://x"]
  const { tools, problems } = toolsFrom("s", ...names.map((name) => ({ name })), { name: "files/read.all" })
  assert.deepEqual(
    tools.map(({ id }) => id),
    ["s_files_read_all"],
  )
  assert.equal(problems.length, names.length)
})

test("hidden characters in the values of a schema are shown; in a name, they exclude the tool", () => {
  const chosen = { type: "string", enum: [hidden, "\r\n", "fine"], default: hidden, examples: [hidden] }
  const { tools } = toolsFrom("s", { inputSchema: { type: "object", properties: { a: chosen } } })
  const shown = JSON.stringify(tools[0]!.inputSchema)
  assert.doesNotMatch(shown, /[\u202e\u200b\u{e0041}]|\\u001b/u)
  assert.deepEqual(JSON.parse(shown).properties.a.enum.slice(1), ["\r\n", "fine"])
  const named = toolsFrom("s", { inputSchema: { type: "object", properties: { [hidden]: {} } } })
  assert.equal(named.tools.length, 0)
  assert.match(named.problems[0]!, /hidden/)
})

test("a schema that is huge once its references are expanded is refused, whatever they are called", () => {
  for (const word of ["$ref", "$dynamicRef", "$recursiveRef"]) {
    const defs: Record<string, object> = { d0: { type: "string" } }
    for (let i = 1; i < 30; i++)
      defs[`d${i}`] = { anyOf: [{ [word]: `#/$defs/d${i - 1}` }, { [word]: `#/$defs/d${i - 1}` }] }
    assert.match(checkSchema({ type: "object", $defs: defs }) ?? "", /expanded/)
  }
})

test("plainText() keeps joining characters between letters, and shows them elsewhere", () => {
  const family = "👩‍👩‍👧 and می‌خواهم ❤️"
  assert.equal(plainText(family, 100), family)
  assert.equal(plainText("ok\u200c\u200d\u200c", 100), "ok\u200c\\u{200d}\\u{200c}")
  assert.equal(plainText(" \u200d\ufe0f", 100), " \\u{200d}\\u{fe0f}")
  assert.ok(plainText("\u202e".repeat(1_000), 100).length < 210)
})

test("a flood of progress messages is limited", async () => {
  const { tools } = toolsFrom("s", { name: "t" })
  const told: string[] = []
  const { signal } = new AbortController()
  const context = { sessionId: "s", messageId: "m", callId: "c", signal }
  await tools[0]!.execute({}, { ...context, report: (text) => void told.push(text) })
  assert.ok(told.length >= 10 && told.length <= 200, String(told.length))
})

test("a form has no hidden characters in defaults, and no field that cannot be filled in", () => {
  const schema = (name: string) => ({ properties: JSON.parse(`{${JSON.stringify(name)}:{"type":"string"}}`) })
  assert.equal(fieldsOf(schema("__proto__")), undefined)
  const [field] = fieldsOf({ properties: { a: { type: "string", default: hidden } } })!
  assert.equal(field!.default, undefined)
})

test("the error about a wrong URL contains no value of a variable, and a key from a variable is redacted", () => {
  process.env.SOME_TOKEN = "no address but a-secret-word"
  try {
    const entry = checkEntry({ url: variable })
    assert.throws(
      () => normalizeServer(entry, { id: "s", folder: "/" }),
      /its url "\$\{SOME_TOKEN\}" is not one/,
    )
    normalizeServer(checkEntry({ command: `srv --token=${variable}` }), { id: "s", folder: "/" })
    assert.equal(Secret.redact("usage: srv no address but a-secret-word"), "usage: srv [SOME_TOKEN]")
  } finally {
    delete process.env.SOME_TOKEN
  }
})

test("a value with a NUL character is refused without showing it", () => {
  const entry = checkEntry({ command: "srv", env: { A_KEY: "secret-\0-word" } })
  assert.throws(() => normalizeServer(entry, { id: "s", folder: "/" }), /^MCP.InvalidEntry: there is a NUL/)
})

test("a token with a line end is not shown in its error", async () => {
  const url = "http://127.0.0.1:9/mcp"
  const token = "first-half-of-it\nsecond-half-of-it"
  for (const more of [
    { headers: { Authorization: `Bearer ${token}` } },
    { auth: { type: "bearer" as const, token } },
  ]) {
    const client = createMCPClient({ server: { id: "s", name: "s", transport: "http", url, ...more } })
    await assert.rejects(client.connect(), (error: Error) => {
      assert.doesNotMatch(error.message, /half-of-it/)
      return true
    })
    await client.close()
  }
})

function toolsFrom(id: string, ...tools: Partial<ServerTool>[]) {
  const listed = tools.map((tool) => ({ name: "t", inputSchema: { type: "object" }, ...tool }))
  return toolsOf(
    {
      server: { id },
      listTools: async () => listed,
      async callTool(_name, _args, { onProgress }) {
        for (let n = 0; n < 50_000; n++) onProgress?.({ message: `step ${n}` })
        return { content: [], isError: false }
      },
    },
    listed,
  )
}
