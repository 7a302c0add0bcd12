// A guest that is taken over and sends well-formed requests: it gets no other model, no more money, no address that a
// provider would fetch, no session of another project, and it cannot exhaust its parent.
import assert from "node:assert/strict"
import { test } from "node:test"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Message from "#knowledge/message/message.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { frame, type Lie, withGuest } from "./lying-guest.ts"

const refused = { name: "Sandbox.Refused" }
const model = "openai/fake-model"
const hello = { role: "user", content: [{ type: "text", text: "hello" }] }

function useModel(llm: { url: string }): void {
  const openai = { models: { "fake-model": { cost: { input: 1_000_000, output: 1_000_000 } } } }
  Object.assign(process.env, env(llm, "chat").variables, {
    VITAMIN_CONFIG: JSON.stringify({ provider: { openai } }),
  })
}

async function stream({ peer }: Lie, options: object, signal?: AbortSignal): Promise<unknown> {
  await peer.ask("model.choose", { agent: null, names: [] })
  return peer.ask("model.stream", { stream: 1, model, options: { prompt: [hello], ...options } }, signal)
}

test("a guest cannot set fields of the request to the model, such as the model itself", async () => {
  await using llm = await fakeLlm(() => text("Hi."))
  useModel(llm)
  await withGuest(async (guest) => {
    const body = { model: "expensive", web_search_options: {}, n: 50, reasoning_effort: "low" }
    await stream(guest, { providerOptions: { openai: body } })
  })
  const {
    model,
    web_search_options: search,
    n,
    reasoning_effort,
  } = llm.requests[0]!.body as Record<string, unknown>
  assert.deepEqual([model, search, n, reasoning_effort], ["fake-model", undefined, undefined, "low"])
})

test("a guest cannot have the provider of a model fetch a URL or one of its stored files", async () => {
  await using llm = await fakeLlm(() => text("Hi."))
  useModel(llm)
  const link = {
    type: "file",
    mediaType: "image/png",
    data: { type: "url", url: "https://example.com/?key" },
  }
  const reference = { ...link, data: { type: "reference", reference: { openai: "file-1" } } }
  const result = { type: "tool-result", toolCallId: "c", toolName: "read" }
  await withGuest(async (guest) => {
    for (const part of [link, reference])
      for (const prompt of [
        [{ role: "user", content: [part] }],
        [{ role: "tool", content: [{ ...result, output: { type: "content", value: [part] } }] }],
      ])
        await assert.rejects(stream(guest, { prompt }), refused)
  })
  assert.equal(llm.requests.length, 0)
})

test("the cost limit counts answers that the guest cancels before their end", async () => {
  await using llm = await fakeLlm(() => ({
    ...text("word ".repeat(200)),
    fault: { kind: "stall", bytes: 1_200 },
  }))
  useModel(llm)
  await withGuest(
    async (guest) => {
      const abort = new AbortController()
      const answer = stream(guest, {}, abort.signal)
      while (guest.parts.length === 0) await new Promise(setImmediate)
      abort.abort()
      await answer.catch(() => {})
      await assert.rejects(stream(guest, {}), { name: "Session.CostLimit" })
    },
    { maxCost: 0.01 },
  )
  assert.equal(llm.requests.length, 1)
})

test("a guest has at most 16 answers of models open, and the next one is refused", async () => {
  await using llm = await fakeLlm(() => ({ ...text("word"), fault: { kind: "stall", bytes: 10 } }))
  useModel(llm)
  await withGuest(async (guest) => {
    const abort = new AbortController()
    const open = Array.from({ length: 16 }, () => stream(guest, {}, abort.signal).catch(() => {}))
    while (llm.requests.length < 16) await new Promise(setImmediate)
    await assert.rejects(stream(guest, {}), { name: "Sandbox.Refused", message: /more answers/ })
    abort.abort()
    await Promise.all(open)
  })
  assert.equal(llm.requests.length, 16)
})

test("what a guest has asked for ends with its prompt", async () => {
  let pending: Promise<unknown> | undefined
  await using llm = await fakeLlm(() => ({ ...text("word"), fault: { kind: "stall", bytes: 10 } }))
  useModel(llm)
  await withGuest(
    async (guest) => {
      pending = stream(guest, {})
      while (llm.requests.length === 0) await new Promise(setImmediate)
    },
    { after: () => assert.rejects(pending!) },
  )
})

test("a guest cannot take over the messages of another project by the id of their session", async () => {
  await withGuest(async ({ peer, session }) => {
    const base = { sessionId: "sess_elsewhere", parentId: null, branch: "main" }
    const message = Message.make({
      ...base,
      type: "text",
      data: { role: "user", parts: [{ type: "text", text: "private" }] },
    })
    await Storage.write(["message", base.sessionId, message.id], message)
    const task = { ...session, id: base.sessionId, taskOf: { sessionId: session.id, callId: "c" } }
    const key = ["session", Instance.project.id, base.sessionId]
    const after = JSON.stringify(task)
    await assert.rejects(peer.ask("record.put", { key, text: after }), refused)
    await assert.rejects(peer.ask("record.swap", { key, before: null, after }), refused)
    await assert.rejects(peer.ask("record.list", { prefix: ["message", base.sessionId] }), refused)
  })
})

test("a guest cannot make a session with an id that is no part of a path", async () => {
  await withGuest(async ({ peer, session }) => {
    const id = "../elsewhere"
    const task = { ...session, id, taskOf: { sessionId: session.id, callId: "c" } }
    const put = { key: ["session", Instance.project.id, id], text: JSON.stringify(task) }
    await assert.rejects(peer.ask("record.put", put), { name: "Storage.InvalidKey" })
    await assert.rejects(peer.ask("image.get", { sessionId: id, hash: "0".repeat(64) }), refused)
  })
})

test("a guest that asks for one large record many times gets an error, and its parent goes on", async () => {
  await withGuest(async ({ peer, session }) => {
    const prefix = ["turn", session.id]
    await peer.ask("record.put", { key: [...prefix, "a"], text: JSON.stringify({ a: "a".repeat(8 << 20) }) })
    const names = Array.from({ length: 500 }, () => "a")
    await assert.rejects(peer.ask("record.many", { prefix, names }), refused)
    assert.equal(((await peer.ask("record.many", { prefix, names: ["a"] })) as string[]).length, 1)
  })
})

for (const [what, text] of [
  ["too deep", `{"note":"event","args":${"[".repeat(2_000)}${"]".repeat(2_000)}}`],
  ["too many", `{"note":"event","args":[${"0,".repeat(1_500_000)}0]}`],
] as const)
  test(`a guest that sends ${what} values is ended before they are read`, async () => {
    const error = await withGuest(async ({ peer, stream, session }) => {
      const record = { key: ["turn", session.id, "a"], text: JSON.parse(text).args && text }
      await assert.rejects(peer.ask("record.put", record), refused)
      stream.write(frame(text))
      await peer.closed
    })
    assert.match(error.message, /too many values, or too deep ones/)
  })

test("brackets and quotes inside of strings do not count as values", async () => {
  await withGuest(async ({ peer, session }) => {
    const key = ["turn", session.id, "a"]
    const text = JSON.stringify({ a: '["\\'.repeat(500_000), b: "\\", c: "[".repeat(2_000_000) })
    await peer.ask("record.put", { key, text })
    assert.equal(await peer.ask("record.get", { key }), text)
  })
})
