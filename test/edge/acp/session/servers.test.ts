// MCP servers that an editor sends with a session: real servers over stdio and HTTP, beside the configured ones.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import type { McpServer } from "@agentclientprotocol/sdk"
import { everythingOver, everythingOverHttp, mcpJson, officialServer } from "../../../ability/mcp/servers.ts"
import { running, uniqueNap } from "../../../ability/shell/running.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { call, type FakeLlm, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { everythingFile } from "../../../fixture/mcp/servers.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { choose, on, withSession } from "../harness.ts"

const echo = call("everything_echo", { message: "hello from afar" })
const permit = choose("allow_once")

/** `word` is an argument in the server's command line, so that its process can be found. */
function everything(word = "", env: Record<string, string> = {}): McpServer {
  const list = Object.entries(env).map(([name, value]) => ({ name, value }))
  return { name: "everything", command: process.execPath, args: [everythingFile, "stdio", word], env: list }
}

function lastResult(llm: FakeLlm): string {
  const results = llm.requests.at(-1)!.messages.flatMap((message) => message.results)
  return results.at(-1)?.text ?? "none"
}

async function overHttp(tmp: Tmp) {
  const { server, ...rest } = await everythingOverHttp(tmp)
  return { ...rest, server: { type: "http" as const, name: "everything", url: server.url, headers: [] } }
}

test("a stdio server of the client runs for the session and ends with it", async () => {
  await using tmp = await tmpdir({ git: true })
  const word = uniqueNap()
  await using llm = await fakeLlm([echo, text("Echoed.")])
  await using acp = await withSession(tmp, { llm, permit, mcpServers: [everything(word)] })
  await acp.prompt("echo")
  assert.match(lastResult(llm), /hello from afar/)
  assert.equal(acp.permissions.length, 1)
  assert.ok(running(word).length)
  await acp.agent.request(on.session.close, { sessionId: acp.sessionId })
  assert.deepEqual(running(word), [])
})

test("an HTTP server of the client is available in the session", async () => {
  await using tmp = await tmpdir({ git: true })
  await using http = await overHttp(tmp)
  await using llm = await fakeLlm([echo, text("Echoed.")])
  await using acp = await withSession(tmp, { llm, permit, mcpServers: [http.server] })
  await acp.prompt("echo")
  assert.match(lastResult(llm), /hello from afar/)
})

test("a client's server replaces a configured one of the same name, and that is logged", async () => {
  await using tmp = await tmpdir({ git: true })
  const [own, brought] = [uniqueNap(), uniqueNap()]
  tmp.write(
    ".mcp.json",
    mcpJson({
      everything: officialServer("everything", "stdio", own),
      memory: { ...officialServer("memory"), env: { MEMORY_FILE_PATH: join(tmp.path, "memory.json") } },
    }),
  )
  await vitamin(tmp, ["trust", "--yes"])
  await using llm = await fakeLlm([echo, call("memory_read_graph"), text("Both.")])
  await using acp = await withSession(tmp, { llm, permit, mcpServers: [everything(brought)] })
  await acp.prompt("echo, and read")
  assert.match(lastResult(llm), /entities/)
  assert.match(JSON.stringify(llm.requests.at(-1)!.messages), /hello from afar/)
  assert.deepEqual([running(own).length, running(brought).length > 0], [0, true])
  const said = acp
    .errors()
    .match(/warning: .*everything of \.mcp\.json is replaced by the one of ACP session\/new/g)
  assert.equal(said?.length, 1, acp.errors())
})

test("values in an editor's server entries are used literally, and its secrets are redacted", async () => {
  await using tmp = await tmpdir({ git: true })
  const secret = "sk-0123456789abcdef"
  await using llm = await fakeLlm([call("everything_get-env", {}), text("Seen.")])
  const server = everything("", { PLAIN: `$\{HOME} and $HOME`, API_TOKEN: secret })
  await using acp = await withSession(tmp, { llm, permit, mcpServers: [server] })
  await acp.prompt("which variables")
  assert.match(lastResult(llm), /\$\{HOME\} and \$HOME/)
  assert.ok(!acp.lines.join("\n").includes(secret))
})

test("a server that cannot start does not block the session", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Hello.")])
  const broken: McpServer = { name: "broken", command: "/nowhere/at-all", args: [], env: [] }
  const nobody: McpServer = { type: "http", name: "nobody", url: "http://127.0.0.1:1/mcp", headers: [] }
  await using acp = await withSession(tmp, { llm, mcpServers: [broken, nobody] })
  await acp.prompt("hello")
  assert.equal(acp.text(), "Hello.")
})

test("a client's server may use the SSE transport", async () => {
  await using tmp = await tmpdir({ git: true })
  await using old = await everythingOver("sse", tmp)
  await using llm = await fakeLlm([echo, text("Done.")])
  const server: McpServer = { type: "sse", name: "everything", url: old.server.url, headers: [] }
  await using acp = await withSession(tmp, { llm, permit, mcpServers: [server] })
  await acp.prompt("echo")
  assert.match(lastResult(llm), /hello from afar/)
})

test("a client's server is not available in other sessions", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([echo, text("One."), echo, text("Two.")])
  await using acp = await withSession(tmp, { llm, permit, mcpServers: [everything()] })
  const { sessionId } = await acp.agent.request(on.session.new, { cwd: tmp.path, mcpServers: [] })
  await acp.prompt("echo")
  assert.match(lastResult(llm), /hello from afar/)
  await acp.agent.request(on.session.prompt, { sessionId, prompt: [{ type: "text", text: "echo" }] })
  assert.match(lastResult(llm), /"everything_echo" (does not exist|is not a tool)/)
})

