import assert from "node:assert/strict"
import { PassThrough, Readable, Writable } from "node:stream"
import { test } from "node:test"
import { client, methods, ndJsonStream, type SessionUpdate } from "@agentclientprotocol/sdk"
import { type ACPConfig, acpAdapter } from "#edge/adapter/acp-adapter.ts"
import { type Agent, type AgentConfig, type AgentInput, createAgent } from "#engine/host/create-agent.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { everything } from "../../fixture/mcp/servers.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { textOf } from "../acp/harness.ts"

const on = methods.agent

/** An agent around another one, which asks for something else and records what it was asked. */
function around(agent: Agent): Agent & { inputs: AgentInput[] } {
  const inputs: AgentInput[] = []
  return {
    inputs,
    directory: agent.directory,
    process(input) {
      inputs.push(input)
      return agent.process({ ...input, parts: [{ type: "text", text: "asked through the adapter" }] })
    },
    capabilities: agent.capabilities,
    get mcp() {
      return agent.mcp
    },
    start: agent.start,
    stop: agent.stop,
  }
}

/** An agent behind `acpAdapter`, and the SDK's client at the other end of two streams. */
async function connected(
  tmp: Tmp,
  options: { wrap?: (agent: Agent) => Agent; agent?: Partial<AgentConfig>; config?: Partial<ACPConfig> } = {},
) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const inner = await createAgent({ ...options.agent, directory: tmp.path })
  const agent = options.wrap?.(inner) ?? inner
  const server = acpAdapter.wrap(agent, { transport: "stdio", input, output, ...options.config })
  await server.start()
  const updates: SessionUpdate[] = []
  let asked = 0
  const connection = client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      asked++
      const { optionId } = params.options.find(({ kind }) => kind === "allow_once")!
      return { outcome: { outcome: "selected" as const, optionId } }
    })
    .connect(ndJsonStream(Writable.toWeb(input), Readable.toWeb(output) as ReadableStream<Uint8Array>))
  await connection.agent.request(on.initialize, { protocolVersion: 1, clientCapabilities: {} })
  const open = (cwd = tmp.path) => connection.agent.request(on.session.new, { cwd, mcpServers: [] })
  const prompt = async (words: string) => {
    const { sessionId } = await open()
    return connection.agent.request(on.session.prompt, { sessionId, prompt: [{ type: "text", text: words }] })
  }
  return {
    server,
    open,
    prompt,
    asked: () => asked,
    text: () => textOf(updates),
    leave: () => void input.end(),
    [Symbol.asyncDispose]: () => server.stop(),
  }
}

async function withModel(script: Parameters<typeof fakeLlm>[0]) {
  const llm = await fakeLlm(script)
  const { variables } = env(llm, "chat")
  const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]))
  Object.assign(process.env, variables)
  return {
    llm,
    async [Symbol.asyncDispose]() {
      for (const [name, value] of Object.entries(before))
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      await llm[Symbol.asyncDispose]()
    },
  }
}

test("acpAdapter serves an agent to a client of the protocol, and ends when the client leaves", async () => {
  await using tmp = await tmpdir({ git: true })
  await using _ = await withModel(() => text("Hello."))
  await using t = await connected(tmp)
  assert.equal(acpAdapter.name, "acp")
  assert.equal((await t.prompt("hi")).stopReason, "end_turn")
  assert.equal(t.text(), "Hello.")
  assert.equal(t.server.url, undefined)
  t.leave()
  await t.server.ended
})

test("prompts over ACP go through the agent that acpAdapter was given", async () => {
  await using tmp = await tmpdir({ git: true })
  await using model = await withModel(() => text("Hello."))
  let outer: ReturnType<typeof around> | undefined
  await using t = await connected(tmp, {
    wrap: (agent) => {
      outer = around(agent)
      return outer
    },
  })
  await t.prompt("turnip")
  assert.equal(outer!.inputs.length, 1)
  assert.match(model.llm.requests[0]!.raw, /asked through the adapter/)
  assert.doesNotMatch(model.llm.requests[0]!.raw, /turnip/)
})

test("the settings of the agent hold: questions go to the client only if the agent lets them", async () => {
  const script = [call("bash", { command: "echo $((6 * 7))" }), text("Done.")]
  const settings: [agent: Partial<AgentConfig>, asked: number, seen: RegExp][] = [
    [{}, 1, /42/],
    [{ asks: "once" }, 0, /42/],
    [{ asks: "deny" }, 0, /nobody can be asked|needs a person/],
    [{ rules: [{ permission: "bash.execute", pattern: "*", action: "deny" }] }, 0, /denied by the rule/],
  ]
  for (const [agent, asked, seen] of settings) {
    await using tmp = await tmpdir({ git: true })
    await using model = await withModel(script)
    await using t = await connected(tmp, { agent })
    await t.prompt("go")
    assert.equal(t.asked(), asked, JSON.stringify(agent))
    assert.match(model.llm.requests[1]!.raw, seen)
  }
})

test("a session in another folder than the agent's is refused", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("other/a.txt", "a")
  await using t = await connected(tmp)
  await assert.rejects(t.open(`${tmp.path}/other`), { code: -32602, message: /does nothing in .*other/ })
})

test("mcpServers of the configuration serve every session", async () => {
  await using tmp = await tmpdir({ git: true })
  const { id } = everything()
  await using model = await withModel([call(`${id}_echo`, { message: "hello from afar" }), text("Done.")])
  await using t = await connected(tmp, { config: { mcpServers: [everything()] } })
  await t.prompt("echo")
  assert.equal(t.asked(), 1)
  assert.match(model.llm.requests[1]!.raw, /Echo: hello from afar/)
})

test("stop() interrupts a running prompt, and can be called twice", async () => {
  await using tmp = await tmpdir({ git: true })
  await using model = await withModel(() => text("slowly ".repeat(200), { deltas: 200, delay: 50 }))
  await using t = await connected(tmp)
  const answered = t.prompt("go")
  while (!model.llm.requests.length) await new Promise((resolve) => setTimeout(resolve, 10))
  await t.server.stop()
  assert.equal((await answered).stopReason, "cancelled")
  await t.server.stop()
  await t.server.ended
})
