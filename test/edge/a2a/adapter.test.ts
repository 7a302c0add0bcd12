// `a2aAdapter` for programs that embed vitamin.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { a2aAdapter } from "#edge/a2a/a2a-adapter.ts"
import { type Agent, createAgent } from "#engine/host/create-agent.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { type Wire, wire } from "./harness.ts"

test("a2aAdapter.wrap() gives a peer that serves the agent from start to stop, and starts again", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Hello."))
  Object.assign(process.env, env(llm, "chat").variables)
  assert.equal(a2aAdapter.name, "a2a")
  const peer = a2aAdapter.wrap(await createAgent({ directory: tmp.path }), {})
  assert.equal(peer.url, undefined)
  const sent = async () => {
    await peer.start()
    const headers = { ...wire, authorization: `Bearer ${readFileSync(peer.tokenFile!, "utf8").trim()}` }
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] }
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } })
    const response = await fetch(`${peer.url}/a2a`, { method: "POST", headers, body })
    return ((await response.json()) as Wire).result.task.artifacts[0].parts[0].text
  }
  try {
    assert.equal(await sent(), "Hello.")
    const { url } = peer
    await peer.stop()
    await assert.rejects(fetch(url!), TypeError)
    assert.equal(await sent(), "Hello.")
  } finally {
    await peer.stop()
  }
})

test("CancelTask and stop() end a task of an agent that never gives events", async () => {
  await using tmp = await tmpdir({ git: true })
  const inner = await createAgent({ directory: tmp.path })
  const never = new Promise<never>(() => {})
  const silent: Agent = {
    ...{ directory: inner.directory, start: inner.start, stop: inner.stop },
    capabilities: inner.capabilities,
    get mcp() {
      return inner.mcp
    },
    process: () => ({
      answer: () => never,
      accept: () => never,
      [Symbol.asyncIterator]: () => ({ next: () => never }),
    }),
  }
  const peer = a2aAdapter.wrap(silent, {})
  await peer.start()
  const headers = { ...wire, authorization: `Bearer ${readFileSync(peer.tokenFile!, "utf8").trim()}` }
  const rpc = async (method: string, params: unknown) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
    return (await fetch(`${peer.url}/a2a`, { method: "POST", headers, body })).json() as Promise<Wire>
  }
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] }
  const begin = () => rpc("SendMessage", { message, configuration: { returnImmediately: true } })
  try {
    const { id } = (await begin()).result.task
    const { result } = await rpc("CancelTask", { id })
    assert.equal(result.status.state, "TASK_STATE_CANCELED")
    await begin()
  } finally {
    await peer.stop()
  }
})
