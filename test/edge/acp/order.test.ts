// Requests of a client run in the order in which they were sent, even if it writes them at once without waiting
// for responses: a prompt sees the options that were set before it, and no later ones.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, fakeLlm, type Script, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { type Acp, choose, on, withSession } from "./harness.ts"

type Said = [method: string, params?: object]
type Session = Acp & { sessionId: string }

/** A model that writes the file named in the prompt. */
const writer: Script = ({ messages }) => {
  const last = messages.at(-1)!
  if (last.role !== "user") return text("Done.")
  return call("write", { path: `${/write (\w+)/.exec(last.text)![1]}.txt`, content: "x" })
}
const prompt = (words: string): Said => [on.session.prompt, { prompt: [{ type: "text", text: words }] }]
const option = (configId: string, value: string): Said => [on.session.setConfigOption, { configId, value }]
const mode = (modeId: string): Said => [on.session.setMode, { modeId }]
const cancel: Said = [on.session.cancel]

let count = 0

/** Writes all messages at once; returns the response to each request. */
async function say({ write, line, sessionId }: Session, ...all: Said[]) {
  const messages = all.map(([method, params]) => ({
    jsonrpc: "2.0",
    ...(method === on.session.cancel ? {} : { id: `said-${++count}-` }),
    method,
    params: { sessionId, ...params },
  }))
  write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""))
  const asked = messages.flatMap(({ id }) => (id ? [id] : []))
  return Promise.all(asked.map(async (id) => JSON.parse(await line(new RegExp(`"id":"${id}"`)))))
}

/** A session whose first turn waits for a permission until `allow` is called. */
async function working(tmp: Awaited<ReturnType<typeof tmpdir>>, llm: Awaited<ReturnType<typeof fakeLlm>>) {
  const { promise: allowed, resolve: allow } = Promise.withResolvers<void>()
  const permit: ReturnType<typeof choose> = async (request) => {
    await allowed
    return choose("allow_once")(request)
  }
  const acp = await withSession(tmp, { llm, permit })
  const first = acp.prompt("write first")
  await until(() => acp.permissions.length, "the person is asked")
  return Object.assign(acp, { first, allow })
}

const optionChanges: [name: string, said: Said[]][] = [
  ["a mode", [mode("plan")]],
  ["a mode and a cancellation", [mode("plan"), cancel]],
  ["an agent", [option("agent", "plan")]],
  ["a mode twice", [option("mode", "act"), option("mode", "plan")]],
  ["a mode, and a prompt that is cancelled", [mode("plan"), prompt("write none"), cancel]],
]
for (const [name, said] of optionChanges) {
  test(`${name} sent together with a prompt applies to that prompt`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm(writer)
    await using acp = await withSession(tmp, { llm, permit: choose("allow_once") })
    const answers = await say(acp, ...said, prompt("write it"))
    assert.deepEqual(answers.at(-1).result, { stopReason: "end_turn" })
    assert.equal(existsSync(join(tmp.path, "it.txt")), false)
    assert.deepEqual([acp.permissions, acp.text()], [[], "Done."])
  })

  test(`${name} sent while a turn runs applies to the next prompt`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm(writer)
    await using acp = await working(tmp, llm)
    const answers = say(acp, ...said, prompt("write it"))
    acp.allow()
    await acp.first
    assert.deepEqual((await answers).at(-1).result, { stopReason: "end_turn" })
    assert.equal(existsSync(join(tmp.path, "it.txt")), false)
    assert.equal(acp.permissions.length, 1)
  })
}

test("a mode that is set after a prompt applies from the next prompt on", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(writer)
  await using acp = await withSession(tmp, { llm, permit: choose("allow_once") })
  await say(acp, prompt("write one"), mode("plan"), prompt("write two"), mode("act"), prompt("write three"))
  assert.deepEqual(
    ["one", "two", "three"].map((name) => existsSync(join(tmp.path, `${name}.txt`))),
    [true, false, true],
  )
})

test("an agent and a model that are set after a prompt do not apply to that prompt", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("One."), text("Two.")])
  await using acp = await withSession(tmp, { llm })
  const later = [option("model", "openai/gpt-4.1"), option("agent", "plan")]
  await say(acp, prompt("one"), ...later, prompt("two"))
  assert.deepEqual(
    llm.requests.map(({ model }) => model),
    ["fake-model", "gpt-4.1"],
  )
  assert.notEqual(llm.requests[0]!.system, llm.requests[1]!.system)
})

test("an invalid option changes nothing for the next prompt", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(writer)
  await using acp = await withSession(tmp, { llm, permit: choose("allow_once") })
  const [model, set, answer] = await say(acp, option("model", "nope/none"), mode("act"), prompt("write it"))
  assert.equal(model.error.code, -32602)
  assert.deepEqual([set.result, answer.result], [{}, { stopReason: "end_turn" }])
  assert.equal(existsSync(join(tmp.path, "it.txt")), true)
})

test("session/close right after a prompt cancels it", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([])
  await using acp = await withSession(tmp, { llm })
  const [answer, closed] = await say(acp, prompt("speak"), [on.session.close])
  assert.deepEqual([answer.result, closed.result], [{ stopReason: "cancelled" }, {}])
  assert.deepEqual(llm.requests, [])
})

test("session/load, a prompt and session/close in one write run in order", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("Hello.")])
  await using acp = await withSession(tmp, { llm })
  const opening = { cwd: tmp.path, mcpServers: [] }
  await acp.agent.request(on.session.close, { sessionId: acp.sessionId })
  const [loaded, answer] = await say(acp, [on.session.load, opening], prompt("hello"))
  assert.equal(loaded.result.modes.currentModeId, "act")
  assert.deepEqual(answer.result, { stopReason: "end_turn" })
  await acp.agent.request(on.session.close, { sessionId: acp.sessionId })
  const [, closed] = await say(acp, [on.session.load, opening], [on.session.close])
  assert.deepEqual(closed.result, {})
  await assert.rejects(acp.prompt("again"), { code: -32002 })
})
