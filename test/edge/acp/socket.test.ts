// The Agent Client Protocol over the WebSocket of `vitamin serve`, behind its token.
import assert from "node:assert/strict"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { running, uniqueNap } from "../../ability/shell/running.ts"
import { serving, vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { raw, status } from "../server/harness.ts"
import { handshake, socketClient, socketUrl, tokenOf } from "./socket-harness.ts"

test("a session, a question and an answer work over a WebSocket, and the session is the server's too", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "written\n" }), text("Done.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  await using acp = await socketClient(server)
  const { sessionId } = await acp.open(tmp.path)
  assert.deepEqual(await acp.prompt(sessionId, "write it"), { stopReason: "end_turn" })
  assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "written\n")
  assert.deepEqual([acp.permissions.length, acp.text()], [1, "Done."])
  const headers = { authorization: `Bearer ${tokenOf(server)}` }
  const listed = (await (await fetch(`${server.url}/session`, { headers })).json()) as { id: string }[]
  assert.deepEqual(
    listed.map(({ id }) => id),
    [sessionId],
  )
})

test("a WebSocket needs the token, an accepted Host and no foreign Origin", async () => {
  await using tmp = await tmpdir()
  const server = await serving(tmp)
  await using _ = server.child
  const port = Number(new URL(server.url).port)
  const token = tokenOf(server)
  const [bearer, cookie] = [{ Authorization: `Bearer ${token}` }, { Cookie: `vitamin_token=${token}` }]
  const asked: [name: string, headers: Record<string, string>, status: number, path?: string][] = [
    ["no token", {}, 401],
    ["a wrong token", { Authorization: "Bearer wrong" }, 401],
    ["a wrong cookie", { Cookie: "vitamin_token=wrong" }, 401],
    ["the token", bearer, 101],
    ["the cookie", cookie, 101],
    ["the cookie and the server's Origin", { ...cookie, Origin: server.url }, 101],
    ["the cookie and a foreign Origin", { ...cookie, Origin: "https://evil.example" }, 403],
    ["the cookie and no Origin of a page", { ...cookie, Origin: "null" }, 403],
    ["the cookie from another site", { ...cookie, "Sec-Fetch-Site": "cross-site" }, 403],
    ["the token and a foreign Host", { ...bearer, Host: "evil.example" }, 421],
    ["the token in the address", {}, 401, `/acp?token=${token}`],
    ["the token at another path", bearer, 404, "/other"],
    ["no key", { ...bearer, "Sec-WebSocket-Key": "" }, 400],
  ]
  for (const [name, headers, expected, path] of asked)
    assert.equal(status(await raw(port, handshake(port, headers, path))), expected, name)
})

test("requests that are no WebSocket get their usual answers", async () => {
  await using tmp = await tmpdir()
  const server = await serving(tmp)
  await using _ = server.child
  const port = Number(new URL(server.url).port)
  const headers = { authorization: `Bearer ${tokenOf(server)}` }
  assert.equal((await fetch(`${server.url}/acp`, { headers })).status, 426)
  assert.equal((await fetch(`${server.url}/acp`)).status, 401)
  // As curl asks for HTTP/2.
  const other =
    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n"
  assert.equal(
    status(await raw(port, `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${other}\r\n`)),
    200,
  )
})

test("invalid messages are answered, and a binary or too large one ends only its own connection", async () => {
  await using tmp = await tmpdir()
  const server = await serving(tmp)
  await using _ = server.child
  const headers = { authorization: `Bearer ${tokenOf(server)}` }
  const open = async () => {
    const socket = new WebSocket(socketUrl(server), { headers } as never)
    await once(socket, "open")
    return socket
  }
  const answer = async (socket: WebSocket, sent: string) => {
    const answered = once(socket, "message")
    socket.send(sent)
    const [{ data }] = await answered
    return JSON.parse(data)
  }
  const socket = await open()
  assert.equal((await answer(socket, "{oops")).error.code, -32700)
  assert.equal((await answer(socket, "[]")).error.code, -32600)
  const early = { jsonrpc: "2.0", id: 1, method: "session/list", params: {} }
  assert.equal((await answer(socket, JSON.stringify(early))).error.code, -32600)
  const hello = { jsonrpc: "2.0", id: 2, method: "initialize", params: { protocolVersion: 1 } }
  assert.equal((await answer(socket, JSON.stringify(hello, null, 2))).result.protocolVersion, 1)
  const binary = await open()
  binary.send(Buffer.from("{}"))
  assert.equal((await once(binary, "close"))[0].code, 1003)
  const large = await open()
  large.send("x".repeat((64 << 20) + 1))
  assert.equal((await once(large, "close"))[0].code, 1009)
  assert.deepEqual((await answer(socket, JSON.stringify({ ...early, id: 3 }))).result, { sessions: [] })
  socket.close()
})

