// Messages on disk, and the events about them.
import assert from "node:assert/strict"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { afterEach, test } from "node:test"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { migrations } from "#knowledge/message/codec.ts"
import { gapsIn } from "#knowledge/message/gaps.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { examples } from "../../../script/messages.ts"
import { type TmpStore, tmpStore } from "../../fixture/tmp-store.ts"
import { assistant, message, result, user } from "./fixture.ts"

afterEach(() => Instance.disposeAll())

/** Run in an instance with a store of its own, and with every event that is published meanwhile. */
async function inStore(fn: (store: TmpStore, events: Bus.Event[]) => unknown): Promise<void> {
  await using store = await tmpStore()
  mkdirSync(store.root, { recursive: true })
  await Instance.provide({
    directory: store.root,
    async fn() {
      const events: Bus.Event[] = []
      const end = Bus.subscribe("*", (event) => events.push(event))
      await fn(store, events)
      end()
    },
  })
}

/** Put bytes where a record of session sess_1 is. */
function place(store: TmpStore, id: string, text: string) {
  const file = store.file("message", "sess_1", id)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

test("MessageStore.write() stores a message, then publishes message.created, later message.updated", () =>
  inStore(async (store, events) => {
    const first = assistant("a", null) as Message.Of<"text">
    await MessageStore.write(first)
    const stored = readFileSync(store.file("message", "sess_1", first.id), "utf8")
    assert.equal(stored, Message.serialize(first))
    const second: Message.Info = { ...first, data: { ...first.data, finish: "stop" } }
    await MessageStore.write(second)
    assert.deepEqual(
      events.map(({ type, payload }) => ({ type, payload })),
      [
        { type: "message.created", payload: { sessionId: "sess_1", message: first } },
        { type: "message.updated", payload: { sessionId: "sess_1", message: second } },
      ],
    )
    assert.deepEqual(await MessageStore.get("sess_1", first.id), second)
  }))

test("MessageStore.write() publishes only what is on disk already", () =>
  inStore(async () => {
    const one = user("a")
    const seen: unknown[] = []
    Bus.subscribe(MessageStore.Created, ({ message }) => {
      seen.push(Storage.read(["message", "sess_1", message.id]))
    })
    await MessageStore.write(one)
    assert.deepEqual(await Promise.all(seen), [one])
  }))

test("MessageStore.write() replaces all of a record, and keeps the order of writes that are not awaited", () =>
  inStore(async (_, events) => {
    const base = {
      ...message("image", { source: { kind: "url", value: "x" }, mode: "auto", state: "pending" }),
    }
    const writes = ["one", "two", "three"].map((error) =>
      MessageStore.write({ ...base, agent: error, data: { ...base.data, error } }),
    )
    await Promise.all([...writes, MessageStore.write(base)])
    assert.deepEqual(await MessageStore.get("sess_1", base.id), base)
    assert.deepEqual(
      events.map(({ type }) => type),
      ["message.created", "message.updated", "message.updated", "message.updated"],
    )
  }))

test("MessageStore.write() stores a message as it was when it was called", () =>
  inStore(async (_, events) => {
    const growing = assistant("a", null) as Message.Of<"text">
    const written = MessageStore.write(growing)
    growing.data.parts[0]!.text += "b"
    growing.data.parts.push({ type: "text", text: "c" })
    await written
    const expected = [{ type: "text", text: "a" }]
    assert.deepEqual((await MessageStore.get("sess_1", growing.id)).data, {
      role: "assistant",
      parts: expected,
    })
    assert.deepEqual((events[0]!.payload as { message: Message.Of<"text"> }).message.data.parts, expected)
  }))

test("MessageStore.write() refuses an invalid message before it writes", () =>
  inStore(async (_, events) => {
    const wrong = { ...user("a"), data: { role: "robot", parts: [] } } as unknown as Message.Info
    await assert.rejects(MessageStore.write(wrong), Message.Invalid)
    const odd = message("unknown", { original: "7" })
    await assert.rejects(MessageStore.write(odd), Message.Invalid)
    assert.deepEqual(await MessageStore.list("sess_1"), [])
    assert.deepEqual(events, [])
  }))

test("MessageStore.write() redacts secrets in the record and the event", () =>
  inStore(async (store, events) => {
    Secret.register("sk-message-secret-1", "KEY")
    const one = result("1", { key: "sk-message-secret-1" })
    await MessageStore.write(one)
    const stored = readFileSync(store.file("message", "sess_1", one.id), "utf8")
    assert.ok(!stored.includes("sk-message-secret-1"))
    assert.ok(!JSON.stringify(events).includes("sk-message-secret-1"))
    assert.deepEqual((JSON.parse(stored) as Message.Of<"tool_result">).data.output, { key: "[KEY]" })
  }))

test("MessageStore.write() replaces a broken record by the whole one", () =>
  inStore(async (store) => {
    const one = user("a")
    place(store, one.id, '{"id":')
    await MessageStore.write(one)
    assert.deepEqual(await MessageStore.list("sess_1"), [one])
  }))

test("MessageStore.list() gives every type back in the order of ids", () =>
  inStore(async () => {
    const written = Object.values(examples).map((one, i) => ({ ...one, id: `msg_${i}`, sessionId: "sess_1" }))
    for (const one of [...written].reverse()) await MessageStore.write(one)
    assert.deepEqual(await MessageStore.list("sess_1"), written)
    assert.deepEqual(await MessageStore.list("sess_2"), [])
  }))

test("MessageStore.list() keeps an unknown message, and writing it again changes no byte", () =>
  inStore(async (store) => {
    const text =
      '{"type":"poll","schema":4,"id":"msg_5","data":{"z":1,"a":[{}],"__proto__":{"x":1}},"__proto__":{"y":2}}'
    place(store, "msg_5", text)
    const [kept] = await MessageStore.list("sess_1")
    assert.equal(kept?.type, "unknown")
    assert.equal(Message.serialize(kept!), text)
    await MessageStore.write(kept!)
    assert.equal(readFileSync(store.file("message", "sess_1", "msg_5"), "utf8"), text)
    await MessageStore.write({ ...kept!, sessionId: "sess_2" })
    const [copy] = await MessageStore.list("sess_2")
    assert.deepEqual(copy, { ...kept, sessionId: "sess_2" })
  }))

test("MessageStore.list() has a note for each message that cannot be read and names it; all others load", () =>
  inStore(async (store) => {
    const good = [user("a"), user("b")]
    for (const one of good) await MessageStore.write(one)
    place(store, "msg_zcut", '{"id":"msg_zcut","ty')
    place(store, "msg_zempty", "")
    place(store, "msg_zlist", "[]")
    place(store, "msg_zrole", JSON.stringify({ ...user("c"), id: "msg_zrole", data: { role: "robot" } }))
    mkdirSync(`${dirname(store.file("message", "sess_1", "x"))}/msg_zfolder`)
    const listed = await MessageStore.list("sess_1")
    assert.deepEqual(listed.slice(0, 2), good)
    assert.deepEqual(
      gapsIn(listed).map(({ id }) => id),
      ["msg_zcut", "msg_zempty", "msg_zlist", "msg_zrole"],
    )
    assert.equal(listed.length, 6)
    const log = store.log()
    for (const name of ["msg_zcut", "msg_zempty", "msg_zlist"]) assert.ok(log.includes(name), name)
    assert.match(log, /WARN .*Message msg_zrole is not valid: data\.role: .*sessionId=sess_1/)
  }))

test("MessageStore.list() migrates an older version step by step without changing the record", (t) =>
  inStore(async (store) => {
    migrations.set(-1, ({ file, ...rest }) => ({ ...rest, path: file! }))
    migrations.set(0, ({ path, ...rest }) => ({ ...rest, schema: 1, time: 5, data: { path: path! } }))
    t.after(() => migrations.clear())
    const older = '{"schema":-1,"type":"file_reference","file":"a"}'
    const old = '{"schema":0,"type":"file_reference","path":"b"}'
    place(store, "msg_0", older)
    place(store, "msg_1", old)
    const read = await MessageStore.list("sess_1")
    assert.deepEqual(
      read.map(({ id, sessionId, schema, data }) => ({ id, sessionId, schema, data })),
      ["a", "b"].map((path, i) => ({
        id: `msg_${i}`,
        sessionId: "sess_1",
        schema: 1,
        data: { path, status: "pending" },
      })),
    )
    assert.equal(readFileSync(store.file("message", "sess_1", "msg_0"), "utf8"), older)
    assert.equal(readFileSync(store.file("message", "sess_1", "msg_1"), "utf8"), old)
  }))

test("MessageStore.get() of a missing message throws Storage.NotFound", () =>
  inStore(() => assert.rejects(MessageStore.get("sess_1", "msg_none"), Storage.NotFound)))

test("MessageStore.remove() removes all messages of one session only", () =>
  inStore(async () => {
    const other = { ...user("z"), sessionId: "sess_2" }
    for (const one of [user("a"), user("b"), other]) await MessageStore.write(one)
    await MessageStore.remove("sess_1")
    assert.deepEqual(await MessageStore.list("sess_1"), [])
    assert.deepEqual(await MessageStore.list("sess_2"), [other])
    await MessageStore.remove("sess_1")
  }))

test("MessageStore.Delta is live: it has no id", () =>
  inStore((_, events) => {
    Bus.publish(MessageStore.Delta, { sessionId: "s", messageId: "m", kind: "text", text: "a" })
    assert.equal(events[0]?.type, "message.delta")
    assert.ok(!("id" in events[0]!))
  }))

test("MessageStore.list() gives the messages in the order of the conversation, also where their ids are in another", () =>
  inStore(async () => {
    const first = { ...user("one"), id: "msg_5", parentId: null }
    const second = { ...user("two"), id: "msg_2", parentId: "msg_5" }
    for (const message of [first, second]) await MessageStore.write({ ...message, sessionId: "sess_1" })
    assert.deepEqual(
      (await MessageStore.list("sess_1")).map(({ id }) => id),
      ["msg_5", "msg_2"],
    )
  }))

test("Message.make() gives an id that sorts behind the message that it follows, made by a clock that was ahead", () => {
  const parentId = "msg_0zzzzzzzzz0000000000000000"
  const data = { role: "user" as const, parts: [] }
  const { id } = Message.make({ sessionId: "sess_1", parentId, type: "text", data })
  assert.ok(id > parentId)
})
