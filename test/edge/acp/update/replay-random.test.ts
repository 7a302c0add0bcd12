// Random, invalid and very long histories.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setImmediate as breathe } from "node:timers/promises"
import { replay } from "#edge/acp/update/updates.ts"
import * as Session from "#engine/session/session.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { inWorld } from "../../../engine/session/harness.ts"
import { createChoices, createPieces } from "../../../engine/session/random-messages.ts"
import { createEditor } from "../editor.ts"

async function replayed(sessionId: string) {
  const editor = createEditor()
  await replay({ sessionId, send: editor.send, client: { session: { compaction: {} } } })
  return editor
}

test("random histories replay every call once and leave none open", async () => {
  await inWorld([], async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const { id: sessionId } = await Session.create()
      const pieces = createPieces(createChoices(seed))
      let parentId: string | null = null
      for (let i = 0; i < 12; i++)
        parentId = (await pieces.exchange({ sessionId, branch: "main", parentId })).at(-1)!.id
      const messages = await Session.messages(sessionId)
      const editor = await replayed(sessionId)
      const calls = messages.flatMap((message) => (message.type === "tool_request" ? message.data.calls : []))
      assert.equal(editor.calls().length, calls.length, `seed ${seed}`)
      assert.ok(editor.calls().every(({ status }) => status === "completed" || status === "failed"))
      const persons = messages.filter((message) => message.type === "text" && message.data.role === "user")
      assert.equal(editor.texts("user").length, persons.length)
    }
  })
})

test("invalid records are replayed as far as possible", async () => {
  await inWorld([], async ({ session }) => {
    const { id: sessionId } = session
    let parentId: string | null = null
    const add = async (type: Message.Type, data: unknown) => {
      const message = Message.make({ sessionId, parentId, type, data } as Message.Fields<Message.Type>)
      parentId = message.id
      await MessageStore.write(message as Message.Info)
    }
    const call = { name: "read", approval: "approved" as const }
    await add("file_reference", { path: "a\0b", status: "failed", error: "no" })
    await add("file_reference", { path: "x".repeat(100_000), startLine: -1, endLine: 0.5, status: "pending" })
    await add("file_reference", { path: "\ud800 %2e%2e?#.txt", status: "pending" })
    await add("image", { source: { kind: "url", value: "not a url" }, mode: "auto", state: "pending" })
    await add("image", {
      source: { kind: "file", value: "\0" },
      mode: "auto",
      state: "failed",
      error: "\u001b[2J",
    })
    await add("image", { source: { kind: "base64", value: "§§" }, mode: "auto", state: "done" })
    await add("image", {
      source: { kind: "url", value: "data:image/png;base64,AAAA" },
      mode: "auto",
      state: "done",
    })
    await add("image", {
      source: { kind: "base64", value: "sha256:../../x" },
      stored: { hash: "../../../etc/passwd", mimeType: "image/png" },
      mode: "auto",
      state: "done",
    })
    await add("mcp_resource", { serverName: "s", resourceUri: "u\u202e", content: "", retrievedAt: 0 })
    await add("tool_result", {
      requestId: "nobody",
      status: "success",
      output: null,
      duration: 0,
      timestamp: 0,
    })
    await add("tool_request", {
      calls: [
        { ...call, id: "same", arguments: null },
        { ...call, id: "same", arguments: ["a"] },
        { ...call, id: `${"long ".repeat(10_000)}\u001b`, arguments: "text" },
        { ...call, id: "", name: "", arguments: { path: { a: 1 } } },
        { ...call, id: "edit", name: "edit", arguments: { path: "a", edits: [null, 5, { oldText: 1 }] } },
        { ...call, id: "write", name: "write", arguments: { path: "a", content: 7 } },
        { ...call, id: "again", name: "constructor", arguments: { __proto__: null, toString: 1 } },
      ],
    })
    for (const requestId of ["edit", "write", "again"])
      await add("tool_result", {
        requestId,
        status: "success",
        output: { a: [1] },
        duration: 0,
        timestamp: 0,
        metadata: { title: 5, data: { diff: "@@ -1,1 +0,0 @@\n\n@@ nonsense", created: "yes" } },
      })
    await add("text", { role: "assistant", parts: [{ type: "text", text: "\ud800 half" }] })
    await add("system_control", { control: "compaction", parameters: { summary: 5 } })
    await add("system_control", { control: "compaction", parameters: { summary: "x".repeat(1_000_000) } })
    const later = { type: "later", sessionId, parentId, branch: "main", schema: 1, data: {} }
    await add("unknown", { original: JSON.stringify(later) })
    const editor = await replayed(sessionId)
    assert.equal(editor.shown().length, 8, "what was attached, six calls, a text")
    assert.ok(editor.calls().every(({ status }) => status === "completed" || status === "failed"))
  })
})

test("a history of 5 000 messages replays in order, and other work continues meanwhile", async () => {
  await inWorld([], async ({ session }) => {
    const { id: sessionId } = session
    const output = "a line of a file that was read\n".repeat(100)
    const messages: Message.Info[] = []
    const add = (type: Message.Type, data: unknown) => {
      const parentId = messages.at(-1)?.id ?? null
      messages.push(
        Message.make({ sessionId, parentId, type, data } as Message.Fields<Message.Type>) as Message.Info,
      )
    }
    for (let i = 0; messages.length < 5_000; i++) {
      add("text", { role: "user", parts: [{ type: "text", text: `question ${i}` }] })
      const calls = [{ id: "call_0", name: "read", arguments: { path: `f${i}` }, approval: "approved" }]
      add("tool_request", { calls })
      const result = { requestId: "call_0", toolName: "read", status: "success" }
      add("tool_result", { ...result, output, duration: 1, timestamp: 1 })
      add("text", { role: "assistant", parts: [{ type: "text", text: `answer ${i}` }], finish: "stop" })
    }
    for (let at = 0; at < messages.length; at += 250)
      await Promise.all(messages.slice(at, at + 250).map((message) => MessageStore.write(message)))
    const editor = createEditor()
    let [turns, isOver] = [0, false]
    const others = (async () => {
      for (; !isOver; turns++) await breathe()
    })()
    await replay({ sessionId, send: editor.send })
    isOver = true
    await others
    assert.equal(editor.updates.length, 5_000)
    assert.ok(turns >= 50, `${turns} turns`)
    const last = editor.updates.at(-1)!
    assert.ok(
      last.sessionUpdate === "agent_message_chunk" && JSON.stringify(last.content).includes("answer 1249"),
    )
    const ids = new Set(editor.of("tool_call").map(({ toolCallId }) => toolCallId))
    assert.equal(ids.size, 1_250)
  })
})
