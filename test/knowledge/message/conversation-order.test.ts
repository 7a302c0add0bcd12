// Each message comes after the one that it follows, whatever their ids say: older versions made ids from the clock
// alone.
import assert from "node:assert/strict"
import { test } from "node:test"
import { conversationOrder } from "#knowledge/message/conversation-order.ts"
import * as Message from "#knowledge/message/message.ts"
import { createRandom } from "../../fixture/random.ts"

test("conversationOrder() puts messages behind the one that they follow when the clock went back", () => {
  const messages = [
    text("msg_1", "msg_9"),
    text("msg_2", "msg_1"),
    text("msg_8", null),
    text("msg_9", "msg_8"),
  ]
  assert.deepEqual(idsOf(conversationOrder(messages)), ["msg_8", "msg_9", "msg_1", "msg_2"])
})

test("conversationOrder() puts a revert after the messages that it reverted", () => {
  const messages = [
    revert("msg_1", { parentId: "msg_7", from: "msg_8" }),
    text("msg_7", null),
    text("msg_8", "msg_7"),
  ]
  assert.deepEqual(idsOf(conversationOrder(messages)), ["msg_7", "msg_8", "msg_1"])
})

test("conversationOrder() keeps the order of ids if parents allow it, even around a missing parent", () => {
  const messages = [
    text("msg_1", null),
    text("msg_2", "msg_gone"),
    text("msg_3", "msg_1"),
    text("msg_4", "msg_2"),
  ]
  assert.equal(conversationOrder(messages), messages)
})

test("conversationOrder() gives every message once, also of a cycle and of a chain of 20 000 in reverse", () => {
  const cycle = [text("msg_1", "msg_2"), text("msg_2", "msg_1"), text("msg_3", "msg_2")]
  assert.deepEqual(idsOf(conversationOrder(cycle)).sort(), ["msg_1", "msg_2", "msg_3"])
  const name = (n: number) => `msg_${String(n).padStart(6, "0")}`
  const chain = Array.from({ length: 20_000 }, (_, n) => text(name(n), n === 19_999 ? null : name(n + 1)))
  assert.deepEqual(idsOf(conversationOrder(chain)), idsOf(chain).reverse())
})

test("conversationOrder() of random trees has every parent before its children", () => {
  const random = createRandom(7)
  for (let round = 0; round < 50; round++) {
    const ids = Array.from({ length: 40 }, (_, n) => ({ id: `msg_${n}`, key: random(1_000_000) }))
      .sort((a, b) => a.key - b.key)
      .map(({ id }) => id)
    const messages = ids.map((id, i) => text(id, i ? ids[random(i)]! : null))
    const ordered = idsOf(conversationOrder(messages.sort((a, b) => (a.id < b.id ? -1 : 1))))
    assert.equal(new Set(ordered).size, 40)
    for (const { id, parentId } of messages)
      assert.ok(parentId === null || ordered.indexOf(parentId) < ordered.indexOf(id))
  }
})

function text(id: string, parentId: string | null): Message.Info {
  const data = { role: "user" as const, parts: [] }
  return { ...Message.make({ sessionId: "sess_1", parentId: null, type: "text", data }), id, parentId }
}

function revert(id: string, { parentId, from }: { parentId: string; from: string }): Message.Info {
  const data = { control: "revert", parameters: { from } }
  return {
    ...Message.make({ sessionId: "sess_1", parentId: null, type: "system_control", data }),
    id,
    parentId,
  }
}

function idsOf(messages: Message.Info[]): string[] {
  return messages.map(({ id }) => id)
}
