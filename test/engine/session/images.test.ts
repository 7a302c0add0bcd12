// Images in a prompt: sent to a model with vision, read by OCR for a model without it, over all four wire forms.
import assert from "node:assert/strict"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { outputFolder } from "#ability/call/output-folder.ts"
import * as Permission from "#ability/permission/permission.ts"
import type { PromptPart } from "#engine/record/prompt-part.ts"
import * as Session from "#engine/session/session.ts"
import type * as Message from "#knowledge/message/message.ts"
import { type Request, status, text, type Wire } from "../../fixture/fake-llm.ts"
import { image, noteText } from "../../fixture/images.ts"
import { png } from "../../fixture/png.ts"
import { inWorld, type World } from "./harness.ts"
import { next } from "./needy.ts"

type Data = Message.Of<"image">["data"]

const note = image("note.png")
const inBase64 = note.toString("base64")
const asFile = (value: string, mode?: Data["mode"]): PromptPart => ({
  type: "image",
  source: { kind: "file", value },
  ...(mode ? { mode } : {}),
})
const asBytes = (bytes: Buffer): PromptPart => ({
  type: "image",
  source: { kind: "base64", value: bytes.toString("base64") },
})
const providers: Record<Wire, string> = {
  chat: "openai",
  responses: "openai",
  messages: "anthropic",
  gemini: "google",
}
/** A model with vision, and one without it (`blind`). */
const seeing = (wire: Wire = "chat") => ({
  wire: wire === "responses" ? ("chat" as const) : wire,
  config: {
    provider: {
      [providers[wire]]: {
        models: {
          "fake-model": { api: wire, input: ["text", "image"] },
          blind: { api: wire, input: ["text"] },
        },
      },
    },
  },
})

async function imagesOf({ messages }: World): Promise<Data[]> {
  return (await messages()).flatMap((message) => (message.type === "image" ? [message.data] : []))
}

function notices({ events }: World): string[] {
  return events
    .filter(({ type }) => type === "session.notice")
    .map(({ payload }) => (payload as { text: string }).text)
}

function lastText({ messages }: Request): string {
  return messages.findLast(({ role }) => role === "user")!.text
}

for (const wire of ["chat", "responses", "messages", "gemini"] as const)
  test(`an image is sent as bytes to a model with vision, over ${wire}, and its answer is stored as the description`, () =>
    inWorld(
      [text("An invoice for tea, 48.50."), text("Yes.")],
      async (world) => {
        const { tmp, llm, ask } = world
        tmp.write("note.png", note)
        await ask("what is it", { parts: [asFile("note.png")] })
        assert.equal(llm.requests[0]!.wire, wire)
        assert.ok(llm.requests[0]!.raw.includes(inBase64))
        assert.match(llm.requests[0]!.raw, /image\/png/)
        const [data] = await imagesOf(world)
        const { stored, ...rest } = data!
        assert.deepEqual(rest, {
          source: { kind: "file", value: "note.png", mimeType: "image/png" },
          mode: "auto",
          usedMode: "vision",
          state: "done",
          visionAnalysis: "An invoice for tea, 48.50.",
          metadata: { width: 460, height: 150, bytes: note.length },
        })
        assert.doesNotMatch(llm.requests[0]!.raw, /460|usedMode|metadata|sha256/)
        assert.ok(!llm.requests[0]!.raw.includes(stored!.hash))
        tmp.write("note.png", image("note.jpg"))
        await ask("are you sure")
        assert.ok(llm.requests[1]!.raw.includes(inBase64))
        assert.equal((await imagesOf(world))[0]!.visionAnalysis, "An invoice for tea, 48.50.")
      },
      seeing(wire),
    ))

