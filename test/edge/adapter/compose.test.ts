// Adapters around adapters, as in `acpAdapter.wrap(inner.wrap(agent, …), { transport: "http", port })`, with a real client.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { acpAdapter } from "#edge/adapter/acp-adapter.ts"
import { sandboxAdapter } from "#edge/sandbox/sandbox-adapter.ts"
import type { AgentAdapter } from "#engine/host/agent-adapter.ts"
import { type Agent, createAgent } from "#engine/host/create-agent.ts"
import { call, env, type FakeLlm, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { socketClient } from "../acp/socket-harness.ts"
import { resultsIn } from "../sandbox/harness.ts"

/** Puts words in front of every prompt. */
const polite: AgentAdapter<{ words: string }, Agent> = {
  name: "polite",
  wrap: (agent, { words }) => ({
    directory: agent.directory,
    process: (input) =>
      agent.process({ ...input, parts: [{ type: "text", text: words }, ...(input.parts ?? [])] }),
    capabilities: agent.capabilities,
    get mcp() {
      return agent.mcp
    },
    start: agent.start,
    stop: agent.stop,
  }),
}

/** Serves an agent over ACP, and gives the SDK's client of its WebSocket. */
async function served(agent: Agent) {
  const server = acpAdapter.wrap(agent, { transport: "http", port: 0 })
  assert.equal(server.url, undefined)
  await server.start()
  assert.match(server.url!, /^ws:\/\/127\.0\.0\.1:\d+\/acp$/)
  const url = server.url!.replace(/^ws(.*)\/acp$/, "http$1")
  const client = await socketClient({ url, tokenFile: server.tokenFile! })
  return { server, client, url }
}

function useModel(llm: FakeLlm): Disposable {
  const { variables } = env(llm, "chat")
  Object.assign(process.env, variables)
  return {
    [Symbol.dispose]() {
      for (const name of Object.keys(variables)) delete process.env[name]
    },
  }
}

test("an agent inside two adapters works for a client of ACP over a WebSocket: prompts, tools and questions", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "written\n" }), text("Done.")])
  using _ = useModel(llm)
  const agent = await createAgent({ directory: tmp.path })
  const inner = polite.wrap(polite.wrap(agent, { words: "Thank you." }), { words: "Please." })
  const { server, client, url } = await served(inner)
  assert.equal((await fetch(`${url}/info`)).status, 401, "nothing is open without the token")
  {
    await using _ = client
    const { sessionId } = await client.open(tmp.path)
    assert.equal((await client.prompt(sessionId, "Write a file.")).stopReason, "end_turn")
    assert.equal(client.permissions.length, 1)
    assert.equal(client.text(), "Done.")
    assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "written\n")
    await assert.rejects(client.open("/"), /does nothing in \//)
  }
  const [user] = llm.requests[0]!.messages.filter(({ role }) => role === "user")
  assert.match(JSON.stringify(user), /Thank you\..*Please\..*Write a file\./)
  await server.stop()
  await server.ended
  await assert.rejects(fetch(`${url}/health`))
})

test("acpAdapter serves an agent that sandboxAdapter has put into a sandbox", async () => {
  await using tmp = await tmpdir({ git: true })
  const outside = join(dirname(tmp.path), "outside.txt")
  const command = `cat /proc/1/comm; touch output/inside.txt; touch ${outside}; touch top.txt`
  await using llm = await fakeLlm([call("bash", { command }), text("Done.")])
  using _ = useModel(llm)
  tmp.write("output/.keep", "")
  const agent = await createAgent({ directory: tmp.path })
  const sandboxed = sandboxAdapter.wrap(agent, {
    enabled: true,
    security: { allowWrite: ["./output"], denyRead: ["~/.ssh", "~/.aws", ".env"], allowedDomains: [] },
  })
  const { server, client } = await served(sandboxed)
  assert.equal(sandboxed.sandboxStatus().isolated, true)
  {
    await using _ = client
    const { sessionId } = await client.open(tmp.path)
    await client.prompt(sessionId, "go")
    assert.equal(client.text(), "Done.")
  }
  const [result] = resultsIn(llm)
  assert.match(result!, /^bwrap/, "the command ran below the sandbox")
  assert.deepEqual(
    [join(tmp.path, "output/inside.txt"), join(tmp.path, "top.txt"), outside].map((path) => existsSync(path)),
    [true, false, false],
  )
  await server.stop()
})
