// Adapters of a person's own that hang or fail after they were loaded, through the built command.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { test } from "node:test"
import { serving, startVitamin, vitamin } from "../../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { socketClient } from "../../acp/socket-harness.ts"

/** The code of an adapter that gives an agent with these functions. */
function agentWith({
  process = "(input) => agent.process(input)",
  start = "() => agent.start()",
  stop = "() => agent.stop()",
}): string {
  return `import { appendFileSync, writeFileSync } from "node:fs"
const note = (what) => appendFileSync("notes", what + "\\n")
export default { name: "faulty", wrap: (agent) => ({
  directory: agent.directory,
  process: ${process},
  start: ${start},
  stop: ${stop},
  capabilities: () => agent.capabilities(),
  get mcp() { return agent.mcp },
}) }\n`
}
const never = "new Promise(() => {})"
const processing = (answer: string) =>
  `() => { note("asked"); return { answer: ${answer}, accept: ${answer}, async *[Symbol.asyncIterator]() {} } }`

test("session/cancel and session/close end a prompt that an adapter never answers", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.ts", agentWith({ process: processing(`() => ${never}`) }))
  const server = await serving(tmp, ["--trust", "--adapter", "a.ts"])
  await using _ = server.child
  await using acp = await socketClient(server)
  const asked = (times: number) =>
    until(() => readFileSync(`${tmp.path}/notes`, "utf8") === "asked\n".repeat(times), "the adapter is asked")
  tmp.write("notes", "")
  const { sessionId } = await acp.open(tmp.path)
  const first = acp.prompt(sessionId, "hi")
  await asked(1)
  await acp.agent.notify("session/cancel", { sessionId })
  assert.deepEqual(await first, { stopReason: "cancelled" })
  const second = acp.prompt(sessionId, "hi")
  await asked(2)
  await acp.agent.request("session/close", { sessionId })
  assert.deepEqual(await second, { stopReason: "cancelled" })
})

for (const prefer of ["respond-sync", "respond-async"])
  test(`POST abort ends a prompt that an adapter never answers, and the next one works (${prefer})`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([text("Hello.")])
    const hang = processing(`() => ${never}`).replace("() => {", "(input) => {")
    tmp.write(
      "a.ts",
      agentWith({
        process: hang.replace("note(", "if (input.text === 'go on') return agent.process(input); note("),
      }),
    )
    tmp.write("notes", "")
    const server = await serving(tmp, ["--trust", "--adapter", "a.ts"], env(llm, "chat").variables)
    await using _ = server.child
    const token = readFileSync(server.tokenFile, "utf8").trim()
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", prefer }
    const api = async (method: string, path: string, body?: object) => {
      const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
      const response = await fetch(server.url + path, init)
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    const { id } = (await api("POST", "/session", {})).body
    assert.deepEqual((await api("POST", `/session/${id}/abort`)).body, { aborted: false })
    const prompt = api("POST", `/session/${id}/message`, { text: "hi" })
    await until(() => readFileSync(`${tmp.path}/notes`, "utf8") === "asked\n", "the adapter is asked")
    assert.deepEqual((await api("POST", `/session/${id}/abort`)).body, { aborted: true })
    const { status, body } = await prompt
    assert.equal(status, 409, JSON.stringify(body))
    assert.match(JSON.stringify(body), /was interrupted: it was aborted/)
    assert.equal((await api("GET", `/session/${id}`)).body.status, "idle")
    assert.deepEqual((await api("POST", `/session/${id}/abort`)).body, { aborted: false })
    const next = await api("POST", `/session/${id}/message`, { text: "go on" })
    assert.equal(next.status, prefer === "respond-async" ? 202 : 200, JSON.stringify(next.body))
    await until(() => llm.requests.length === 1, "the model is asked")
  })

const faults: Record<string, [process: string, reason: RegExp]> = {
  "throws in process()": ['() => { throw new Error("no room") }', /The adapter "faulty" failed: no room/],
  "rejects its answer": [
    processing('async () => { throw new Error("no room") }'),
    /The adapter "faulty" failed: no room/,
  ],
  "answers with nothing": [
    processing("async () => undefined"),
    /The adapter "faulty" is wrong: it gave no message/,
  ],
}
for (const [what, [process, reason]] of Object.entries(faults))
  test(`an adapter that ${what} is named in the error, over HTTP and ACP, and the server goes on`, async () => {
    await using tmp = await tmpdir({ git: true })
    tmp.write("a.ts", agentWith({ process }))
    const server = await serving(tmp, ["--trust", "--adapter", "a.ts"])
    await using _ = server.child
    await using acp = await socketClient(server)
    const { sessionId } = await acp.open(tmp.path)
    await assert.rejects(acp.prompt(sessionId, "hi"), reason)
    const token = readFileSync(server.tokenFile, "utf8").trim()
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const body = JSON.stringify({ text: "hi" })
    for (const prefer of [{}, { prefer: "respond-async" }] as Record<string, string>[]) {
      const response = await fetch(`${server.url}/session/${sessionId}/message`, {
        method: "POST",
        headers: { ...headers, ...prefer },
        body,
      })
      const { error } = (await response.json()) as { error: { message: string } }
      assert.equal(response.status, 500)
      assert.match(error.message, reason)
    }
    await acp.agent.request("session/close", { sessionId })
  })

test("errors of the agent itself pass through an adapter unchanged", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.ts", agentWith({}))
  const server = await serving(tmp, ["--trust", "--adapter", "a.ts"], { VITAMIN_MODEL: "openai/gpt-5" })
  await using _ = server.child
  await using acp = await socketClient(server)
  const { sessionId } = await acp.open(tmp.path)
  await assert.rejects(acp.prompt(sessionId, "hi"), { code: -32000 })
})

test("an adapter whose agent never starts stops the command with the reason", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.ts", agentWith({ start: `() => ${never}` }))
  const { code, err } = await vitamin(tmp, ["serve", "--port", "0", "--trust", "--adapter", "a.ts"])
  assert.equal(code, 1, err)
  assert.match(err, /The adapter "faulty" has not started its agent within \d+ s/)
})

const server = (functions: string) => `import { writeFileSync } from "node:fs"
import { createServer } from "node:net"
const listening = () => new Promise((done) => createServer().listen(0, "127.0.0.1", done)).then(note)
const note = () => writeFileSync("begun", "")
export default { name: "faulty", wrap: () => ({ ${functions} }) }\n`
const hanging: Record<string, string> = {
  "server hangs in start()": server(`start() { note(); return ${never} }, async stop() {}`),
  "server hangs in stop()": server(`start: listening, stop: () => ${never}`),
  "agent hangs in stop()": agentWith({
    start: '() => agent.start().then(() => writeFileSync("begun", ""))',
    stop: `() => { setInterval(() => {}, 1000); return ${never} }`,
  }),
}
for (const [what, code] of Object.entries(hanging))
  test(`one signal ends the command of an adapter whose ${what}`, async () => {
    await using tmp = await tmpdir({ git: true })
    tmp.write("a.ts", code)
    await using child = startVitamin(tmp, ["serve", "--port", "0", "--trust", "--adapter", "a.ts"])
    await until(() => existsSync(`${tmp.path}/begun`), "the server begins")
    if (what.startsWith("agent")) await child.line(/listening/)
    child.process.kill("SIGTERM")
    assert.equal(await child.exit, 143)
  })
