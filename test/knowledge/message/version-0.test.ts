// Version 0, the snake_case shape of document 002, reads as version 1 without the caller noticing.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Message from "#knowledge/message/message.ts"
import { at, fixtures, ms } from "./version-0-fixture.ts"

for (const [what, [old, type, data]] of Object.entries(fixtures))
  test(`Message.parse() migrates version 0: ${what}`, () => {
    for (const json of [old, { ...old, schema: 0 }, JSON.stringify(old)]) {
      const migrated = Message.parse(json)
      assert.equal(migrated.type, type)
      assert.deepEqual(migrated.data, data)
      assert.equal(migrated.schema, 1)
      assert.deepEqual(Message.parse(Message.serialize(migrated)), migrated)
    }
  })

test("Message.parse() migrates the envelope of version 0", () => {
  const data = { role: "User", content: "a" }
  const old = {
    type: "Text",
    id: "m1",
    session_id: "s1",
    parent_id: "m0",
    branch_name: "b",
    created_at: at,
    data,
  }
  assert.deepEqual(Message.parse({ ...old, dirty: true }), {
    id: "m1",
    sessionId: "s1",
    parentId: "m0",
    branch: "b",
    time: ms,
    schema: 1,
    type: "text",
    data: { role: "user", parts: [{ type: "text", text: "a" }] },
  })
})

test("Message.parse() gives an envelope to a message of version 0 that has none", () => {
  const { id, sessionId, parentId, branch, time } = Message.parse({ type: "Text", data: { content: "a" } })
  assert.match(id, /^msg_/)
  assert.deepEqual(
    { sessionId, parentId, branch, time },
    { sessionId: "", parentId: null, branch: "main", time: 0 },
  )
})
