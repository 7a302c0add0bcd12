// `sandboxAdapter` of the library: an agent whose prompts run inside.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { sandboxAdapter } from "#edge/sandbox/sandbox-adapter.ts"
import { createAgent } from "#engine/host/create-agent.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Message from "#knowledge/message/message.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

test("sandboxAdapter.wrap() gives an agent that works inside and may write ./output alone", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    call("bash", { command: "echo a > output/a.txt; echo b > b.txt" }),
    text("Done."),
  ])
  const { variables } = env(llm, "chat")
  Object.assign(process.env, variables)
  const plain = await createAgent({ directory: tmp.path, asks: "deny" })
  const agent = sandboxAdapter.wrap(plain, { enabled: true })
  try {
    assert.equal(sandboxAdapter.name, "sandbox")
    assert.equal(agent.sandboxStatus().isolated, false)
    await agent.start()
    assert.ok(agent.capabilities().some(({ id }) => id === "build"))
    const { isolated, pid, by } = agent.sandboxStatus()
    assert.deepEqual([isolated, typeof pid, by], [true, "number", "bubblewrap"])
    const types: string[] = []
    for await (const { type } of agent.process({ text: "go" })) types.push(type)
    assert.ok(types.includes("message.created") && types.includes("session.idle"), types.join(" "))
    assert.ok(existsSync(join(tmp.path, "output/a.txt")))
    assert.ok(!existsSync(join(tmp.path, "b.txt")))
  } finally {
    await agent.stop()
    await Storage.close()
    for (const name of Object.keys(variables)) delete process.env[name]
  }
})

test("sandboxAdapter.wrap() without `enabled` isolates only if NODE_ENV is production", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Plain.")])
  const { variables } = env(llm, "chat")
  Object.assign(process.env, variables)
  const agent = sandboxAdapter.wrap(await createAgent({ directory: tmp.path, asks: "deny" }), {})
  try {
    assert.equal(Message.textOf(await agent.process({ text: "hi" }).answer()), "Plain.")
    assert.equal(agent.sandboxStatus().isolated, false)
  } finally {
    await agent.stop()
    await Storage.close()
    for (const name of Object.keys(variables)) delete process.env[name]
  }
})
