import assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { createMCPClient } from "#ability/mcp/client/create-client.ts"
import type { Elicitation, MCPClientConfig, MCPProgress } from "#ability/mcp/server/types.ts"
import { lockedServer } from "../../../fixture/mcp/locked-server.ts"
import { everything, everythingFile, filesystem, memory } from "../../../fixture/mcp/servers.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

test("everything over stdio: tools, resources, prompts, completion, progress, structured output", async () => {
  await using client = clientOf({ server: everything(), roots: ["/some/folder"] })
  const info = await client.connect()
  assert.deepEqual([info.name, info.protocol], ["mcp-servers/everything", "2025-11-25"])
  assert.match(info.instructions ?? "", /Everything Server/)

  const tools = await client.listTools()
  assert.ok(tools.some(({ name, inputSchema }) => name === "echo" && inputSchema.type === "object"))
  assert.deepEqual(await client.callTool("echo", { message: "hi" }), {
    content: [{ type: "text", text: "Echo: hi" }],
    isError: false,
  })
  const { structuredContent } = await client.callTool("get-structured-content", { location: "New York" })
  assert.deepEqual(structuredContent, { temperature: 33, conditions: "Cloudy", humidity: 82 })
  assert.equal((await client.callTool("echo", { message: 5 })).isError, true)
  const { content } = await client.callTool("get-tiny-image")
  assert.ok(content.some((part) => part.type === "image" && part.mimeType === "image/png"))

  const roots = await client.callTool("get-roots-list")
  assert.match(JSON.stringify(roots.content), /file:\/\/\/some\/folder/)

  const steps: MCPProgress[] = []
  await client.callTool(
    "trigger-long-running-operation",
    { duration: 0.2, steps: 4 },
    { onProgress: (progress) => steps.push(progress) },
  )
  assert.deepEqual(
    steps.map(({ progress, total }) => [progress, total]),
    [1, 2, 3, 4].map((step) => [step, 4]),
  )

  const [resource] = await client.listResources()
  const [read] = await client.readResource(resource!.uri)
  assert.equal(read?.uri, resource?.uri)
  assert.ok(read?.text ?? read?.blob)
  const templates = await client.listResourceTemplates()
  assert.ok(templates.every(({ uriTemplate }) => uriTemplate.includes("{")))

  const prompts = await client.listPrompts()
  assert.ok(prompts.some(({ name }) => name === "args-prompt"))
  const prompt = await client.getPrompt("args-prompt", { city: "Bern" })
  assert.equal(prompt.messages[0]?.role, "user")
  assert.match(JSON.stringify(prompt.messages), /Bern/)
  const completed = await client.complete({
    of: { prompt: "completable-prompt" },
    argument: { name: "department", value: "E" },
  })
  assert.ok(completed.length > 0)
})

test("a question of the server reaches the host, whose answer reaches the server", async () => {
  const asked: Elicitation[] = []
  await using client = clientOf({
    server: everything(),
    onElicit: async (request) => {
      asked.push(request)
      return { action: "accept", content: { name: "Ada" } }
    },
  })
  const form = await client.callTool("trigger-elicitation-request")
  assert.equal(asked[0]?.mode, "form")
  assert.match(JSON.stringify(form.content), /Ada/)
  await client.callTool("trigger-url-elicitation", { url: "https://example.com/go" })
  assert.deepEqual(asked[1]?.mode === "url" && asked[1].url, "https://example.com/go")
  await assert.rejects(
    client.callTool("trigger-url-elicitation", { url: "https://example.com/first", errorPath: true }),
    { name: "MCP.VisitNeeded", message: /visit https:\/\/modelcontextprotocol.io first/ },
  )
})

test("a question that nobody can answer is declined", async () => {
  await using client = clientOf({ server: everything() })
  const { content } = await client.callTool("trigger-elicitation-request")
  assert.match(JSON.stringify(content), /decline/)
})

test("the time in which a person is asked does not count", async () => {
  await using client = clientOf({
    server: everything(),
    onElicit: async () => {
      await sleep(4000)
      return { action: "decline" }
    },
  })
  await client.connect()
  const { isError } = await client.callTool("trigger-elicitation-request", {}, { timeout: 3000 })
  assert.equal(isError, false)
})

test("subscribe() tells of changes until the loop is left", async () => {
  await using client = clientOf({ server: everything() })
  const [resource] = await client.listResources()
  const updates = client.subscribe(resource!.uri)[Symbol.asyncIterator]()
  const first = updates.next()
  await client.callTool("toggle-subscriber-updates")
  assert.deepEqual(await first, { value: { uri: resource!.uri }, done: false })
  await updates.return?.()
})