test("an image is read by OCR for a model without vision, and the person is told", () =>
  inWorld([text("It says tea."), text("Still.")], async (world) => {
    world.tmp.write("note.png", note)
    await world.ask("what is it", { parts: [asFile("note.png")] })
    assert.equal(lastText(world.llm.requests[0]!), `what is it[text of image note.png]\n${noteText}`)
    assert.ok(!world.llm.requests[0]!.raw.includes(inBase64.slice(0, 100)))
    const [{ metadata, ...data }] = (await imagesOf(world)) as [Data]
    assert.equal(data.usedMode, "ocr")
    assert.equal(data.state, "done")
    assert.equal(data.recognizedText, noteText)
    const { confidence, language } = metadata as { confidence: number; language: string }
    assert.ok(confidence > 80)
    assert.equal(language, "en")
    assert.match(notices(world).join(), /openai\/fake-model takes no images.*vision is not available.*OCR/)
    assert.doesNotMatch(world.llm.requests[0]!.raw, /confidence|"language"/)
    await world.ask("sure?")
    assert.ok(world.llm.requests[1]!.raw.includes("Three boxes of green tea"))
  }))

test("an image that was read by OCR is sent as bytes to a later model with vision", () =>
  inWorld(
    [text("It says tea."), text("Tea, on yellow paper."), text("Read.")],
    async (world) => {
      const { llm, ask } = world
      await ask("what is it", { parts: [asBytes(note)], model: "openai/blind" })
      assert.equal(lastText(llm.requests[0]!), `what is it[text of image]\n${noteText}`)
      await ask("which colour", { model: "openai/fake-model" })
      assert.ok(llm.requests[1]!.raw.includes(inBase64))
      assert.ok(!llm.requests[1]!.raw.includes("[text of image]"))
      await ask("go on", { model: "openai/blind" })
      assert.ok(!llm.requests[2]!.raw.includes(inBase64))
      assert.ok(llm.requests[2]!.raw.includes("Three boxes of green tea"))
    },
    seeing(),
  ))

test("images that a later model refuses, old and new, are all read by OCR at once", () =>
  inWorld(
    [text("Tea."), status(400, { message: "This model does not support image input" }), text("Read.")],
    async (world) => {
      const { llm, ask } = world
      await ask("what is it", { parts: [asBytes(note)], model: "openai/blind" })
      await ask("and this", { parts: [asBytes(image("note.gif"))], model: "openai/fake-model" })
      assert.deepEqual(
        llm.requests.map(({ raw }) => raw.includes(inBase64)),
        [false, true, false],
      )
      assert.equal(llm.requests[2]!.raw.split("Three boxes of green tea").length, 3)
    },
    seeing(),
  ))

test("the mode ocr reads an image by OCR even if the model has vision", () =>
  inWorld(
    [text("ok")],
    async (world) => {
      await world.ask("what is it", { parts: [{ ...asBytes(note), mode: "ocr" } as PromptPart] })
      assert.equal(lastText(world.llm.requests[0]!), `what is it[text of image]\n${noteText}`)
      assert.equal((await imagesOf(world))[0]!.usedMode, "ocr")
      assert.deepEqual(notices(world), [])
    },
    seeing(),
  ))

