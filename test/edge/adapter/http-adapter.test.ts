import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { test } from "node:test"
import { httpAdapter } from "#edge/adapter/http-adapter.ts"
import { type Agent, type AgentConfig, type AgentInput, createAgent } from "#engine/host/create-agent.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

type Body = { id: string; data: { parts: { text: string }[] }; error: { message: string } }

/** An agent around another one that records the prompts. */
function recording(agent: Agent): Agent & { inputs: AgentInput[]; stops: number } {
  const inputs: AgentInput[] = []
  return {
    inputs,
    stops: 0,
    directory: agent.directory,
    process(input) {
      inputs.push(input)
      return agent.process({ ...input, text: "asked through the adapter", parts: undefined } as AgentInput)
    },
    capabilities: agent.capabilities,
    get mcp() {
      return agent.mcp
    },
    start: agent.start,
    stop() {
      this.stops++
      return agent.stop()
    },
  }
}

async function served(tmp: Tmp, wrap = (agent: Agent) => agent, config: Partial<AgentConfig> = {}) {
  const agent = wrap(await createAgent({ directory: tmp.path, ...config }))
  const server = httpAdapter.wrap(agent, { port: 0 })
  await server.start()
  const { url, tokenFile } = server
  const headers = {
    authorization: `Bearer ${readFileSync(tokenFile!, "utf8").trim()}`,
    "content-type": "application/json",
  }
  const post = async (path: string, body: object, more: Record<string, string> = {}) => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { ...headers, ...more },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as Body }
  }
  return { server, agent, url: url!, headers, post, [Symbol.asyncDispose]: () => server.stop() }
}

function useModel(url: string): Disposable {
  const { variables } = env({ url }, "chat")
  const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]))
  Object.assign(process.env, variables)
  return {
    [Symbol.dispose]() {
      for (const [name, value] of Object.entries(before))
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
    },
  }
}

test("httpAdapter serves an agent over the routes of vitamin serve, behind the token", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Hello."))
  using _ = useModel(llm.url)
  await using t = await served(tmp)
  assert.equal(httpAdapter.name, "http")
  assert.equal((await fetch(`${t.url}/session`)).status, 401)
  const { body: session } = await t.post("/session", {})
  const { status, body } = await t.post(`/session/${session.id}/message`, { text: "hi" })
  assert.deepEqual([status, body.data.parts[0]!.text], [200, "Hello."])
  const listed = (await (await fetch(`${t.url}/session`, { headers: t.headers })).json()) as Body[]
  assert.deepEqual(
    listed.map(({ id }) => id),
    [session.id],
  )
  const { url } = t
  await t.server.stop()
  assert.equal(t.server.url, undefined)
  await assert.rejects(fetch(`${url}/health`))
})

test("prompts over HTTP go through the agent that httpAdapter was given, sent and accepted ones", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Hello."))
  using _ = useModel(llm.url)
  let wrapped: ReturnType<typeof recording> | undefined
  await using t = await served(tmp, (agent) => {
    wrapped = recording(agent)
    return wrapped
  })
  const { body: session } = await t.post("/session", {})
  await t.post(`/session/${session.id}/message`, { text: "turnip" })
  const accepted = await t.post(
    `/session/${session.id}/message`,
    { text: "second" },
    { prefer: "respond-async" },
  )
  assert.equal(accepted.status, 202)
  assert.deepEqual(
    wrapped!.inputs.map(({ text }) => text),
    ["turnip", "second"],
  )
  assert.match(llm.requests[0]!.raw, /asked through the adapter/)
  assert.doesNotMatch(llm.requests[0]!.raw, /turnip/)
  await t.server.stop()
  assert.equal(wrapped!.stops, 1)
})

test("the agent's own `asks` holds for prompts over HTTP that have none", async () => {
  const settings: [agent: Partial<AgentConfig>, prompt: object, seen: RegExp][] = [
    [{ asks: "deny" }, {}, /nobody can be asked|needs a person/],
    [{ asks: "once" }, {}, /42/],
    [{ asks: "once" }, { asks: "deny" }, /nobody can be asked|needs a person/],
  ]
  for (const [config, prompt, seen] of settings) {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([call("bash", { command: "echo $((6 * 7))" }), text("Done.")])
    using _ = useModel(llm.url)
    await using t = await served(tmp, undefined, config)
    const { body: session } = await t.post("/session", {})
    await t.post(`/session/${session.id}/message`, { text: "go", ...prompt })
    assert.match(llm.requests[1]!.raw, seen)
  }
})

test("a prompt for another folder is refused", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("other/a.txt", "a")
  await using llm = await fakeLlm(() => text("Hello."))
  using _ = useModel(llm.url)
  await using t = await served(tmp)
  const elsewhere = { "x-vitamin-directory": `${tmp.path}/other` }
  const { body: session } = await t.post("/session", {}, elsewhere)
  const { status, body } = await t.post(`/session/${session.id}/message`, { text: "hi" }, elsewhere)
  assert.equal(status, 400)
  assert.match(body.error.message, /The agent works in .*project; it does nothing in .*other/)
  assert.equal(llm.requests.length, 0)
})

test("start() of a server whose port is in use says so, and can be tried again", async () => {
  await using tmp = await tmpdir()
  const other = createServer().listen(0, "127.0.0.1")
  await new Promise((resolve) => other.once("listening", resolve))
  const { port } = other.address() as { port: number }
  const server = httpAdapter.wrap(await createAgent({ directory: tmp.path }), { port })
  await assert.rejects(server.start(), /Port \d+ on 127\.0\.0\.1 is in use/)
  await new Promise((resolve) => other.close(resolve))
  await server.start()
  assert.equal(server.url, `http://127.0.0.1:${port}`)
  await server.stop()
})