test("connections are apart, and one that closes stops its own turns", async () => {
  await using tmp = await tmpdir({ git: true })
  const nap = uniqueNap()
  await using llm = await fakeLlm(({ messages }) =>
    /sleep/.test(messages.findLast(({ role }) => role === "user")!.text)
      ? call("bash", { command: `sleep ${nap}` })
      : text("Still here."),
  )
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  await using other = await socketClient(server)
  const mine = await socketClient(server)
  const { sessionId } = await mine.open(tmp.path)
  await assert.rejects(other.prompt(sessionId, "hello"), { code: -32002 })
  mine.prompt(sessionId, "sleep").catch(() => {})
  await until(() => running(nap).length, "the command runs")
  mine.close()
  await until(() => running(nap).length === 0, "the command is gone")
  const { sessionId: second } = await other.open(tmp.path)
  assert.deepEqual(await other.prompt(second, "hello"), { stopReason: "end_turn" })
  assert.deepEqual(
    other.updates.filter((update) => update.sessionId === sessionId),
    [],
  )
})

test("a connection that is lost during a question leaves no question and no busy session", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "x" }), text("Back.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const mine = await socketClient(server, { permit: () => new Promise(() => {}) })
  const { sessionId } = await mine.open(tmp.path)
  mine.prompt(sessionId, "write it").catch(() => {})
  await until(() => mine.permissions.length, "the person is asked")
  const headers = { authorization: `Bearer ${tokenOf(server)}` }
  const get = async (path: string) => (await fetch(server.url + path, { headers })).json()
  assert.equal(((await get("/permission/pending")) as unknown[]).length, 1)
  mine.close()
  await until(
    async () => ((await get("/permission/pending")) as unknown[]).length === 0,
    "the question is gone",
  )
  await until(
    async () => ((await get(`/session/${sessionId}`)) as { status: string }).status === "interrupted",
    "it is over",
  )
  await using other = await socketClient(server)
  await other.agent.request("session/resume", { sessionId, cwd: tmp.path })
  assert.deepEqual(await other.prompt(sessionId, "go on"), { stopReason: "end_turn" })
})

test("prompts over a WebSocket go to the agent that an adapter gives", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Hello.")])
  tmp.write(
    "shout.ts",
    `export default {
      name: "shout",
      wrap: (agent: any) => ({
        directory: agent.directory,
        process: (input: any) =>
          agent.process({ ...input, parts: [{ type: "text", text: input.parts[0].text.toUpperCase() }] }),
        capabilities: () => agent.capabilities(),
        get mcp() { return agent.mcp },
        start: () => agent.start(),
        stop: () => agent.stop(),
      }),
    }\n`,
  )
  await vitamin(tmp, ["trust", "--yes", "--file", "shout.ts"])
  const server = await serving(tmp, ["--adapter=./shout.ts"], env(llm, "chat").variables)
  await using _ = server.child
  await using acp = await socketClient(server)
  const { sessionId } = await acp.open(tmp.path)
  assert.deepEqual(await acp.prompt(sessionId, "hello"), { stopReason: "end_turn" })
  assert.equal(llm.requests[0]!.messages.at(-1)!.text, "HELLO")
})

test("the server ends its connections and their work when it stops", async () => {
  await using tmp = await tmpdir({ git: true })
  const nap = uniqueNap()
  await using llm = await fakeLlm([call("bash", { command: `sleep ${nap}` })])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using child = server.child
  await using acp = await socketClient(server)
  const { sessionId } = await acp.open(tmp.path)
  const answer = acp.prompt(sessionId, "sleep").catch(() => ({ stopReason: "cancelled" }))
  await until(() => running(nap).length, "the command runs")
  child.process.kill("SIGTERM")
  assert.equal((await answer).stopReason, "cancelled")
  assert.equal(await child.exit, 143)
  await acp.closed
  assert.deepEqual(running(nap), [])
})
