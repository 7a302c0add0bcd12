// `a2aAdapter` for programs that embed vitamin.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { a2aAdapter } from "#edge/a2a/a2a-adapter.ts"
import { createAgent } from "#engine/host/create-agent.ts"
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
