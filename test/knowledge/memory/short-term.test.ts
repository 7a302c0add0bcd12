import assert from "node:assert/strict"
import { test } from "node:test"
import { createShortTerm } from "#knowledge/memory/short-term.ts"
import { turnStarts } from "#knowledge/memory/turn-starts.ts"
import { windowOf } from "#knowledge/memory/window.ts"
import { workingState } from "#knowledge/memory/working.ts"
import * as Message from "#knowledge/message/message.ts"

const place = { sessionId: "sess_1", parentId: null }
type Role = "user" | "assistant"
const said = (role: Role, text: string, more: { usage?: Message.Usage; model?: string } = {}) =>
  Message.make({
    ...place,
    ...more,
    type: "text",
    data: { role, parts: [{ type: "text", text }], finish: "stop" },
  })
const asks = (...ids: string[]) =>
  Message.make({
    ...place,
    type: "tool_request",
    data: { calls: ids.map((id) => ({ id, name: "read", arguments: { path: id }, approval: "approved" })) },
  })
const gives = (requestId: string, output: Message.Json = "content") =>
  Message.make({
    ...place,
    type: "tool_result",
    data: { requestId, toolName: "read", status: "success", output, duration: 0, timestamp: 0 },
  })
const compacts = (parameters: Message.JsonObject) =>
  Message.make({ ...place, type: "system_control", data: { control: "compaction", parameters } })

test("ShortTerm gives the full history of 50 messages, and a window of some that begins with a whole turn", () => {
  const memory = createShortTerm()
  for (let i = 0; i < 10; i++)
    for (const message of [
      said("user", `wish ${i}`),
      asks(`a${i}`, `b${i}`),
      gives(`a${i}`),
      gives(`b${i}`),
      said("assistant", "ok"),
    ])
      memory.append(message)
  assert.equal(memory.messages().length, 50)
  assert.equal(memory.window().length, 50)
  assert.equal(memory.window(7).length, 6)
  assert.equal(memory.window(4).length, 4)
  assert.equal(memory.window(3).length, 1)
  assert.equal(memory.window(2)[0]?.type, "text")
  const some = memory.window({ tokens: memory.tokenCount() / 2 })
  assert.ok(some.length > 10 && some.length < 35)
  assert.notEqual(some[0]?.type, "tool_result")
})

test("ShortTerm.tokenCount() uses the provider's count plus newer messages, and no count of another model", () => {
  const memory = createShortTerm()
  memory.append(said("user", "words ".repeat(100)))
  const guess = memory.tokenCount({ fixed: 500, model: "p/m" })
  assert.ok(guess > 600)
  memory.append(said("assistant", "ok", { usage: { input: 4_000, output: 60 }, model: "p/m" }))
  assert.equal(memory.tokenCount({ fixed: 500, model: "p/m" }), 4_060)
  memory.append(said("user", "more ".repeat(100)))
  const since = memory.tokenCount({ fixed: 500, model: "p/m" }) - 4_060
  assert.ok(since > 100 && since < 300)
  assert.ok(memory.tokenCount({ fixed: 500, model: "p/other" }) < 2_000)
  assert.equal(memory.shouldSummarize({ limit: 4_100, fixed: 500, model: "p/m" }), true)
  assert.equal(memory.shouldSummarize({ limit: 5_000, fixed: 500, model: "p/m" }), false)
})

test("ShortTerm.tokenCount() rejects a count without cached tokens", () => {
  const memory = createShortTerm()
  memory.append(said("user", "plain words ".repeat(10_000)))
  memory.append(said("assistant", "ok", { usage: { input: 12, output: 3 } }))
  assert.ok(memory.tokenCount() > 15_000)
})

test("ShortTerm ignores counts from before a compaction", () => {
  const memory = createShortTerm()
  const kept = said("user", "the last wish")
  memory.append(said("user", "words ".repeat(5_000)))
  memory.append(said("assistant", "ok", { usage: { input: 9_000, output: 60 } }))
  memory.append(kept)
  assert.ok(memory.tokenCount() > 9_000)
  memory.append(compacts({ summary: "so far", keptFrom: kept.id }))
  assert.ok(memory.tokenCount() < 200)
  assert.equal(memory.window().length, 2)
  memory.append(said("assistant", "fine", { usage: { input: 700, output: 7 } }))
  assert.equal(memory.tokenCount(), 707)
})

