// Images with other attachments: attached twice, reported twice, refused, interrupted or retried.
import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import type { PromptPart } from "#engine/record/prompt-part.ts"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import type * as Message from "#knowledge/message/message.ts"
import { status, text } from "../../fixture/fake-llm.ts"
import { image } from "../../fixture/images.ts"
import { inWorld, shapeOf, type World } from "./harness.ts"
import { next } from "./needy.ts"

const note = image("note.png")
const seeing = { provider: { openai: { models: { "fake-model": { input: ["text", "image"] } } } } }
const asImage = (kind: "file" | "url" | "base64", value: string): PromptPart => ({
  type: "image",
  source: { kind, value },
})
const imagesOf = async ({ messages }: World) =>
  (await messages()).flatMap((message) => (message.type === "image" ? [message.data] : []))
const notices = ({ events }: World) =>
  events.flatMap(({ type, payload }) =>
    type === "session.notice" ? [(payload as { text: string }).text] : [],
  )

test("an image that is attached and also mentioned is sent once, in the requested mode", () =>
  inWorld(
    [text("ok")],
    async (world) => {
      world.tmp.write("note.png", note)
      const file: PromptPart = { type: "file_reference", path: "./note.png" }
      const parts = [file, { ...asImage("file", "note.png"), mode: "ocr" } as PromptPart]
      await world.ask("what is in @note.png", { parts })
      assert.deepEqual(shapeOf(await world.messages()), ["user", "image", "assistant"])
      assert.equal((await imagesOf(world))[0]!.mode, "ocr")
    },
    { config: seeing },
  ))

test("the path of an image is resolved from the folder, then from the root of the project", () =>
  inWorld(
    [text("ok")],
    async (world) => {
      world.tmp.write("note.png", note)
      const directory = join(world.tmp.path, "sub")
      mkdirSync(directory)
      const session = await Session.create({ directory })
      const parts = [asImage("file", "note.png")]
      const fn = () => Session.prompt({ sessionId: session.id, text: "look", parts })
      await Instance.provide({ directory, fn })
      assert.ok(world.llm.requests[0]!.raw.includes(note.toString("base64")))
    },
    { git: true, config: seeing },
  ))

test("it is reported once that the model takes no images", () =>
  inWorld([text("ok")], async (world) => {
    world.tmp.write("a.png", note)
    world.tmp.write("b.png", note)
    await world.ask("look @a.png @b.png")
    assert.equal((await imagesOf(world)).length, 2)
    assert.equal(notices(world).length, 1, notices(world).join("\n"))
  }))

