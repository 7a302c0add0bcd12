// `sandboxAdapter` of the library: an agent whose prompts run inside.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { defaultTimeout, policyOf } from "#edge/sandbox/host/policy-of.ts"
import { sandboxAdapter } from "#edge/sandbox/sandbox-adapter.ts"
import { createAgent } from "#engine/host/create-agent.ts"
import * as Log from "#kernel/process/log.ts"
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
    const { isolated, pid, by, limits } = agent.sandboxStatus()
    assert.deepEqual([isolated, typeof pid, by], [true, "number", "bubblewrap"])
    const hasGroup = /^0::.*\/vitamin_\w+$/m.test(readFileSync(`/proc/${pid}/cgroup`, "utf8"))
    assert.equal(limits, hasGroup ? "cgroup" : "rlimit")
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

test("sandboxAdapter.wrap() without `enabled` isolates only if NODE_ENV is production, and warns otherwise", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Plain.")])
  const { variables } = env(llm, "chat")
  Object.assign(process.env, variables)
  const log = join(tmp.path, "../log")
  Log.setFile(log)
  const agent = sandboxAdapter.wrap(await createAgent({ directory: tmp.path, asks: "deny" }), {})
  Log.setFile(undefined)
  try {
    assert.match(readFileSync(log, "utf8"), /WARN .*the agent runs without a sandbox: "enabled" is not set/)
    assert.equal(Message.textOf(await agent.process({ text: "hi" }).answer()), "Plain.")
    assert.equal(agent.sandboxStatus().isolated, false)
  } finally {
    await agent.stop()
    await Storage.close()
    for (const name of Object.keys(variables)) delete process.env[name]
  }
})

test("in production sandboxAdapter.wrap() isolates, and refuses to start if a part is missing", async () => {
  await using tmp = await tmpdir({ git: true })
  const { PATH } = process.env
  process.env.NODE_ENV = "production"
  const plain = () => createAgent({ directory: tmp.path, asks: "deny" })
  try {
    const agent = sandboxAdapter.wrap(await plain(), {})
    await agent.start()
    assert.equal(agent.sandboxStatus().isolated, true)
    await agent.stop()
    process.env.PATH = join(tmp.path, "empty")
    await assert.rejects(sandboxAdapter.wrap(await plain(), {}).start(), { name: "Sandbox.NotIsolated" })
    // Said in words, it does not depend on NODE_ENV.
    await sandboxAdapter.wrap(await plain(), { enabled: false }).stop()
    delete process.env.NODE_ENV
    const asked = sandboxAdapter.wrap(await plain(), { enabled: true })
    await assert.rejects(asked.start(), { name: "Sandbox.NotIsolated" })
  } finally {
    process.env.PATH = PATH
    delete process.env.NODE_ENV
    await Storage.close()
  }
})

test("without settings a sandbox may write ./output, has 512 MB and 5 minutes, and cannot read keys", async () => {
  await using tmp = await tmpdir()
  assert.deepEqual(policyOf({}, tmp.path), {
    directory: tmp.path,
    allowWrite: ["./output"],
    denyRead: ["~/.ssh", "~/.aws", ".env"],
    allowedDomains: [],
    memory: 512,
    processes: undefined,
  })
  assert.equal(defaultTimeout, 300_000)
})
