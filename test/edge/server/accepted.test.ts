// Accepted prompts are not lost: after any end of the server, each has started or is reported as skipped.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { tinyServer } from "../../ability/mcp/servers.ts"
import { serving } from "../../fixture/cli.ts"
import { call, env, type FakeLlm, fakeLlm, stall, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

type Info = {
  id: string
  promptId: string
  status: string
  skipped?: { id: string; text: string; reason: string }[]
}
type Message = { type: string; promptId?: string; data: { role?: string } }

/** An answer to "hang" never ends. */
const model = () =>
  fakeLlm(({ messages }) =>
    /hang( \d+)?$/.test(messages.at(-1)!.text) ? stall(text("on and on", { deltas: 6 }), 900) : text("Done."),
  )

async function started(tmp: Tmp, llm: FakeLlm, config: object = {}) {
  const { child, url, tokenFile } = await serving(tmp, [], {
    ...env(llm, "chat").variables,
    VITAMIN_CONFIG: JSON.stringify(config),
  })
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`
  const send = async <T = Info>(method: string, path: string, body?: object, headers: object = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization, "content-type": "application/json", ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return { status: response.status, body: (await response.json()) as T }
  }
  const path = (id: string) => `/session/${id}/message`
  return {
    child,
    send,
    create: async () => (await send("POST", "/session", {})).body.id,
    /** Returns the id of the prompt when it is accepted. */
    async accept(id: string, words: string, more: object = {}) {
      const { status, body } = await send(
        "POST",
        path(id),
        { text: words, ...more },
        { prefer: "respond-async" },
      )
      assert.equal(status, 202)
      return body.promptId
    },
    session: async (id: string) => (await send("GET", `/session/${id}`)).body,
    messages: async (id: string) => (await send<Message[]>("GET", path(id))).body,
    prompts: async (id: string) => (await send<{ id: string }[]>("GET", `/session/${id}/prompt`)).body,
    /** The ids of all prompts that were reported as skipped. */
    async skipped(count: number): Promise<string[]> {
      const response = await fetch(`${url}/event`, { headers: { authorization, "last-event-id": "0" } })
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      let all = ""
      const found = () => [...all.matchAll(/^event: prompt\.skipped\ndata: .*"prompt":\{"id":"(\w+)"/gm)]
      while (found().length < count) all += (await reader.read()).value
      await reader.cancel()
      return found().map(([, id]) => id!)
    },
  }
}

for (const signal of ["SIGKILL", "SIGTERM"] as const)
  test(`after ${signal} every accepted prompt has begun or is reported as skipped`, async () => {
    await using tmp = await tmpdir()
    await using llm = await model()
    const first = await started(tmp, llm)
    await using _ = first.child
    const busy = await first.create()
    await first.accept(busy, "hang")
    await until(async () => (await first.messages(busy)).length > 0)
    // Some requests wait for the answer, others were answered with 202.
    const queued: string[] = []
    for (let i = 0; i < 16; i++) {
      queued.push(await first.accept(busy, `queued ${i}`))
      first.send("POST", `/session/${busy}/message`, { text: `waiting ${i}` }).catch(() => {})
    }
    await until(async () => (await first.prompts(busy)).length === 32)
    const idle = await Promise.all(Array.from({ length: 10 }, first.create))
    const accepted = await Promise.all(idle.map((id, i) => first.accept(id, `hang ${i}`)))
    first.child.process.kill(signal)
    await first.child.exit

    const second = await started(tmp, llm)
    await using __ = second.child
    const { skipped = [], status } = await second.session(busy)
    assert.equal(status, "interrupted")
    assert.equal(skipped.length, 32)
    for (const id of queued) assert.ok(skipped.some((one) => one.id === id))
    const words = skipped.map((one) => one.text)
    for (let i = 0; i < 16; i++) assert.ok(words.includes(`queued ${i}`) && words.includes(`waiting ${i}`))
    const reported = new Set(skipped.map(({ id }) => id))
    for (const [i, id] of idle.entries()) {
      const info = await second.session(id)
      const hasBegun = (await second.messages(id)).some(({ promptId }) => promptId === accepted[i])
      const isSkipped = info.skipped?.some((one) => one.id === accepted[i]) ?? false
      assert.ok(hasBegun !== isSkipped, `prompt ${i}: ${hasBegun} ${isSkipped}`)
      if (isSkipped) reported.add(accepted[i]!)
    }
    const events = await second.skipped(reported.size)
    assert.deepEqual([...events].sort(), [...reported].sort())
    // No skipped prompt runs by itself, and none is reported twice.
    assert.equal((await second.messages(busy)).filter(({ data }) => data.role === "user").length, 1)
    const answer = await second.send("POST", `/session/${busy}/message`, { text: "and now" })
    assert.equal(answer.status, 200)
    assert.equal((await second.session(busy)).skipped?.length, 32)
  })

test("a skipped prompt stays until it is sent again or removed", async () => {
  await using tmp = await tmpdir()
  await using llm = await model()
  const first = await started(tmp, llm)
  await using _ = first.child
  const id = await first.create()
  await first.accept(id, "hang")
  await first.accept(id, "one")
  const removed = await first.accept(id, "two")
  await first.accept(id, "three")
  first.child.process.kill("SIGKILL")
  await first.child.exit
  const second = await started(tmp, llm)
  await using __ = second.child
  const skipped = async () => (await second.session(id)).skipped?.map((one) => one.text)
  assert.deepEqual((await skipped())?.slice(-3), ["one", "two", "three"])
  assert.equal((await second.send("DELETE", `/session/${id}/prompt/${removed}`)).status, 200)
  assert.equal((await second.send("DELETE", `/session/${id}/prompt/${removed}`)).status, 404)
  assert.equal((await second.send("POST", `/session/${id}/message`, { text: "one" })).status, 200)
  assert.deepEqual((await skipped())?.slice(-1), ["three"])
  assert.equal((await second.send("POST", `/session/${id}/message`, { text: "three" })).status, 200)
  assert.deepEqual((await skipped()) ?? [], [])
  assert.deepEqual(await second.prompts(id), [])
})

test("waiting prompts can be listed and removed, and an abort removes all of them", async () => {
  await using tmp = await tmpdir()
  await using llm = await model()
  const server = await started(tmp, llm)
  await using _ = server.child
  const id = await server.create()
  await server.accept(id, "hang")
  await until(async () => (await server.messages(id)).length > 0)
  const [one, two] = [await server.accept(id, "one"), await server.accept(id, "two")]
  const waiting = async () => (await server.prompts(id)).map((prompt) => prompt.id)
  assert.deepEqual((await waiting()).slice(-2), [one, two])
  assert.equal((await server.send("DELETE", `/session/${id}/prompt/${one}`)).status, 200)
  assert.ok(!(await waiting()).includes(one))
  await server.send("POST", `/session/${id}/abort`)
  await until(async () => (await server.session(id)).status === "interrupted")
  await until(async () => (await waiting()).length === 0)
  const { skipped } = await server.session(id)
  assert.equal(skipped, undefined)
  assert.equal((await server.messages(id)).filter(({ data }) => data.role === "user").length, 1)
})

test("an accepted prompt that cannot start is reported with the reason", async () => {
  await using tmp = await tmpdir()
  await using llm = await model()
  const server = await started(tmp, llm)
  await using _ = server.child
  const id = await server.create()
  const promptId = await server.accept(id, "go", { model: "openai" })
  await until(async () => (await server.session(id)).skipped !== undefined)
  const { skipped, status } = await server.session(id)
  assert.deepEqual([skipped?.[0]?.id, skipped?.[0]?.text, status], [promptId, "go", "error"])
  assert.match(skipped![0]!.reason, /openai/)
  assert.deepEqual(await server.skipped(1), [promptId])
})

/** Reading a resource of the server "slow" never ends: a prompt that mentions one stops after its text was stored. */
function withSlowServer() {
  const { command, args } = tinyServer({ mode: "hang" })
  const slow = { id: "slow", name: "slow", transport: "stdio", command: [command, ...args] }
  const permission = [{ permission: "bash.execute", pattern: "*", action: "allow" }]
  return { mcp: { servers: [slow] }, permission }
}

test("a prompt that SIGTERM stops while its attachments are read counts as started, not as skipped", async () => {
  await using tmp = await tmpdir()
  await using llm = await model()
  const first = await started(tmp, llm, withSlowServer())
  await using _ = first.child
  const id = await first.create()
  const promptId = await first.accept(id, "read @slow:a://b")
  const isBegun = async (server: typeof first) =>
    (await server.messages(id)).some((message) => message.promptId === promptId)
  await until(() => isBegun(first))
  first.child.process.kill("SIGTERM")
  await first.child.exit
  const second = await started(tmp, llm)
  await using __ = second.child
  assert.equal(await isBegun(second), true)
  assert.equal((await second.session(id)).skipped, undefined)
  assert.deepEqual(await second.prompts(id), [])
})

test("steering prompts leave no record when an abort comes while one of them joins the turn", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([
    call("bash", { command: "while [ ! -e go ]; do sleep 0.05; done" }),
    text("Done."),
  ])
  const server = await started(tmp, llm, withSlowServer())
  await using _ = server.child
  const id = await server.create()
  await server.accept(id, "work")
  await until(async () => (await server.messages(id)).some(({ type }) => type === "tool_request"))
  const steering = [
    await server.accept(id, "read @slow:a://b", { whenBusy: "steer" }),
    await server.accept(id, "and this", { whenBusy: "steer" }),
  ]
  tmp.write("go", "")
  const begun = async () => (await server.messages(id)).map(({ promptId }) => promptId)
  await until(async () => (await begun()).includes(steering[0]))
  await server.send("POST", `/session/${id}/abort`)
  await until(async () => (await server.session(id)).status === "interrupted")
  await until(async () => (await server.prompts(id)).length === 0)
  assert.equal((await begun()).includes(steering[1]), false)
  assert.equal((await server.session(id)).skipped, undefined)
})

test("DELETE of a steering prompt that has joined the turn answers 409 and does not remove it", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([
    call("bash", { command: "while [ ! -e go ]; do sleep 0.05; done" }),
    text("Done."),
  ])
  const server = await started(tmp, llm, withSlowServer())
  await using _ = server.child
  const id = await server.create()
  await server.accept(id, "work")
  await until(async () => (await server.messages(id)).some(({ type }) => type === "tool_request"))
  const taken = await server.accept(id, "read @slow:a://b", { whenBusy: "steer" })
  const waiting = await server.accept(id, "and this", { whenBusy: "steer" })
  tmp.write("go", "")
  const begun = async () => (await server.messages(id)).map(({ promptId }) => promptId)
  await until(async () => (await begun()).includes(taken))
  // The resource is still being read, so the stored prompt still exists.
  assert.equal((await server.send("DELETE", `/session/${id}/prompt/${taken}`)).status, 409)
  assert.equal((await server.send("DELETE", `/session/${id}/prompt/${waiting}`)).status, 200)
  await server.send("POST", `/session/${id}/abort`)
  await until(async () => (await server.session(id)).status === "interrupted")
  const all = await begun()
  assert.deepEqual([all.includes(taken), all.includes(waiting)], [true, false])
})
