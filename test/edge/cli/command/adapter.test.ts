// Adapters of a person's own, through the built command: the examples of docs/adapters.md word for word, and bad ones.
import assert from "node:assert/strict"
import { once } from "node:events"
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { run } from "../../../fixture/child.ts"
import { serving, startVitamin, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { noServers } from "../../../fixture/no-servers.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { on, withSession } from "../../acp/harness.ts"
import { socketClient } from "../../acp/socket-harness.ts"

/** Writes the example with this name, as it is in the document. */
function layExample(tmp: Tmp, name: string): string {
  const docs = readFileSync(new URL("../../../../docs/adapters.md", import.meta.url), "utf8")
  const [, example] = new RegExp(`\`\`\`ts\n(// ${name}\n.+?)\`\`\``, "s").exec(docs)!
  return tmp.write(name, example!)
}

async function trust(tmp: Tmp, file: string): Promise<void> {
  const { code, err } = await vitamin(tmp, ["trust", "--yes", "--file", file])
  assert.equal(code, 0, err)
}

async function promptOver(url: string, tokenFile: string): Promise<{ sessionId: string; answer: string }> {
  const headers = {
    authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}`,
    "content-type": "application/json",
  }
  const post = async (path: string, body: object) =>
    (await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })).json() as Promise<{
      id: string
    }>
  const { id } = await post("/session", {})
  return { sessionId: id, answer: JSON.stringify(await post(`/session/${id}/message`, { text: "hi" })) }
}

test("vitamin serve --adapter serves the agent that the adapter of docs/adapters.md gives", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Hello."))
  layExample(tmp, "audit.ts")
  await trust(tmp, "audit.ts")
  const { child, url, tokenFile } = await serving(tmp, ["--adapter=./audit.ts"], env(llm, "chat").variables)
  await using _ = child
  const { sessionId, answer } = await promptOver(url, tokenFile)
  assert.match(answer, /Hello\./)
  const log = readFileSync(join(tmp.path, "audit.log"), "utf8")
  assert.equal(log, `asked ${sessionId}\nanswered ${sessionId}\n`)
  child.process.kill("SIGTERM")
  assert.equal(await child.exit, 143)
})

test("vitamin serve --adapter runs the server that the adapter of docs/adapters.md gives", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Hello."))
  layExample(tmp, "lines.ts")
  await trust(tmp, "lines.ts")
  const args = ["serve", "--port", "0", "--adapter", "lines.ts"]
  await using child = startVitamin(tmp, args, env(llm, "chat").variables)
  const [, host, port] = /listening on tcp:\/\/(.+):(\d+)$/.exec(await child.line(/listening/))!
  const socket = connect(Number(port), host)
  socket.write("hi\n")
  const [answer] = await once(socket, "data")
  assert.equal(String(answer), "Hello.\n")
  socket.destroy()
  child.process.kill("SIGINT")
  assert.equal(await child.exit, 130)
})

test("vitamin acp --adapter serves the agents that the adapter of docs/adapters.md gives, one for each folder", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Hello."))
  layExample(tmp, "audit.ts")
  await trust(tmp, "audit.ts")
  tmp.write("part/a.txt", "a")
  await using acp = await withSession(tmp, { llm, args: ["--adapter=./audit.ts"] })
  assert.equal((await acp.prompt("hi")).stopReason, "end_turn")
  const cwd = join(tmp.path, "part")
  const { sessionId } = await acp.agent.request(on.session.new, { cwd, mcpServers: [] })
  await acp.agent.request(on.session.prompt, { sessionId, prompt: [{ type: "text", text: "hi" }] })
  const logOf = (folder: string) => readFileSync(join(folder, "audit.log"), "utf8")
  assert.equal(logOf(tmp.path), `asked ${acp.sessionId}\nanswered ${acp.sessionId}\n`)
  assert.equal(logOf(cwd), `asked ${sessionId}\nanswered ${sessionId}\n`)
})

test("an adapter of vitamin acp may compose acpAdapter with its own agent, and print what it wants", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "echo $((6 * 7))" }), text("Done.")])
  tmp.write(
    "loud.ts",
    `import { acpAdapter } from "@vitamin-agent/vitamin"
console.log("not a message of the protocol")
export default {
  name: "loud",
  wrap(agent, config) {
    const loud = {
      directory: agent.directory,
      process: (input) => agent.process({ ...input, parts: [{ type: "text", text: "LOUD" }] }),
      capabilities: agent.capabilities,
      get mcp() { return agent.mcp },
      start: agent.start,
      stop: agent.stop,
    }
    return acpAdapter.wrap(loud, config)
  },
}
`,
  )
  const args = ["--trust", "--adapter", "loud.ts", "--yes"]
  await using acp = await withSession(tmp, { llm, args })
  await acp.prompt("quiet")
  assert.match(llm.requests[0]!.raw, /LOUD/)
  assert.match(llm.requests[1]!.raw, /42/, "the options of the command hold for the wrapped agent")
  assert.match(acp.errors(), /not a message of the protocol/)
  acp.stdin.end()
  assert.equal(await acp.exit, 0)
})

test("vitamin acp with an adapter that is not reviewed ends with the reason, and nothing on stdout", async () => {
  await using tmp = await tmpdir({ git: true })
  layExample(tmp, "audit.ts")
  const { code, out, err } = await vitamin(tmp, ["acp", "--adapter", "audit.ts"])
  assert.deepEqual([code, out], [1, ""])
  assert.match(err, /audit\.ts cannot be used: it is not reviewed/)
})

function runProgram(tmp: Tmp, file: string, variables: Record<string, string>) {
  const scope = join(tmp.path, "node_modules/@vitamin-agent")
  mkdirSync(scope, { recursive: true })
  symlinkSync(fileURLToPath(new URL("../../../..", import.meta.url)), join(scope, "vitamin"))
  tmp.write("package.json", '{ "type": "module" }')
  return run(process.execPath, [file], { cwd: tmp.path, env: { ...tmp.env, ...noServers, ...variables } })
}

test("the programs of docs/adapters.md serve an agent over HTTP and ACP, and end when they are stopped", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Hello."))
  const { variables } = env(llm, "chat")
  layExample(tmp, "audit.ts")
  {
    await using child = runProgram(tmp, layExample(tmp, "serve.ts"), variables)
    const [url, tokenFile] = (await child.line(/^http:/)).split(" ")
    assert.match((await promptOver(url!, tokenFile!)).answer, /Hello\./)
    child.process.kill("SIGTERM")
    assert.equal(await child.exit, 0, "nothing keeps the process alive")
  }
  rmSync(join(tmp.path, "node_modules"), { recursive: true })
  await using child = runProgram(tmp, layExample(tmp, "acp.ts"), variables)
  const [address, tokenFile] = (await child.line(/^ws:/)).split(" ")
  const url = address!.replace(/^ws(.*)\/acp$/, "http$1")
  {
    await using client = await socketClient({ url, tokenFile: tokenFile! })
    const { sessionId } = await client.open(tmp.path)
    await client.prompt(sessionId, "hi")
    assert.equal(client.text(), "Hello.")
    const log = readFileSync(join(tmp.path, "audit.log"), "utf8")
    assert.equal(log, `asked ${sessionId}\nanswered ${sessionId}\n`)
  }
  child.process.kill("SIGTERM")
  assert.equal(await child.exit, 0, "nothing keeps the process alive")
})

test("vitamin acp serves a WebSocket if the configuration says so, also through an adapter", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Hello."))
  tmp.write(".vitamin/config.jsonc", '{ "adapters": { "acp": { "transport": "http" } } }')
  layExample(tmp, "audit.ts")
  await trust(tmp, "audit.ts")
  for (const args of [[], ["--adapter", "audit.ts"]]) {
    await using child = startVitamin(tmp, ["acp", ...args], env(llm, "chat").variables)
    const line = await child.line(/listening/)
    const [, url, tokenFile] = /on ws(:\S+)\/acp \(token in (.+)\)$/.exec(line)!
    await using client = await socketClient({ url: `http${url}`, tokenFile: tokenFile! })
    const { sessionId } = await client.open(tmp.path)
    await client.prompt(sessionId, "hi")
    assert.equal(client.text(), "Hello.")
    child.process.kill("SIGTERM")
    assert.equal(await child.exit, 143)
  }
  assert.equal(readFileSync(join(tmp.path, "audit.log"), "utf8").split("\n").length, 3)
})

test("an adapter runs only as it was reviewed, with what it imports", async () => {
  await using tmp = await tmpdir({ git: true })
  const mark = join(dirname(tmp.path), "mark")
  tmp.write("part.ts", "export const name = 'x'\n")
  const code = (more = "") =>
    `import { writeFileSync } from "node:fs"\nimport { name } from "./part.ts"\nwriteFileSync(${JSON.stringify(mark)}, "")\n${more}export default { name, wrap: (agent) => agent }\n`
  const refused = async (reason: RegExp, ...more: string[]) => {
    const { code, out, err } = await vitamin(tmp, ["serve", "--port", "0", "--adapter", "a.ts", ...more])
    assert.deepEqual([code, out], [1, ""])
    assert.match(err, reason)
    assert.throws(() => readFileSync(mark), "it did not run")
  }
  tmp.write("a.ts", code())
  await refused(/a\.ts cannot be used: it is not reviewed\. Review it with: .*trust .*--file .*a\.ts/)
  await trust(tmp, "a.ts")
  tmp.write("part.ts", "export const name = 'y'\n")
  await refused(/a\.ts cannot be used: .*part\.ts.*changed since it was reviewed/)
  await trust(tmp, "a.ts")
  tmp.write("a.ts", code("// changed\n"))
  await refused(/a\.ts cannot be used: it is not reviewed/)
  const { child } = await serving(tmp, ["--adapter", "a.ts", "--trust"])
  await using _ = child
  readFileSync(mark)
})

test("an adapter in the person's own configuration folder needs no review", async () => {
  await using tmp = await tmpdir({ git: true })
  const folder = join(tmp.env.XDG_CONFIG_HOME!, "vitamin")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "own.ts"), 'export default { name: "own", wrap: (agent) => agent }\n')
  const { child } = await serving(tmp, ["--adapter", join(folder, "own.ts")])
  await using _ = child
})

test("an adapter that cannot be used stops the command with the reason", async () => {
  await using tmp = await tmpdir({ git: true })
  const bad: Record<string, [code: string | undefined, reason: RegExp]> = {
    "missing.ts": [undefined, /missing\.ts cannot be used: the file does not exist/],
    "folder/x.ts": ["", /folder cannot be used: it is not a regular file/],
    "empty.ts": ["export const x = 1\n", /no default export; write: export default \{ name, wrap \}/],
    "null.ts": ["export default null\n", /its default export has no name/],
    "nameless.ts": ["export default { wrap: (a) => a }\n", /its default export has no name/],
    "wrapless.ts": ['export default { name: "w" }\n', /its default export, "w", has no function wrap/],
    "syntax.ts": ["export default {\n", /syntax\.ts cannot be used: /],
    "throwing.ts": ['throw new Error("at import")\n', /throwing\.ts.*at import/],
    "wrap-throws.ts": [
      'export default { name: "t", wrap() { throw new Error("no socket") } }\n',
      /The adapter "t" failed in wrap: no socket/,
    ],
    "wrap-rejects.ts": [
      'export default { name: "r", wrap: async () => { throw new Error("no room") } }\n',
      /The adapter "r" failed in wrap: no room/,
    ],
    "nothing.ts": [
      'export default { name: "n", wrap: () => undefined }\n',
      /"n" gives neither an agent nor a server/,
    ],
    "start-throws.ts": [
      'export default { name: "s", wrap: () => ({ start: async () => { throw new Error("no port") }, stop() {} }) }\n',
      /no port/,
    ],
  }
  for (const [name, [code, reason]] of Object.entries(bad)) {
    if (code !== undefined) tmp.write(name, code)
    const file = name === "folder/x.ts" ? "folder" : name
    const {
      code: exit,
      out,
      err,
    } = await vitamin(tmp, ["serve", "--port", "0", "--trust", "--adapter", file])
    assert.deepEqual([name, exit, out], [name, 1, ""], err)
    assert.match(err, reason)
  }
})

test("an adapter that hangs in wrap stops the command", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("hangs.ts", 'export default { name: "h", wrap: () => new Promise(() => {}) }\n')
  const { code, err } = await vitamin(tmp, ["serve", "--port", "0", "--trust", "--adapter", "hangs.ts"])
  assert.equal(code, 1)
  assert.match(err, /The adapter "h" has not wrapped the agent within 10 s/)
})

test("an agent whose process() gives events only is refused in words when it is asked", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(
    "events.ts",
    `export default { name: "e", wrap: (agent) => ({
  directory: agent.directory, start: agent.start, stop: agent.stop, capabilities: agent.capabilities,
  async *process(input) { yield* agent.process(input) },
}) }\n`,
  )
  const { child, url, tokenFile } = await serving(tmp, ["--trust", "--adapter", "events.ts"])
  await using _ = child
  const { answer } = await promptOver(url, tokenFile)
  assert.match(
    answer,
    /The adapter \\"e\\" is wrong: process\(\) must return what process\(\) of the wrapped agent returns/,
  )
})
