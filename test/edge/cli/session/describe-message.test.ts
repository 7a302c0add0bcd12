// How `vitamin session show` prints each type of message.
import assert from "node:assert/strict"
import { test } from "node:test"
import { describeMessage } from "#edge/cli/session/describe-message.ts"
import * as Message from "#knowledge/message/message.ts"

const place = { sessionId: "sess_1", parentId: null }
const show = <T extends Message.Type>(type: T, data: Message.Of<T>["data"]) =>
  describeMessage(Message.make({ ...place, type, data }))
const file = { kind: "file" as const, value: "a.png" }

test("describeMessage() shows an attachment, or why it failed", () => {
  assert.equal(
    show("file_reference", { path: "a.ts", startLine: 2, endLine: 3, status: "resolved", content: "x" }),
    "· attached a.ts:2-3",
  )
  assert.match(
    show("file_reference", { path: "a.ts", status: "failed", error: "gone" }),
    /^✗ a\.ts .*: gone$/,
  )
  assert.equal(show("file_reference", { path: "a.ts", status: "pending" }), "· a.ts is not read yet")
})

test("describeMessage() shows how an image was read, and a part of its text", () => {
  const read = show("image", {
    source: file,
    mode: "auto",
    usedMode: "ocr",
    state: "done",
    recognizedText: `Words ${"x".repeat(400)}\n`,
  })
  assert.match(read, /^· attached a\.png \(ocr\)\n {2}Words x{294}…$/)
  assert.match(
    show("image", { source: file, mode: "ocr", state: "failed", error: "no PNG" }),
    /^✗ a\.png .*: no PNG$/,
  )
  const bytes = { kind: "base64" as const, value: "A".repeat(5_000) }
  assert.ok(show("image", { source: bytes, mode: "vision", state: "done" }).length < 100)
  assert.match(show("image", { source: file, mode: "auto", state: "pending" }), /not recognised yet/)
})

test("describeMessage() of a control message says what changed, with control characters escaped", () => {
  const control = (name: string, parameters: Message.JsonObject) =>
    show("system_control", { control: name, parameters })
  assert.equal(control("mode_change", { from: "act", to: "plan" }), "· mode: act → plan")
  assert.equal(
    control("branch_switch", { from: "main", to: "x", at: null }),
    "· branch: main → x, from the beginning on",
  )
  assert.equal(control("revert", { to: "msg_1", from: "msg_2" }), "· reverted: msg_1 and what came after it")
  assert.match(
    control("compaction", { tokensBefore: 900, tokensAfter: 90, by: "model" }),
    /900 tokens became 90/,
  )
  const odd = control("x\u001b[2J\n", { to: "y".repeat(500) })
  assert.ok(odd.length < 220)
  assert.ok(!odd.includes("\u001b") && !odd.includes("\n"))
  assert.equal(control("mode_change", {}), "· mode: ? → ?")
})

test("describeMessage() shows calls, results, resources and unknown messages", () => {
  const call = { id: "c", name: "read", arguments: { path: "a" }, approval: "approved" as const }
  const own = { ...call, name: "db_query", arguments: { sql: "select 1", limit: 5 } }
  const plan = { ...call, name: "todo", arguments: { items: [] } }
  assert.equal(show("tool_request", { calls: [call, own, plan] }), "→ Read a\n→ db_query select 1 5\n→ Plan")
  const result = { requestId: "c", toolName: "read", status: "success" as const, duration: 1, timestamp: 1 }
  assert.match(show("tool_result", { ...result, output: "z".repeat(400) }), /^← success: z{300}…\n$/)
  const resource = { serverName: "db", resourceUri: "db://a", content: "", retrievedAt: 1 }
  assert.equal(show("mcp_resource", resource), "· resource db://a of db")
  assert.match(show("unknown", { original: "{}" }), /does not know/)
})

test("describeMessage() of a compaction shows the tokens before and after, and the method", () => {
  const shown = (by: string) =>
    show("system_control", { control: "compaction", parameters: { by, tokensBefore: 900, tokensAfter: 300 } })
  assert.equal(shown("cut"), "· compacted: about 900 tokens became 300 (long results shortened)")
  assert.equal(shown("model"), "· compacted: about 900 tokens became 300 (with a summary by the model)")
  assert.match(shown("extract"), /\(with a summary made from the messages\)$/)
  assert.match(shown("constructor"), /\(constructor\)$/)
})
