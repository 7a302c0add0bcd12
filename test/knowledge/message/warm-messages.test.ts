import assert from "node:assert/strict"
import { test } from "node:test"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { createWarmMessages } from "#knowledge/message/message-store.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

function said(text: string): Message.Info {
  const data = { role: "user" as const, parts: [{ type: "text" as const, text }] }
  return Message.make({ sessionId: "s", parentId: null, type: "text", data })
}

test("take() gives the messages of a session under its mark, once", () => {
  const warm = createWarmMessages()
  const message = said("hello")
  warm.keep("s", [message])
  warm.mark("s", "m1")
  assert.deepEqual([...warm.take("s", "m1")], [[message.id, message]])
  assert.equal(warm.take("s", "m1").size, 0)
})

test("take() gives nothing under another mark, without one, or for messages that were never marked", () => {
  const warm = createWarmMessages()
  for (const [marked, asked] of [
    ["m1", "m2"],
    ["m1", undefined],
    [undefined, undefined],
  ] as const) {
    warm.keep("s", [said("hello")])
    if (marked) warm.mark("s", marked)
    assert.equal(warm.take("s", asked).size, 0)
  }
})

test("forget() removes a message that was written since", () => {
  const warm = createWarmMessages()
  const messages = [said("one"), said("two")]
  warm.keep("s", messages)
  warm.forget("s", messages[0]!.id)
  warm.mark("s", "m")
  assert.deepEqual([...warm.take("s", "m").keys()], [messages[1]!.id])
  assert.equal(warm.size(), 0)
})

test("The cache never holds more than its bound; sessions that were used last stay", () => {
  const warm = createWarmMessages(10_000)
  for (let i = 0; i < 100; i++) {
    warm.keep(
      `s${i % 7}`,
      Array.from({ length: i % 5 }, () => said("x".repeat(600 + 50 * i))),
    )
    warm.mark(`s${i % 7}`, "m")
    assert.ok(warm.size() <= 10_000, `${warm.size()}`)
  }
  warm.keep("last", [said("short")])
  warm.mark("last", "m")
  assert.equal(warm.take("last", "m").size, 1)
  warm.keep("huge", [said("x".repeat(20_000))])
  assert.equal(warm.size(), 0)
})

test("MessageStore.remove() drops the messages of its session from the cache", async () => {
  await using tmp = await tmpdir()
  await Instance.provide({
    directory: tmp.path,
    fn: async () => {
      const message = said("hello")
      await MessageStore.write(message)
      MessageStore.warm().keep("s", [message])
      MessageStore.warm().keep("other", [said("stays")])
      const before = MessageStore.warm().size()
      await MessageStore.remove("s")
      assert.equal(MessageStore.warm().size(), before - JSON.stringify(message).length)
      MessageStore.warm().mark("s", "m")
      assert.equal(MessageStore.warm().take("s", "m").size, 0)
    },
  })
  await Storage.close()
})
