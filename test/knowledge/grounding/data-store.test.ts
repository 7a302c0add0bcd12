// The store as a source: what is found of the project, what of other projects is hidden, and what is never shown.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Grounding from "#knowledge/grounding/grounding.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

async function inStore(fn: (store: Grounding.DataStore, tmp: Tmp) => Promise<void>): Promise<void> {
  await using tmp = await tmpdir({ git: true })
  try {
    await Instance.provide({ directory: tmp.path, fn: () => fn(Grounding.get("data_store"), tmp) })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
}

async function say(sessionId: string, words: string, role: "user" | "assistant" = "user"): Promise<string> {
  const data = { role, parts: [{ type: "text" as const, text: words }] }
  const message = Message.make({ sessionId, parentId: null, type: "text", data })
  await MessageStore.write(message)
  return `message/${sessionId}/${message.id}`
}

/** A session of another project, with one message. */
async function elsewhere(tmp: Tmp, words: string): Promise<Session.Info> {
  const directory = `${tmp.path}/../elsewhere`
  tmp.write("../elsewhere/a", "x")
  return Instance.provide({
    directory,
    async fn() {
      const session = await Session.create({ title: words })
      await say(session.id, words)
      return session
    },
  })
}

test("data_store shows no stored prompt, last session or turn of another project", async () => {
  await inStore(async (store, tmp) => {
    const { id, projectId } = await elsewhere(tmp, "other words")
    const prompt = { sessionId: id, parts: [{ type: "text", text: "other words" }] }
    await Storage.write(["prompt", "prm_1"], prompt)
    await Storage.write(["job", id, "prm_2"], prompt)
    await Storage.write(["turn", "sess_gone", "msg_1"], { parentId: null, branch: "other words" })
    const { items } = await store.search({ text: "other words" })
    assert.deepEqual(items, [])
    const names = ["prompt/prm_1", `job/${id}/prm_2`, `last-session/${projectId}`, "turn/sess_gone/msg_1"]
    const listed = new Set((await store.list({ limit: 1_000 })).names)
    assert.deepEqual(
      names.filter((name) => listed.has(name)),
      [],
    )
  })
})

test("data_store finds text in stored entries, whatever its case, the newest first", async () => {
  await inStore(async (store) => {
    const session = await Session.create({ title: "Colours" })
    const first = await say(session.id, `We chose blue. ${"x".repeat(500)}`)
    const second = await say(session.id, `${"y ".repeat(300)}BLUE it is\n\nthen`, "assistant")
    await say(session.id, "red")
    const { items, more } = await store.search({ text: "blue" })
    assert.deepEqual(
      items.map(({ name, kind }) => [name, kind]),
      [
        [second, "text"],
        [first, "text"],
      ],
    )
    assert.match(items[0]!.text, /^…(y )+BLUE it is then$/)
    assert.match(items[1]!.text, /^We chose blue\. x+…$/)
    assert.equal(more, false)
    assert.deepEqual((await store.search({ text: "blue", limit: 1 })).more, true)
    assert.equal((await store.search({ text: "blue", where: { "data.role": "user" } })).items[0]!.name, first)
    const titled = await store.search({ text: "colours", under: "session" })
    assert.deepEqual(
      titled.items.map(({ name }) => name),
      [`session/${session.projectId}/${session.id}`],
    )
    assert.deepEqual((await store.search({ text: "green" })).items, [])
  })
})

test("data_store lists and filters entries that programs keep beside the sessions", async () => {
  await inStore(async (store) => {
    await Storage.write(["notes", "a"], { done: true, size: 3, tags: ["one"] })
    await Storage.write(["notes", "b", "c"], { done: false, size: 3 })
    await Storage.write(["top"], { done: true })
    assert.deepEqual(await store.list({ under: "notes" }), {
      names: ["notes/a", "notes/b/c"],
      total: 2,
      more: false,
    })
    assert.deepEqual((await store.list({ under: "notes/b" })).names, ["notes/b/c"])
    assert.deepEqual((await store.list({ under: "top" })).names, ["top"])
    assert.deepEqual((await store.list({ under: "note" })).names, [])
    const names = async (where: Record<string, string | number | boolean>) =>
      (await store.search({ where, under: "notes" })).items.map(({ name }) => name)
    assert.deepEqual(await names({ done: true }), ["notes/a"])
    assert.deepEqual((await names({ size: 3 })).sort(), ["notes/a", "notes/b/c"])
    assert.deepEqual(await names({ "tags.0": "one" }), ["notes/a"])
    assert.deepEqual(await names({ "constructor.name": "Object" }), [])
    assert.match((await store.search({ under: "notes/a" })).items[0]!.text, /^\{"done":true,/)
  })
})

test("data_store shows nothing of another project unless it is asked for, and no folders that are trusted", async () => {
  await inStore(async (store, tmp) => {
    const other = await elsewhere(tmp, "the foreign word")
    await Storage.write(["relation", other.id], { nodes: [{ text: "the foreign word" }] })
    await Storage.write(["message", "sess_gone", "msg_1"], { text: "the foreign word" })
    await Storage.write(["trust", "x"], { directory: "/the foreign word" })
    await Storage.write(["audit", "x"], { target: "/the foreign word" })
    const mine = await Session.create({ title: "mine" })
    assert.deepEqual((await store.search({ text: "foreign" })).items, [])
    for (const under of [
      `message/${other.id}`,
      `session/${other.projectId}`,
      "trust",
      `relation/${other.id}`,
    ])
      assert.deepEqual((await store.list({ under })).names, [], under)
    assert.deepEqual((await store.list({ under: "session" })).names, [`session/${mine.projectId}/${mine.id}`])
    const all = await store.search({ text: "foreign", everywhere: true })
    assert.equal(all.items.length, 5)
    assert.doesNotMatch(await store.describe(), /foreign/)
  })
})

test("data_store neither shows nor finds a secret, also one that was stored before it was known", async () => {
  await inStore(async (store) => {
    const session = await Session.create()
    const secret = "canary-0123456789abcdef"
    await say(session.id, `the key is ${secret} and more`)
    await Storage.write(["notes", "a"], { providerMetadata: { x: "hidden words" } })
    Secret.register(secret, "the key")
    const { items } = await store.search({ text: "the key is" })
    assert.equal(items[0]!.text, "the key is [the key] and more")
    assert.deepEqual((await store.search({ text: "canary" })).items, [])
    assert.doesNotMatch(JSON.stringify(await store.search({})), /canary/)
    assert.deepEqual((await store.search({ text: "hidden words" })).items, [])
  })
})

test("data_store skips broken records, and stops on abort", async () => {
  await inStore(async (store, tmp) => {
    const session = await Session.create()
    const found = await say(session.id, "a good word")
    tmp.write(`../data/vitamin/storage/message/${session.id}/msg_bad.json`, "{")
    tmp.write(`../data/vitamin/storage/message/${session.id}/msg_null.json`, "null")
    assert.deepEqual(
      (await store.search({ text: "good" })).items.map(({ name }) => name),
      [found],
    )
    await assert.rejects(store.search({ signal: AbortSignal.abort(new Error("enough")) }), /enough/)
  })
})

test("data_store describes the last sessions of the project by their titles", async () => {
  await inStore(async (store) => {
    assert.equal(await store.describe(), "No earlier session of this project is stored.")
    const ids: string[] = []
    for (let i = 0; i < 12; i++) ids.push((await Session.create({ title: `Title ${i}\nof it` })).id)
    await Session.create({ title: "a task", taskOf: { sessionId: ids[0]!, callId: "c" } })
    const words = await store.describe({ accepts: (name) => !name.endsWith(ids[11]!) })
    const lines = words.split("\n")
    assert.equal(lines.length, 9)
    assert.equal(lines[0], "The last sessions in this project:")
    assert.match(lines[1]!, /^- \d{4}-\d\d-\d\d Title 10 of it$/)
    assert.doesNotMatch(words, /a task/)
  })
})

test("data_store stops a search at its time limit and gives what it found until then", async (t) => {
  await inStore(async (store) => {
    for (const words of ["first", "second"]) await say((await Session.create({ title: words })).id, "blue")
    t.mock.timers.enable({ apis: ["setTimeout"] })
    const accepts = (name: string) => {
      if (name.startsWith("message/")) t.mock.timers.tick(21_000)
      return true
    }
    const { items, more, timedOut } = await store.search({ text: "blue", accepts })
    assert.deepEqual([items.length, more, timedOut], [1, true, true])
  })
})