test("sampling without anybody who answers it is refused", () => {
  const server = { id: "s", name: "s", transport: "stdio" as const, command: ["true"] }
  assert.throws(() => createMCPClient({ server, features: { sampling: true } }), /sampling.*onSample/)
})

test("sampling is offered only where it is turned on", async () => {
  await using without = clientOf({ server: everything() })
  const names = (await without.listTools()).map(({ name }) => name)
  assert.ok(!names.includes("trigger-sampling-request"))
  await using client = clientOf({
    server: everything(),
    features: { sampling: true },
    onSample: async () => ({ model: "m", role: "assistant", content: { type: "text", text: "from us" } }),
  })
  const { content } = await client.callTool("trigger-sampling-request", { prompt: "say it", maxTokens: 10 })
  assert.match(JSON.stringify(content), /from us/)
})

test("filesystem reads and writes below its folder", async () => {
  await using tmp = await tmpdir()
  tmp.write("a.txt", "hello")
  await using client = clientOf({ server: filesystem(tmp.path) })
  const { content } = await client.callTool("read_text_file", { path: join(tmp.path, "a.txt") })
  assert.deepEqual(content, [{ type: "text", text: "hello" }])
  await client.callTool("write_file", { path: join(tmp.path, "b.txt"), content: "there" })
  assert.equal(readFileSync(join(tmp.path, "b.txt"), "utf8"), "there")
  assert.equal((await client.callTool("read_text_file", { path: "/etc/hostname" })).isError, true)
})

test("memory keeps what it is told in the file of its environment", async () => {
  await using tmp = await tmpdir()
  const file = join(tmp.path, "memory.jsonl")
  await using client = clientOf({ server: memory(file) })
  const entities = [{ name: "Ada", entityType: "person", observations: ["wrote programs"] }]
  await client.callTool("create_entities", { entities })
  const { structuredContent } = await client.callTool("read_graph")
  assert.deepEqual(structuredContent, { entities, relations: [] })
  assert.match(readFileSync(file, "utf8"), /Ada/)
})

test("everything over http, and a server that was started anew is connected to again", async () => {
  const port = await freePort()
  let server = await serveEverything(port)
  const url = `http://127.0.0.1:${port}/mcp`
  await using client = clientOf({ server: { id: "http", name: "http", transport: "http", url } })
  try {
    assert.equal((await client.connect()).name, "mcp-servers/everything")
    assert.ok((await client.listTools()).length > 5)
    assert.deepEqual((await client.callTool("echo", { message: "hi" })).content, [
      { type: "text", text: "Echo: hi" },
    ])
    await end(server)
    await assert.rejects(client.callTool("echo", { message: "gone" }), {
      name: "MCP.Unavailable",
      message: /ECONNREFUSED/,
    })
    server = await serveEverything(port)
    assert.equal((await client.callTool("echo", { message: "back" })).isError, false)
  } finally {
    await client.close()
    await end(server)
  }
})

test("a server over http that breaks off in its answer fails the call", async () => {
  await using locked = await lockedServer()
  locked.accepted.add("a-configured-token")
  const auth = { type: "bearer", token: "a-configured-token" } as const
  await using client = clientOf({
    server: { id: "locked", name: "locked", transport: "http", url: locked.url, auth },
  })
  await client.connect()
  locked.breaksOff = true
  await assert.rejects(client.callTool("ok"), {
    name: "MCP.BadAnswer",
    message: /the connection ended before the answer/,
  })
  locked.breaksOff = false
  assert.equal((await client.callTool("ok")).isError, false)
})

test("a server over http needs a URL that can be used", async () => {
  for (const url of [undefined, "no url", "ftp://example.com", "http://user:word@example.com"]) {
    await using client = clientOf({
      server: { id: "x", name: "x", transport: "http", ...(url ? { url } : {}) },
    })
    await assert.rejects(client.connect(), { name: "MCP.InvalidServer" })
  }
})

function clientOf(config: MCPClientConfig) {
  const client = createMCPClient(config)
  return { ...client, [Symbol.asyncDispose]: client.close }
}

async function serveEverything(port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [everythingFile, "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  })
  for await (const chunk of child.stderr) if (String(chunk).includes("listening")) break
  child.stderr.resume()
  return child
}

async function end(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill("SIGKILL")
  await once(child, "exit")
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, "close")
  return port
}