test("it is reported once, with a count, that the provider refuses images", () =>
  inWorld(
    [status(400, { message: "This model does not support image input" }), text("ok")],
    async (world) => {
      world.tmp.write("a.png", note)
      world.tmp.write("b.png", note)
      await world.ask("look @a.png @b.png")
      assert.deepEqual(
        (await imagesOf(world)).map(({ usedMode }) => usedMode),
        ["ocr", "ocr"],
      )
      const [told, ...more] = notices(world)
      assert.match(told!, /^2 images could not be shown to openai\/fake-model \(.*does not support image/)
      assert.deepEqual(more, [])
    },
    { config: seeing },
  ))

test("an image that may not be read fails like a file, without naming a tool", () =>
  inWorld([text("ok")], async (world) => {
    const file = join(dirname(world.tmp.path), "outside.png")
    writeFileSync(file, note)
    const url = "https://example.com/a.png"
    await world.ask("look", { parts: [asImage("file", file), asImage("url", url)], asks: "deny" })
    const [first, second] = await imagesOf(world)
    assert.match(first!.error!, /^file\.read of .*outside\.png" \(outside of the workspace\) needs a person/)
    assert.match(second!.error!, /^network\.fetch of "https:\/\/example\.com\/a\.png" needs a person/)
  }))

test("a password in the URL of an image is neither sent to the model nor stored", () =>
  inWorld([text("ok")], async (world) => {
    await world.ask("look", { parts: [asImage("url", "http://me:hunter2@127.0.0.1:9/a.png")], asks: "once" })
    assert.match((await imagesOf(world))[0]!.error!, /user name or password/)
    assert.doesNotMatch(JSON.stringify(await world.messages()), /hunter2/)
    assert.doesNotMatch(world.llm.requests[0]!.raw, /hunter2/)
  }))

test("the bytes of an image that an interruption leaves unread are not kept in its message", () =>
  inWorld([text("ok")], async (world) => {
    const file = join(dirname(world.tmp.path), "outside.txt")
    writeFileSync(file, "x\n")
    const parts: PromptPart[] = [
      { type: "file_reference", path: file },
      asImage("base64", image("page.png").toString("base64")),
    ]
    const answered = world.ask("look", { parts })
    answered.catch(() => {})
    await next()
    Session.abort(world.session.id)
    await assert.rejects(answered, { name: "Session.Interrupted" })
    const [left] = await imagesOf(world)
    assert.equal(left!.state, "failed")
    assert.match(left!.error!, /interrupted.*Attach it again/)
    assert.ok(JSON.stringify(left).length < 1_000)
  }))

test("a retry that fails again is reported again", () =>
  inWorld([text("one"), text("two")], async (world) => {
    await world.ask("look", { parts: [asImage("file", "gone.png")] })
    const before = world.events.length
    await world.ask("again", { refresh: true })
    const updated = world.events
      .slice(before)
      .flatMap(({ type, payload }) =>
        type === "message.updated" ? [(payload as { message: Message.Info }).message] : [],
      )
    assert.ok(updated.some(({ type, data }) => type === "image" && (data as { error?: string }).error))
  }))

test("an image that a person allowed is stored even if its OCR is interrupted", () =>
  inWorld([text("ok")], async (world) => {
    const file = join(dirname(world.tmp.path), "outside.png")
    writeFileSync(file, image("page.png"))
    const answered = world.ask("look", { parts: [asImage("file", file)] })
    answered.catch(() => {})
    const [question] = await next()
    const told = new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (!notices(world).length) return
        clearInterval(timer)
        resolve()
      }, 5)
    })
    await Permission.reply(question!.id, "once")
    await told
    Session.abort(world.session.id)
    await assert.rejects(answered, { name: "Session.Interrupted" })
    const [left] = await imagesOf(world)
    assert.equal(left!.state, "pending")
    assert.equal(left!.stored?.mimeType, "image/png")
  }))

test("an image without stored bytes does not count as seen", () =>
  inWorld(
    [text("one"), text("two")],
    async (world) => {
      world.tmp.write("note.png", note)
      await world.ask("look @note.png")
      const { images: _, ...exported } = await Session.export(world.session.id)
      for (const message of exported.messages as Message.Info[])
        if (message.type === "image") {
          Object.assign(message.data, { state: "pending" })
          delete message.data.visionAnalysis
        }
      const session = await Session.import(exported)
      await Session.prompt({ sessionId: session.id, text: "and now" })
      assert.match(world.llm.requests[1]!.raw, /image note\.png: not readable here/)
      const messages = await Session.messages(session.id)
      const [left] = messages.flatMap((message) => (message.type === "image" ? [message.data] : []))
      assert.deepEqual([left!.state, left!.visionAnalysis], ["pending", undefined])
    },
    { config: seeing },
  ))

test("a URL that nobody has allowed is not passed to the provider", () =>
  inWorld(
    [text("ok")],
    async (world) => {
      const answered = world.ask("look", { parts: [asImage("url", "https://example.com/private.png")] })
      answered.catch(() => {})
      await next()
      Session.abort(world.session.id)
      await assert.rejects(answered, { name: "Session.Interrupted" })
      await world.ask("go on")
      assert.doesNotMatch(world.llm.requests[0]!.raw, /image_url/)
      assert.equal((await imagesOf(world))[0]!.state, "pending")
    },
    { config: seeing },
  ))