test("windowOf() gives front and kept messages, the same objects where nothing is cut", () => {
  const messages = [
    said("user", "old"),
    said("assistant", "older"),
    said("user", "new"),
    asks("a"),
    gives("a", "x".repeat(9_000)),
  ]
  const control = compacts({
    summary: "S",
    pinned: "P",
    keptFrom: messages[2]!.id,
    cuts: [{ before: null, limit: 1_000 }],
    files: "/f/sess_1",
  })
  const { sent, start, compaction } = windowOf([...messages, control, said("assistant", "done")])
  assert.equal(start, 2)
  assert.equal(compaction?.summary, "S")
  assert.equal(sent.length, 5)
  assert.match(JSON.stringify(sent[0]), /<summary>\\nS\\n<\/summary>\\n\\nP/)
  assert.equal(sent[1], messages[2])
  const cut = sent[3] as Message.Of<"tool_result">
  assert.match(
    String(cut.data.output),
    /8000 of 9000 characters left out here to save tokens; all of it in \/f\/sess_1\/msg_\w+\.txt/,
  )
  assert.equal((messages[4] as Message.Of<"tool_result">).data.output, "x".repeat(9_000))
})

test("windowOf() names the file of a whole output only if it is in the session's own folder", () => {
  const long = (path: string) =>
    `${"x".repeat(3_000)}\n[… 9 of 99 bytes left out; all of it in ${path}, which read and grep can open …]\n${"y".repeat(3_000)}`
  const cutOf = (output: Message.Json, files: string) => {
    const [request, result] = [asks("a"), gives("a", output)]
    const control = compacts({ keptFrom: request.id, cuts: [{ before: null, limit: 500 }], files })
    const cut = windowOf([request, result, control]).sent[1] as Message.Of<"tool_result">
    return [result.id, String(cut.data.output)] as const
  }
  assert.match(
    cutOf(long("/f/sess_1/call.txt"), "/f/sess_1")[1],
    /all of it in \/f\/sess_1\/call\.txt, which/,
  )
  const [id, made] = cutOf(long("/etc/passwd"), "/f/sess_1")
  assert.ok(made.includes(`all of it in /f/sess_1/${id}.txt, which`))
  assert.doesNotMatch(made, /passwd/)
  assert.doesNotMatch(cutOf("z".repeat(9_000), "/f/sess_2")[1], /all of it in/)
})

test("windowOf() keeps the error message even if the cut removes it from the output", () => {
  const message = "exit code 7 of the build"
  const failed = gives("a", `${"x".repeat(3_000)}\n${message}\n${"y".repeat(3_000)}`)
  const result = { ...failed, data: { ...failed.data, error: { message, recoverable: true } } }
  const request = asks("a")
  const control = compacts({ keptFrom: request.id, cuts: [{ before: null, limit: 500 }] })
  const cut = windowOf([request, result, control]).sent[1] as Message.Of<"tool_result">
  assert.doesNotMatch(String(cut.data.output), /exit code 7/)
  assert.equal(cut.data.error?.message, message)
})

test("windowOf() leaves nothing out for an invalid compaction or a missing first message", () => {
  const messages = [said("user", "a"), said("assistant", "b")]
  const wrong = compacts({ summary: 7, keptFrom: {} } as never)
  assert.deepEqual(windowOf([...messages, wrong]).sent, messages)
  const none = compacts({ summary: "S", keptFrom: null })
  assert.equal(windowOf([...messages, none]).sent.length, 1)
  const gone = compacts({ summary: "S", keptFrom: "msg_gone" })
  assert.deepEqual(windowOf([...messages, gone]).sent.slice(1), messages)
})

test("turnStarts() are never inside a turn, between a call and its result, or before an attachment", () => {
  const file = Message.make({ ...place, type: "file_reference", data: { path: "a.ts", status: "resolved" } })
  const messages = [
    said("user", "look"),
    file,
    said("assistant", "I look."),
    asks("a", "b"),
    gives("b"),
    gives("a"),
    asks("c"),
    gives("c"),
    said("assistant", "done"),
    said("user", "more"),
    asks("d"),
    said("user", "stop"),
  ]
  assert.deepEqual(
    turnStarts(messages).map(({ index }) => index),
    [0, 2, 6, 8, 9, 10, 11],
  )
  assert.deepEqual(
    turnStarts(messages).flatMap(({ index, isPerson }) => (isPerson ? [index] : [])),
    [0, 9, 11],
  )
})

test("turnStarts() wait for results that come late", () => {
  const messages = [
    said("user", "look"),
    asks("a"),
    said("assistant", "meanwhile"),
    gives("a"),
    said("assistant", "done"),
  ]
  assert.deepEqual(
    turnStarts(messages).map(({ index }) => index),
    [0, 1, 4],
  )
})

test("workingState() is bounded however long the task is", () => {
  const messages = Array.from({ length: 3_000 }, (_, i) => [
    asks(`file${i}`),
    gives(`file${i}`, "y".repeat(5_000)),
  ]).flat()
  const { files, results, commands } = workingState(messages)
  assert.equal(files.length, 500)
  assert.equal(files.at(-1)?.path, "file2999")
  assert.equal(results.length, 20)
  assert.ok(results.every(({ text }) => text.length < 2_300))
  assert.equal(commands.length, 0)
})
