import assert from "node:assert/strict"
import { getEventListeners } from "node:events"
import { readFileSync, renameSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { missingResults, pathTo } from "#engine/record/history.ts"
import * as Session from "#engine/session/session.ts"
import * as Global from "#kernel/process/global.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { repeat } from "../../fixture/soak.ts"
import { defineTool, inWorld, textOf } from "../session/harness.ts"

function said(words: string, parentId: string | null, more: Partial<Message.Info> = {}): Message.Info {
  const data = { role: "user" as const, parts: [{ type: "text" as const, text: words }] }
  return { ...Message.make({ sessionId: "sess_1", parentId, type: "text", data }), ...more } as Message.Info
}

test("pathTo() follows the parents from the newest message of a branch", () => {
  const a = said("a", null)
  const b = said("b", a.id)
  const orphan = said("orphan", a.id)
  const c = said("c", b.id)
  const other = said("other", b.id, { branch: "other" })
  const all = [a, b, orphan, c, other]
  assert.deepEqual(pathTo(all, "main").map(textOf), ["a", "b", "c"])
  assert.deepEqual(pathTo(all, "other").map(textOf), ["a", "b", "other"])
  assert.deepEqual(pathTo([], "main"), [])
})

test("pathTo() finds the newest message even if the clock went back between two processes", () => {
  const a = said("a", null, { id: "msg_5" })
  const b = said("b", "msg_5", { id: "msg_6" })
  const c = said("c", "msg_6", { id: "msg_1" })
  assert.deepEqual(pathTo([c, a, b], "main").map(textOf), ["a", "b", "c"])
})

test("pathTo() ends at a cycle of parents", () => {
  const a = said("a", "msg_2", { id: "msg_1" })
  const b = said("b", "msg_1", { id: "msg_2" })
  assert.deepEqual(pathTo([a, b], "main").map(textOf), ["a", "b"])
})

test("missingResults() returns a result for each open call, also if a call id is used twice", () => {
  const ask = (ids: string[]) => {
    const calls = ids.map((id) => ({ id, name: "read", arguments: {}, approval: "approved" as const }))
    return Message.make({ sessionId: "sess_1", parentId: null, type: "tool_request", data: { calls } })
  }
  const result = (requestId: string) =>
    Message.make({
      sessionId: "sess_1",
      parentId: null,
      type: "tool_result",
      data: { requestId, toolName: "read", status: "success", output: "", duration: 0, timestamp: 0 },
    })
  const missing = (history: Message.Info[]) =>
    missingResults(history).map((message) => message.type === "tool_result" && message.data.requestId)
  assert.deepEqual(missing([]), [])
  assert.deepEqual(missing([ask(["a", "b"]), result("b")]), ["a"])
  assert.deepEqual(missing([ask(["a"]), result("a"), ask(["a"])]), ["a"])
  assert.deepEqual(missing([ask(["a"]), ask(["a"]), result("a")]), ["a"])
  assert.deepEqual(missing([ask(["a"]), ask(["b"]), result("b"), result("a")]), [])
})

test("a run reads no message twice, and writes two records per turn, however long the session is", async () => {
  const before = repeat(300, 1_000)
  const turns = repeat(20, 1_000)
  let n = 0
  const script = () => (n++ < turns ? call("look", { value: String(n) }) : text("done"))
  await inWorld(script, async ({ ask, session, events, llm }) => {
    const written: Message.Info[] = []
    for (let i = 0; i < before; i++)
      written.push({ ...said(`words ${i}`, written.at(-1)?.id ?? null), sessionId: session.id })
    await Promise.all(written.map((message) => MessageStore.write(message)))
    events.length = 0
    const signals = new Set<AbortSignal>()
    const folder = join(Global.data(), "storage", "message", session.id)
    defineTool(
      "look",
      async ({ value }, { signal }) => {
        signals.add(signal)
        // A second read of the disk would no longer find the old messages.
        if (value === "1")
          for (const { id } of written) renameSync(`${join(folder, id)}.json`, `${folder}-${id}`)
        return `saw ${value}`
      },
      { readOnly: true },
    )
    assert.equal(textOf(await ask("go", { maxSteps: 10_000 }, { stall: 60_000 })), "done")
    for (const request of llm.requests.slice(-3)) assert.match(request.raw, /words 0.*words 299/s)
    const records = events.filter(({ type }) => /^message\.(created|updated)$/.test(type))
    assert.equal(records.length, 2 + 2 * turns)
    assert.equal(events.filter(({ type }) => type === "session.updated").length, 3)
    assert.equal(signals.size, 1)
    for (const signal of signals) assert.ok(getEventListeners(signal, "abort").length <= 1)
    for (const { id } of written) renameSync(`${folder}-${id}`, `${join(folder, id)}.json`)
    assert.ok(readFileSync(join(folder, `${written[0]!.id}.json`)))
    assert.equal((await Session.messages(session.id)).length, before + 2 + 2 * turns)
  })
})

test("what Session.context() has read, the next prompt and the next Session.context() do not read again", async () => {
  await inWorld([text("one"), text("two")], async ({ ask, session, llm }) => {
    await ask("first words")
    const { used } = await Session.context(session.id)
    const folder = join(Global.data(), "storage", "message", session.id)
    const files = (await Session.messages(session.id)).map(({ id }) => `${id}.json`)
    for (const file of files) renameSync(join(folder, file), `${folder}-${file}`)
    assert.equal((await Session.context(session.id)).used, used)
    await ask("second words")
    assert.match(llm.requests[1]!.raw, /first words.*one.*second words/s)
    for (const file of files) renameSync(`${folder}-${file}`, join(folder, file))
    assert.equal((await Session.messages(session.id)).length, 4)
  })
})
