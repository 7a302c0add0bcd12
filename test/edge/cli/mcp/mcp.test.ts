// Tools of MCP servers in `vitamin run`.
import assert from "node:assert/strict"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { mcpJson, officialServer, tinyServer } from "../../../ability/mcp/servers.ts"
import { run } from "../../../fixture/child.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, type FakeLlm, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { image } from "../../../fixture/images.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"

const seeing = { "fake-model": { input: ["text", "image"] } }
const withVision = { VITAMIN_CONFIG: JSON.stringify({ provider: { openai: { models: seeing } } }) }
const one = { tools: [{ name: "one", description: "Does one thing" }] }

function bodies(llm: FakeLlm): string[] {
  return llm.requests.map(({ body }) => JSON.stringify(body))
}

/** A port that is free now: the server cannot choose one itself. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

/** Trusts the folder, and waits until the servers are known. */
async function trust(tmp: Tmp, ...servers: string[]): Promise<void> {
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  for (const name of servers) {
    const { code, out, err } = await vitamin(tmp, ["mcp", "test", name])
    assert.equal(code, 0, out + err)
  }
}

test("vitamin run calls a tool of server-memory after permission and sends its result back", async () => {
  await using tmp = await tmpdir({ git: true })
  const graph = { MEMORY_FILE_PATH: join(tmp.path, "memory.jsonl") }
  tmp.write(".mcp.json", mcpJson({ memory: { ...officialServer("memory"), env: graph } }))
  await trust(tmp, "memory")
  const entities = [{ name: "Ada", entityType: "person", observations: ["wrote the first program"] }]
  await using llm = await fakeLlm([call("memory_create_entities", { entities }), text("Noted.")])
  const args = ["run", "--allow", "mcp.call:memory/*", "Remember Ada"]
  const { code, out, err } = await vitamin(tmp, args, env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.equal(out, "Noted.")
  const [first, second] = bodies(llm)
  assert.match(first!, /"memory_create_entities"/)
  assert.match(second!, /wrote the first program.*wrote the first program/s)
})

test("vitamin run works with server-filesystem over stdio and server-everything over http side by side", async () => {
  await using tmp = await tmpdir({ git: true })
  const port = await freePort()
  const { command, args } = officialServer("everything", "streamableHttp")
  await using http = run(command, args, { env: { ...tmp.env, PORT: String(port) } })
  await until(() => /listening/.test(http.errors()), "the server listens")
  const everything = { type: "http", url: `http://127.0.0.1:${port}/mcp` }
  tmp.write(".mcp.json", mcpJson({ files: officialServer("filesystem", tmp.path), everything }))
  await trust(tmp, "files", "everything")
  const path = join(tmp.path, "README.md")
  await using llm = await fakeLlm([
    call("files_read_text_file", { path }),
    call("everything_get-sum", { a: 20, b: 22 }),
    text("Done."),
  ])
  const { code, err } = await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(bodies(llm)[1]!, /# fixture/)
  assert.match(bodies(llm)[2]!, /20 and 22 is 42/)
})

test("vitamin run starts no server of a folder that is not trusted, and says so", async () => {
  await using tmp = await tmpdir({ git: true })
  const log = join(tmp.path, "log")
  tmp.write(".mcp.json", mcpJson({ tiny: tinyServer(one, log) }))
  await using llm = await fakeLlm([text("Hello.")])
  const { code, out, err } = await vitamin(tmp, ["run", "hello"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.equal(out, "Hello.")
  assert.match(
    err,
    /^warning: 1 MCP server is not started: the folder is not trusted; "vitamin trust" trusts it \(\S+\)$/m,
  )
  assert.ok(!existsSync(log))
  assert.doesNotMatch(bodies(llm)[0]!, /tiny_one/)
  const listed = await vitamin(tmp, ["mcp", "list"])
  assert.match(listed.out, /^tiny +unusable +\.mcp\.json\n.*not trusted/)
  const tested = await vitamin(tmp, ["mcp", "test", "tiny"])
  assert.equal(tested.code, 1)
  // Their own lines give the reason, so no warning repeats it.
  assert.equal(listed.err + tested.err, "")
  assert.ok(!existsSync(log))
})

test("vitamin run denies an MCP call if nobody can be asked, names the flag that allows it, and accepts server/tool in rules", async () => {
  await using tmp = await tmpdir({ git: true })
  const log = join(tmp.path, "log")
  tmp.write(".mcp.json", mcpJson({ tiny: tinyServer(one, log) }))
  await trust(tmp, "tiny")
  await using llm = await fakeLlm([call("tiny_one", {}), text("No."), call("tiny_one", {}), text("No.")])
  const { variables } = env(llm, "chat")
  const asked = await vitamin(tmp, ["run", "go"], variables)
  assert.equal(asked.code, 3, asked.err)
  assert.match(asked.err, /--allow "mcp\.call:tiny\/one" or --yes would allow it/)
  const denied = await vitamin(tmp, ["run", "--yes", "--deny", "mcp.call:*/one", "go"], variables)
  assert.equal(denied.code, 3, denied.err)
  assert.match(bodies(llm)[3]!, /is denied by the rule/)
  assert.doesNotMatch(readFileSync(log, "utf8"), /arguments/)
})

test("vitamin run knows the tools of a server from an earlier run, and starts the server only for a call", async () => {
  await using tmp = await tmpdir({ git: true })
  const log = join(tmp.path, "log")
  tmp.write(".mcp.json", mcpJson({ tiny: tinyServer(one, log) }))
  await trust(tmp, "tiny")
  await using llm = await fakeLlm([text("a"), text("b"), call("tiny_one", { x: 1 }), text("c")])
  const { variables } = env(llm, "chat")
  const starts = () =>
    readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => line === "started").length
  for (const count of [1, 1, 2]) {
    const { code, err } = await vitamin(tmp, ["run", "--yes", "go"], variables)
    assert.equal(code, 0, err)
    assert.equal(starts(), count)
  }
  const toolsOf = (i: number) => JSON.stringify((llm.requests[i]!.body as { tools: unknown }).tools)
  assert.match(toolsOf(0), /tiny_one/)
  for (const i of [1, 2, 3]) assert.equal(toolsOf(i), toolsOf(0), "the same bytes each time")
  assert.match(bodies(llm)[3]!, /one ran/)
  assert.match(readFileSync(log, "utf8"), /"arguments":\{"x":1\}/)
})

test("vitamin run sends its first request even if some servers hang or crash, and the others work", async () => {
  await using tmp = await tmpdir({ git: true })
  const good = Array.from({ length: 8 }, (_, i) => [`good${i}`, tinyServer(one)])
  const bad = ["hang1", "hang2", "crash1", "crash2"].map((id) => [id, tinyServer({ mode: id.slice(0, -1) })])
  tmp.write(".mcp.json", mcpJson(Object.fromEntries([...bad, ...good])))
  await trust(tmp)
  await using llm = await fakeLlm([text("one"), call("good3_one", {}), text("two")])
  const { variables } = env(llm, "chat")
  const first = await vitamin(tmp, ["run", "--yes", "go"], variables)
  assert.equal(first.code, 0, first.err)
  assert.equal(llm.requests.length, 1)
  await trust(tmp, "good3")
  const second = await vitamin(tmp, ["run", "--yes", "go"], variables)
  assert.equal(second.code, 0, second.err)
  assert.doesNotMatch(second.err, /did not start/, "nobody waits for them a second time")
  assert.match(bodies(llm)[2]!, /one ran/)
  const { out } = await vitamin(tmp, ["mcp", "list", "--format", "json"])
  const listed = JSON.parse(out) as { id: string; state: string; error?: string }[]
  const states = listed.filter(({ id }) => !id.startsWith("good")).map(({ state }) => state)
  assert.deepEqual(states, ["failed", "failed", "failed", "failed"])
})

test("vitamin run sends the model an image that a tool returned, and shortens a giant result", async () => {
  await using tmp = await tmpdir({ git: true })
  const png = image("note.png").toString("base64")
  const content = [{ type: "image", data: png, mimeType: "image/png" }]
  const giant = { content: [{ type: "text", text: "0123456789".repeat(200_000) }] }
  const tools = [
    { name: "look", result: { content } },
    { name: "much", result: giant },
  ]
  const file = tmp.write("behaviour.json", JSON.stringify({ tools }))
  tmp.write(".mcp.json", mcpJson({ tiny: tinyServer({ file }) }))
  await trust(tmp, "tiny")
  await using llm = await fakeLlm([call("tiny_look", {}), call("tiny_much", {}), text("A note.")])
  const variables = { ...env(llm, "chat").variables, ...withVision }
  const { code, err } = await vitamin(tmp, ["run", "--yes", "look"], variables)
  assert.equal(code, 0, err)
  assert.ok(llm.requests[1]!.raw.includes(png), "the image is in the next request")
  assert.match(llm.requests[1]!.raw, /\[image 1: image\/png, shown below\]/)
  assert.ok(llm.requests[2]!.raw.length - llm.requests[1]!.raw.length < 100_000)
  assert.match(llm.requests[2]!.raw, /of 2000000 bytes/)
})

test("vitamin run ignores invalid tools of a server, and vitamin mcp list names them", async () => {
  await using tmp = await tmpdir({ git: true })
  const tools = [
    { name: "good", description: "Fine\u001b[31m\u202e" },
    {
      name: "far",
      inputSchema: { type: "object", properties: { a: { $ref: "http://127.0.0.1:9/schema" } } },
    },
  ]
  tmp.write(".mcp.json", mcpJson({ tiny: tinyServer({ tools }) }))
  await trust(tmp, "tiny")
  await using llm = await fakeLlm([text("Hello.")])
  const { code, err } = await vitamin(tmp, ["run", "hello"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(llm.requests[0]!.raw, /Fine\\\\u\{1b\}\[31m\\\\u\{202e\}/)
  assert.doesNotMatch(llm.requests[0]!.raw, /tiny_far/)
  const { out } = await vitamin(tmp, ["mcp", "list"])
  assert.match(out, /tool "far" is left out: its schema refers to "http:\/\/127\.0\.0\.1:9\/schema"/)
})

test("vitamin tool list warns once about servers of several files that are not trusted", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", JSON.stringify({ mcpServers: { one: { command: "x" } } }))
  tmp.write(".vitamin/mcp.json", JSON.stringify({ mcpServers: { two: { command: "x" } } }))
  const { err } = await vitamin(tmp, ["tool", "list"])
  assert.match(
    err,
    /^warning: 2 MCP servers are not started: the folder is not trusted; "vitamin trust" trusts it \(.+, .+\)\n$/,
  )
})
