// With `Agent.process` closed, no way in reaches the model: prompts of every edge end there.
import assert from "node:assert/strict"
import { globSync, readFileSync } from "node:fs"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { type Child, run } from "../../fixture/child.ts"
import { env, type FakeLlm, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noServers } from "../../fixture/no-servers.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

const hook = new URL("../../fixture/closed-agent.ts", import.meta.url).href
const source = fileURLToPath(new URL("../../../src/edge/cli/vitamin.ts", import.meta.url))
const closed = /Agent\.process is closed/

function start(tmp: Tmp, llm: FakeLlm, args: string[]): Child {
  const variables = { ...tmp.env, ...noServers, ...env(llm, "chat").variables }
  return run(process.execPath, ["--import", hook, source, ...args], { cwd: tmp.path, env: variables })
}

function inTerminal(tmp: Tmp, llm: FakeLlm, args: string[]): Child {
  const variables = { ...tmp.env, ...noServers, ...env(llm, "chat").variables, TERM: "xterm" }
  const words = [process.execPath, "--import", hook, source, ...args].join(" ")
  const own =
    process.platform === "darwin" ? ["-q", "/dev/null", "sh", "-c", words] : ["-qec", words, "/dev/null"]
  return run("script", own, { cwd: tmp.path, env: variables })
}

/** Sends JSON-RPC requests one after the other, and returns the last response. */
async function ask(
  child: Child,
  requests: { method: string; params: unknown; id?: number }[],
): Promise<string> {
  let sessionId = ""
  let line = ""
  for (const { id, method, params } of requests) {
    const message = JSON.stringify({ jsonrpc: "2.0", ...(id ? { id } : {}), method, params })
    child.process.stdin!.write(`${message.replace("SESSION", sessionId)}\n`)
    if (!id) continue
    line = await child.line(new RegExp(`"id":${id}\\b.*(result|error)|(result|error).*"id":${id}\\b`))
    sessionId = /"sessionId":"([^"]+)"/.exec(line)?.[1] ?? sessionId
  }
  return line
}

/** A client of a server may learn only that it failed; the log says why, and may come after the answer. */
async function withLog(child: Child, answer: string, llm: FakeLlm): Promise<string> {
  const all = () => answer + child.errors()
  await until(() => closed.test(all()) || llm.requests.length > 0, "the reason")
  return all()
}

const ways: Record<string, (tmp: Tmp, llm: FakeLlm) => Promise<string>> = {
  "vitamin run": async (tmp, llm) => {
    await using child = start(tmp, llm, ["run", "hello"])
    child.process.stdin!.end()
    await child.exit
    return child.errors()
  },
  "the interactive terminal": async (tmp, llm) => {
    await using child = inTerminal(tmp, llm, ["chat", "--plain", "hello"])
    let all = ""
    child.process.stdout!.on("data", (part: string) => {
      all += part
    })
    await until(() => closed.test(all) || llm.requests.length > 0, "an answer")
    return all
  },
  "the HTTP server": async (tmp, llm) => {
    await using child = start(tmp, llm, ["serve", "--port", "0"])
    const [, url, tokenFile] = /on (http:\S+) \(token in (.+)\)$/.exec(await child.line(/listening/))!
    const headers = {
      authorization: `Bearer ${readFileSync(tokenFile!, "utf8").trim()}`,
      "content-type": "application/json",
    }
    const post = async (path: string, body: object) =>
      (await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })).text()
    const { id } = JSON.parse(await post("/session", {}))
    return withLog(child, await post(`/session/${id}/message`, { text: "hello" }), llm)
  },
  "an editor, over ACP": async (tmp, llm) => {
    await using child = start(tmp, llm, ["acp"])
    return await ask(child, [
      { id: 1, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } },
      { id: 2, method: "session/new", params: { cwd: tmp.path, mcpServers: [] } },
      {
        id: 3,
        method: "session/prompt",
        params: { sessionId: "SESSION", prompt: [{ type: "text", text: "hello" }] },
      },
    ])
  },
  "another agent, over A2A": async (tmp, llm) => {
    await using child = start(tmp, llm, ["a2a", "serve", "--port", "0"])
    const [, url, tokenFile] = /on (http:\S+) \(token in (.+)\)$/.exec(await child.line(/listening/))!
    const headers = {
      authorization: `Bearer ${readFileSync(tokenFile!, "utf8").trim()}`,
      "content-type": "application/json",
      "a2a-version": "1.0",
    }
    const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "hello" }] }
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } })
    return withLog(child, await (await fetch(url!, { method: "POST", headers, body })).text(), llm)
  },
  "an MCP client": async (tmp, llm) => {
    await using child = start(tmp, llm, ["mcp", "serve"])
    const clientInfo = { name: "test", version: "1" }
    return await ask(child, [
      {
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
      },
      { method: "notifications/initialized", params: {} },
      { id: 3, method: "tools/call", params: { name: "run", arguments: { prompt: "hello" } } },
    ])
  },
}

for (const [way, prompt] of Object.entries(ways))
  test(`a prompt of ${way} ends in Agent.process`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm(() => text("The model was asked."))
    const seen = await prompt(tmp, llm)
    assert.equal(llm.requests.length, 0, seen)
    assert.match(seen, closed)
  })

test("no edge calls the engine's own prompt functions", () => {
  const folder = fileURLToPath(new URL("../../../src/edge", import.meta.url))
  const direct = /\bSession\.(prompt|accept)\b(?!s)|engine\/turn\/prompt\.ts/
  const found = globSync(`${folder}/**/*.ts`).filter((file) => direct.test(readFileSync(file, "utf8")))
  // The guest of a sandbox runs inside what `Agent.process` of its host hands to it.
  assert.deepEqual(found, [`${folder}/sandbox/guest/guest.ts`])
})
