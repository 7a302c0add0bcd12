import assert from "node:assert/strict"
import { test } from "node:test"
import { Instance } from "#kernel/instance.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import * as Message from "#knowledge/message/message.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const said = (text: string) =>
  Message.make({
    sessionId: "sess_1",
    parentId: null,
    type: "text",
    data: { role: "user", parts: [{ type: "text", text }] },
  })

test("Memory frees idle sessions, the oldest first, and no busy one", async () => {
  await using tmp = await tmpdir()
  await Instance.provide({
    directory: tmp.path,
    fn() {
      const large = "x".repeat(700_000)
      for (const id of ["works", "a", "b", "c"]) {
        Memory.begin(id).push(said(large))
        if (id !== "works") Memory.rest(id)
      }
      assert.equal(Memory.shortTerm("works").messages().length, 1)
      assert.equal(Memory.shortTerm("c").messages().length, 1)
      assert.equal(Memory.shortTerm("b").messages().length, 1)
      assert.equal(Memory.shortTerm("a").messages().length, 0)
      for (let i = 0; i < 200; i++) {
        Memory.begin(`small${i}`).push(said("words"))
        Memory.rest(`small${i}`)
      }
      assert.equal(Memory.shortTerm("small199").messages().length, 1)
      assert.equal(Memory.shortTerm("small100").messages().length, 0)
      assert.equal(Memory.shortTerm("works").messages().length, 1)
      Memory.forget("works")
      assert.equal(Memory.shortTerm("works").messages().length, 0)
    },
  })
  await Instance.disposeAll()
})

test("Memory also counts calls and resources", async () => {
  await using tmp = await tmpdir()
  const place = { sessionId: "sess_1", parentId: null }
  const large = "x".repeat(3_000_000)
  const call = { id: "a", name: "write", arguments: { content: large }, approval: "approved" as const }
  const messages = [
    Message.make({ ...place, type: "tool_request", data: { calls: [call] } }),
    Message.make({
      ...place,
      type: "mcp_resource",
      data: { serverName: "s", resourceUri: "r:", mimeType: "image/png", content: large, retrievedAt: 0 },
    }),
  ]
  await Instance.provide({
    directory: tmp.path,
    fn() {
      for (const [i, message] of messages.entries()) {
        Memory.begin(`large${i}`).push(message)
        Memory.rest(`large${i}`)
        assert.equal(Memory.shortTerm(`large${i}`).messages().length, 0)
      }
    },
  })
  await Instance.disposeAll()
})

test("Memory.working() starts over with the messages of a new prompt", async () => {
  await using tmp = await tmpdir()
  await Instance.provide({
    directory: tmp.path,
    fn() {
      Memory.begin("one").push(said("first"), said("second"))
      assert.equal(Memory.working("one").state().request, "second")
      Memory.begin("one").push(said("other"))
      assert.deepEqual(Memory.working("one").state().goal, "other")
      Memory.shortTerm("one").append(said("more"))
      assert.equal(Memory.working("one").state().request, "more")
    },
  })
  await Instance.disposeAll()
})

test("Memory keeps the converter of a session for the next prompt, but not one that holds images", async () => {
  await using folder = await tmpdir()
  await Instance.provide({
    directory: folder.path,
    fn: async () => {
      const facts = { input: ["text"], providerId: "openai" }
      const of = (id: string) => Memory.converterFor(id, facts)
      const image = Message.make({
        sessionId: "sess_1",
        parentId: null,
        type: "image",
        data: { source: { kind: "base64", value: "aGk=" }, mode: "vision", state: "pending" },
      })
      Memory.begin("words").push(said("words"))
      Memory.begin("image").push(said("words"), image)
      const before = { words: of("words"), image: of("image") }
      for (const id of ["words", "image"]) Memory.rest(id)
      assert.equal(of("words"), before.words)
      assert.notEqual(of("image"), before.image)
      assert.notEqual(Memory.converterFor("words", { ...facts, input: ["text", "image"] }), before.words)
    },
  })
  await Instance.disposeAll()
})