test("mode vision fails for a model without vision, and can be retried with one that has it", () =>
  inWorld(
    [text("I cannot see it."), text("The image shows an invoice for tea.")],
    async (world) => {
      await world.ask("what is it", {
        parts: [{ ...asBytes(note), mode: "vision" } as PromptPart],
        model: "openai/blind",
      })
      const [failed] = await imagesOf(world)
      assert.equal(failed!.state, "failed")
      assert.match(failed!.error!, /openai\/blind takes no images.*"ocr" or "auto"/)
      assert.match(lastText(world.llm.requests[0]!), /\[image could not be read: .*takes no images/)
      await world.ask("and now", { refresh: true, model: "openai/fake-model" })
      assert.ok(world.llm.requests[1]!.raw.includes(inBase64))
      const [data] = await imagesOf(world)
      assert.deepEqual(
        [data!.state, data!.visionAnalysis, data!.error],
        ["done", "The image shows an invoice for tea.", undefined],
      )
    },
    seeing(),
  ))

for (const [what, refusal] of [
  ["with a wrong request", status(400, { message: "This model does not support image input" })],
  ["with no such endpoint", status(404, { message: "No endpoints found that support image input" })],
  [
    "as a fault of its own",
    status(500, { message: "image input is not supported - hint: provide the mmproj" }),
  ],
  ["for its size", status(413, { message: "too large" })],
] as const)
  test(`an image that the provider refuses ${what} is read by OCR, the request is retried, and the person is told`, () =>
    inWorld(
      [refusal, text("Tea."), text("Still tea.")],
      async (world) => {
        world.tmp.write("note.png", note)
        await world.ask("what is it", { parts: [asFile("note.png")] })
        assert.equal(world.llm.requests.length, 2)
        assert.ok(world.llm.requests[0]!.raw.includes(inBase64))
        assert.ok(!world.llm.requests[1]!.raw.includes(inBase64))
        assert.ok(lastText(world.llm.requests[1]!).includes(noteText))
        const [data] = await imagesOf(world)
        assert.deepEqual([data!.usedMode, data!.state, data!.recognizedText], ["ocr", "done", noteText])
        assert.match(notices(world).join(), /could not be shown to openai\/fake-model \(.+\).*OCR/)
        await world.ask("sure?")
        assert.ok(!world.llm.requests[2]!.raw.includes(inBase64), "it is not refused in every request")
      },
      seeing(),
    ))

test("a refused image with mode vision fails, and the prompt continues without it", () =>
  inWorld(
    [status(400, { message: "image exceeds 5 MB maximum" }), text("I see nothing.")],
    async (world) => {
      world.tmp.write("note.png", note)
      await world.ask("what is it", { parts: [asFile("note.png", "vision")] })
      const [data] = await imagesOf(world)
      assert.equal(data!.state, "failed")
      assert.match(data!.error!, /did not take the image: image exceeds 5 MB maximum/)
      assert.match(lastText(world.llm.requests[1]!), /\[image note.png could not be read/)
    },
    seeing(),
  ))

test("a request that fails for another reason is not taken for a refused image", () =>
  inWorld(
    [status(400, { message: "temperature is out of range" })],
    async (world) => {
      await assert.rejects(world.ask("what is it", { parts: [asBytes(note)] }), /temperature is out of range/)
      const [data] = await imagesOf(world)
      assert.deepEqual([data!.usedMode, data!.state], ["vision", "pending"])
    },
    seeing(),
  ))

test("a later model without vision gets earlier descriptions, or OCR for images without one", () =>
  inWorld(
    [text("Tea for 48.50."), text("As was said."), status(400, { message: "no" }), text("Read.")],
    async (world) => {
      await world.ask("what is it", { parts: [asBytes(note)] })
      await world.ask("go on", { model: "openai/blind" })
      assert.match(world.llm.requests[1]!.raw, /\[what a model said of image\]\\nTea for 48\.50\./)
      await assert.rejects(
        world.ask("and this", { parts: [asBytes(image("note.gif"))], model: "openai/fake-model" }),
      )
      await world.ask("go on", { model: "openai/blind" })
      assert.ok(world.llm.requests[3]!.raw.includes("Three boxes of green tea"))
      assert.deepEqual(
        (await imagesOf(world)).map(({ usedMode, state }) => [usedMode, state]),
        [
          ["vision", "done"],
          ["ocr", "done"],
        ],
      )
    },
    seeing(),
  ))

test("the bytes of an image are stored with the session, not in its message, and a fork has its own copy", () =>
  inWorld(
    [text("Tea."), text("Tea again.")],
    async (world) => {
      const { session, llm } = world
      await world.ask("what is it", { parts: [asBytes(note)] })
      const [data] = await imagesOf(world)
      assert.ok(JSON.stringify(data).length < 1_000)
      const kept = join(outputFolder(session.id), "images", data!.stored!.hash)
      assert.ok(existsSync(kept))
      const fork = await Session.fork(session.id)
      await Session.remove(session.id)
      assert.equal(existsSync(kept), false)
      await Session.prompt({ sessionId: fork.id, text: "and now" })
      assert.ok(llm.requests[1]!.raw.includes(inBase64))
    },
    seeing(),
  ))

test("Session.export() includes images, and Session.import() restores them or refuses invalid ones", () =>
  inWorld(
    [text("Tea."), text("Tea again.")],
    async ({ ask, session, llm }) => {
      await ask("what is it", { parts: [asBytes(note)] })
      const exported = JSON.parse(JSON.stringify(await Session.export(session.id)))
      await Session.remove(session.id)
      const bad = { ...exported, images: { x: Buffer.from("no image").toString("base64") } }
      await assert.rejects(Session.import(bad), {
        name: "Session.InvalidImport",
        message: /text, not an image/,
      })
      const { id } = await Session.import(exported)
      await Session.prompt({ sessionId: id, text: "and now" })
      assert.ok(llm.requests[1]!.raw.includes(inBase64))
    },
    seeing(),
  ))

async function withServer(fn: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => {
    if (request.url === "/moved.png") return void response.writeHead(302, { location: "/note.png" }).end()
    response.writeHead(200, { "content-type": "image/jpeg" }).end(note)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  try {
    await fn(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test("an image URL is fetched once, if the rules or a person allow it, and sent as bytes", () =>
  withServer((origin) =>
    inWorld(
      [text("An invoice for tea."), text("An invoice for tea."), text("Nothing.")],
      async (world) => {
        const url = (path: string): PromptPart => ({
          type: "image",
          source: { kind: "url", value: origin + path },
        })
        const rules = [{ permission: "network.fetch", pattern: `${origin}/*`, action: "allow" as const }]
        await world.ask("what is it", { parts: [url("/moved.png")], rules, asks: "deny" })
        assert.ok(world.llm.requests[0]!.raw.includes(inBase64))
        assert.ok(!world.llm.requests[0]!.raw.includes(origin))
        const asking = world.ask("and this", { parts: [url("/note.png?2")] })
        const [question] = await next()
        assert.match(question!.title, /network\.fetch.*note\.png/)
        await Permission.reply(question!.id, "once")
        await asking
        const refused = world.ask("and this", { parts: [url("/note.png?3")] })
        await Permission.reply((await next())[0]!.id, "reject")
        await refused
        const images = await imagesOf(world)
        assert.deepEqual(
          images.map(({ state, source }) => [state, source.mimeType]),
          [
            ["done", "image/png"],
            ["done", "image/png"],
            ["failed", undefined],
          ],
        )
        assert.match(images[2]!.error!, /rejected/)
      },
      seeing(),
    ),
  ))

test("invalid images fail with the reason, and the prompt continues", () =>
  inWorld([text("I see none of them.")], async (world) => {
    const { tmp } = world
    tmp.write("cut.png", note.subarray(0, 3_000))
    tmp.write("bomb.png", png({ width: 60_000, height: 60_000, raw: Buffer.alloc(100) }))
    tmp.write("page.png", "<!doctype html><p>Sign in</p>")
    tmp.write("drawing.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>')
    const url = (value: string): PromptPart => ({ type: "image", source: { kind: "url", value } })
    const bad: [part: PromptPart, reason: RegExp][] = [
      [asFile("missing.png"), /"missing.png" does not exist/],
      [asFile("cut.png"), /PNG that breaks off/],
      [asFile("bomb.png"), /60000 × 60000 pixels/],
      [asFile("page.png"), /a web page, not an image/],
      [asFile("drawing.svg"), /SVG drawing/],
      [asFile("../note.png"), /outside|"\.\."/],
      [asBytes(Buffer.alloc(900, "no image")), /text, not an image/],
      [
        url("https://example.com/a.png"),
        /network\.fetch.*--allow "network.fetch:https:\/\/example.com\/a.png"/,
      ],
      [url("nowhere"), /nowhere/],
    ]
    await world.ask("look", { parts: bad.map(([part]) => part), asks: "deny" })
    const images = await imagesOf(world)
    assert.equal(images.length, bad.length)
    for (const [i, { state, error }] of images.entries()) {
      assert.equal(state, "failed")
      assert.match(error!, bad[i]![1])
    }
    assert.ok(JSON.stringify(images).length < 6_000)
    assert.match(lastText(world.llm.requests[0]!), /\[image bomb.png could not be read/)
    assert.equal(await world.status(), "idle")
  }))