test("prompts of a client's server are slash commands, with arguments", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Sunny.")])
  await using acp = await withSession(tmp, { llm, mcpServers: [everything()] })
  const commands = () => acp.of("available_commands_update").at(-1)?.availableCommands ?? []
  await until(() => commands().some(({ name }) => name === "everything:args-prompt"), "its commands are told")
  await assert.rejects(acp.prompt("/everything:args-prompt"), {
    code: -32602,
    message: /needs "city".*Use it as: \/everything:args-prompt city=/,
  })
  await acp.prompt('/everything:args-prompt city="New York" and be short')
  assert.match(JSON.stringify(llm.requests[0]!.messages), /New York.*and be short/)
})

test("a skill is a slash command that adds the skill's instructions", async () => {
  await using tmp = await tmpdir({ git: true })
  const skill = "---\nname: greet\ndescription: Greets people.\n---\nGreet with the word Ahoy.\n"
  tmp.write(".vitamin/skills/greet/SKILL.md", skill)
  await using llm = await fakeLlm([text("Ahoy.")])
  await using acp = await withSession(tmp, { llm })
  const commands = () => acp.of("available_commands_update").at(-1)?.availableCommands ?? []
  await until(() => commands().some(({ name }) => name === "greet"), "its command is told")
  const told = acp.lines.findIndex((line) => line.includes("available_commands_update"))
  assert.ok(told > acp.lines.findIndex((line) => line.includes('"modes"')), "told before the session was")
  await acp.prompt("/greet Ann")
  assert.match(llm.requests[0]!.raw, /Greet with the word Ahoy/)
})

test("a server's form elicitation is asked through the client", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("everything_trigger-elicitation-request", {}), text("Thanks.")])
  await using acp = await withSession(tmp, {
    llm,
    permit,
    mcpServers: [everything()],
    capabilities: { elicitation: { form: {} } },
    elicit: () => ({ action: "accept", content: { name: "Ada", integer: 7 } }),
  })
  await acp.prompt("ask me")
  const [asked] = acp.elicitations
  assert.deepEqual([asked?.mode, (asked as { sessionId?: string }).sessionId], ["form", acp.sessionId])
  assert.match(asked!.message, /^The MCP server everything asks: /)
  const { properties, required } = (asked as { requestedSchema: { properties: object; required: string[] } })
    .requestedSchema
  assert.ok("name" in properties && required.includes("name"))
  assert.match(lastResult(llm), /Ada/)
})

test("a server's URL elicitation is asked when the client supports URLs", async () => {
  await using tmp = await tmpdir({ git: true })
  const visit = { url: "https://example.test/go", message: "Look here" }
  await using llm = await fakeLlm([call("everything_trigger-url-elicitation", visit), text("Thanks.")])
  await using acp = await withSession(tmp, {
    llm,
    permit,
    mcpServers: [everything()],
    capabilities: { elicitation: { url: {} } },
    elicit: () => ({ action: "accept" }),
  })
  await acp.prompt("ask me")
  const [asked] = acp.elicitations as { mode: string; url?: string }[]
  assert.deepEqual([asked?.mode, asked?.url], ["url", visit.url])
  assert.match(lastResult(llm), /accept/i)
})

for (const [name, capabilities, elicit] of [
  ["a client that cannot ask", {}, undefined],
  ["a client that supports only URLs", { elicitation: { url: {} } }, undefined],
  ["a reply that does not fit the form", { elicitation: { form: {} } }, { integer: "seven" }],
] as const)
  test(`an elicitation is declined or cancelled for ${name}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([call("everything_trigger-elicitation-request", {}), text("Well.")])
    await using acp = await withSession(tmp, {
      llm,
      permit,
      mcpServers: [everything()],
      capabilities,
      elicit: () => ({ action: "accept", content: elicit ?? {} }),
    })
    await acp.prompt("ask me")
    assert.equal(acp.elicitations.length, elicit ? 1 : 0)
    assert.match(lastResult(llm), /declin|cancel/i)
  })

test("in an untrusted folder the editor's servers run, and no code of the folder does", async () => {
  await using tmp = await tmpdir({ git: true })
  const trace = (name: string) => join(tmp.path, "..", name)
  const leave = (name: string) => ({ command: "sh", args: ["-c", `touch ${trace(name)}`] })
  tmp.write(".mcp.json", mcpJson({ own: leave("own"), everything: leave("everything") }))
  const code = `import { writeFileSync } from "node:fs"\nwriteFileSync(${JSON.stringify(trace("code"))}, "")\n`
  tmp.write(".vitamin/config.ts", `${code}export default {}\n`)
  tmp.write("npx", `#!/bin/sh\ntouch ${trace("npx")}\n`)
  await using llm = await fakeLlm([echo, text("Echoed.")])
  await using acp = await withSession(tmp, { llm, permit, mcpServers: [everything()] })
  await acp.prompt("echo")
  assert.match(lastResult(llm), /hello from afar/)
  assert.deepEqual(
    ["own", "everything", "code", "npx"].filter((name) => existsSync(trace(name))),
    [],
  )
  assert.match(acp.errors(), /not trusted/)
})

test("session/load with other servers replaces the servers of the session", async () => {
  await using tmp = await tmpdir({ git: true })
  const [first, second] = [uniqueNap(), uniqueNap()]
  await using llm = await fakeLlm([echo, text("One."), echo, text("Two.")])
  await using acp = await withSession(tmp, { llm, permit, mcpServers: [everything(first)] })
  const { sessionId } = acp
  await acp.prompt("echo")
  const mcpServers = [everything(second)]
  await acp.agent.request(on.session.load, { sessionId, cwd: tmp.path, mcpServers })
  await acp.prompt("echo again")
  assert.match(lastResult(llm), /hello from afar/)
  await until(() => running(first).length === 0, "the first has ended")
  assert.ok(running(second).length)
})
