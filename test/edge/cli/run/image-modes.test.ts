// How an image is recognised, in each mode, through the installed command and over HTTP, with real images and real OCR.
// The loopback model has two names: one takes images, the other does not.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import type * as Message from "#knowledge/message/message.ts"
import { bodiesOf } from "../../../fixture/api-of.ts"
import { serving, vitamin } from "../../../fixture/cli.ts"
import {
  call,
  calls,
  env,
  type FakeLlm,
  fakeLlm,
  type Reply,
  status,
  text,
} from "../../../fixture/fake-llm.ts"
import { image, noteText } from "../../../fixture/images.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

type Data = Message.Of<"image">["data"]

const bytes = image("note.png").toString("base64")
const seeing = ["--model", "openai/seeing"]
const blind = ["--model", "openai/blind"]
const models = { seeing: { input: ["text", "image"] }, blind: { input: ["text"] } }
const VITAMIN_CONFIG = JSON.stringify({ provider: { openai: { models } } })

async function withImage(replies: Reply[], fn: (given: Given) => Promise<void>): Promise<void> {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm(replies)
  tmp.write("note.png", image("note.png"))
  tmp.write("a.txt", "a\n")
  const variables = { ...env(llm, "chat").variables, VITAMIN_CONFIG }
  const run = async (args: string[]) => {
    const { code, err } = await vitamin(tmp, ["run", ...args], variables)
    assert.equal(code, 0, err)
    return err
  }
  const stored = async () => {
    const { out } = await vitamin(tmp, ["session", "export"], variables)
    const { messages } = JSON.parse(out) as { messages: Message.Info[] }
    return messages.flatMap((message) => (message.type === "image" ? [message.data] : []))[0]!
  }
  await fn({ tmp, llm, variables, run, stored })
}
type Given = {
  tmp: Tmp
  llm: FakeLlm
  variables: Record<string, string>
  run(args: string[]): Promise<string>
  stored(): Promise<Data>
}

for (const mode of ["vision", "auto"])
  test(`--image-mode ${mode} sends the image and stores the answer about it; a later model without vision gets that answer`, () =>
    withImage([text("An invoice for green tea, 48.50."), text("As said.")], async ({ llm, run, stored }) => {
      const err = await run([...seeing, "--image", "note.png", "--image-mode", mode, "what is it"])
      assert.match(err, /^· attached note\.png \(vision\)$/m)
      assert.ok(llm.requests[0]!.raw.includes(bytes))
      const { state, usedMode, visionAnalysis, recognizedText } = await stored()
      assert.deepEqual(
        { state, usedMode, visionAnalysis, recognizedText },
        {
          state: "done",
          usedMode: "vision",
          visionAnalysis: "An invoice for green tea, 48.50.",
          recognizedText: undefined,
        },
      )
      await run([...blind, "--continue", "and the sum?"])
      assert.match(
        llm.requests[1]!.raw,
        /\[what a model said of image note\.png\]\\nAn invoice for green tea/,
      )
      assert.ok(!llm.requests[1]!.raw.includes("Three boxes"))
    }))

for (const [what, replies] of [
  ["a yes", [text("Yes, I can see it.")]],
  [
    "a preamble and a report",
    [
      calls([text("Let me look at the invoice, a nice one for tea."), call("read", { path: "a.txt" })]),
      text("I've built the page with a header and three columns."),
    ],
  ],
] as [string, Reply[]][])
  test(`${what} is not stored as visionAnalysis: the image stays pending, and OCR reads it when the model changes`, () =>
    withImage([...replies, text("It is about tea.")], async ({ llm, run, stored }) => {
      await run([...seeing, "--image", "note.png", "build this"])
      const pending = await stored()
      assert.deepEqual(
        [pending.state, pending.usedMode, pending.visionAnalysis],
        ["pending", "vision", undefined],
      )
      const err = await run([...blind, "--continue", "what does it say?"])
      assert.match(err, /an image could not be shown to openai\/blind \(it takes none\).*OCR/)
      assert.ok(llm.requests.at(-1)!.raw.includes("Three boxes of green tea"))
      const read = await stored()
      assert.deepEqual(
        [read.state, read.usedMode, read.visionAnalysis, read.recognizedText],
        ["done", "ocr", undefined, noteText],
      )
    }))

test("an image that stayed pending is described by a later answer that names it", () =>
  withImage([text("Yes."), text("The image shows an invoice for tea.")], async ({ run, stored }) => {
    await run([...seeing, "--image", "note.png", "can you see it?"])
    await run([...seeing, "--continue", "so what is it?"])
    const { state, visionAnalysis } = await stored()
    assert.deepEqual([state, visionAnalysis], ["done", "The image shows an invoice for tea."])
  }))

test("--image-mode ocr reads the text for a model with vision, with confidence and language", () =>
  withImage([text("ok")], async ({ llm, run, stored }) => {
    const err = await run([...seeing, "--image", "note.png", "--image-mode", "ocr", "what is it"])
    assert.match(err, /^· attached note\.png \(ocr\)$/m)
    assert.ok(!llm.requests[0]!.raw.includes(bytes))
    assert.ok(llm.requests[0]!.raw.includes("Three boxes of green tea"))
    const { state, usedMode, recognizedText, metadata } = await stored()
    assert.deepEqual([state, usedMode, recognizedText], ["done", "ocr", noteText])
    const { confidence, language } = metadata as { confidence: number; language: string }
    assert.ok(confidence > 80 && confidence <= 100, String(confidence))
    assert.equal(language, "en")
  }))

test("auto falls back to OCR if the provider refuses the image, and reports it", () =>
  withImage(
    [status(400, { message: "This model does not support image input" }), text("Tea.")],
    async ({ llm, run, stored }) => {
      const err = await run([...seeing, "--image", "note.png", "what is it"])
      assert.match(err, /could not be shown to openai\/seeing \(.*does not support image input.*OCR/)
      assert.ok(llm.requests[1]!.raw.includes("Three boxes of green tea"))
      const { state, mode, usedMode, recognizedText } = await stored()
      assert.deepEqual([state, mode, usedMode, recognizedText], ["done", "ocr", "ocr", noteText])
    },
  ))

test("auto reads the text for a model without vision, and says that vision is not available", () =>
  withImage([text("Tea.")], async ({ run, stored }) => {
    const err = await run([...blind, "--image", "note.png", "what is it"])
    assert.match(err, /^vitamin: .*openai\/blind takes no images, so vision is not available.*OCR/m)
    const { mode, usedMode, recognizedText } = await stored()
    assert.deepEqual([mode, usedMode, recognizedText], ["auto", "ocr", noteText])
  }))

test("--image-mode vision fails for a model without vision, and names the modes that work", () =>
  withImage([text("I cannot see it.")], async ({ run, stored }) => {
    const err = await run([...blind, "--image", "note.png", "--image-mode", "vision", "what is it"])
    assert.match(err, /^✗ note\.png could not be attached: .*takes no images.*"ocr" or "auto"/m)
    assert.equal((await stored()).state, "failed")
  }))

test("over HTTP the event stream says that vision is not available, and the message has the mode that was used", () =>
  withImage([text("Yes."), text("Tea.")], async ({ tmp, variables }) => {
    const server = await serving(tmp, [], variables)
    await using _ = server.child
    const authorization = `Bearer ${readFileSync(server.tokenFile, "utf8").trim()}`
    const api = bodiesOf(server)
    const { id } = (await api("POST", "/session", {})) as { id: string }
    const imageOf = async () => {
      const messages = (await api("GET", `/session/${id}/message`)) as Message.Info[]
      return messages.find((message) => message.type === "image")!.data as Data
    }
    const abort = new AbortController()
    const events = await fetch(`${server.url}/event`, { headers: { authorization }, signal: abort.signal })
    const parts = [{ type: "image", source: { kind: "base64", value: bytes } }]
    await api("POST", `/session/${id}/message`, { text: "see it?", parts, model: "openai/seeing" })
    assert.equal((await imageOf()).state, "pending")
    await api("POST", `/session/${id}/message`, { text: "what is it?", model: "openai/blind" })
    const { state, usedMode, recognizedText, metadata } = await imageOf()
    assert.deepEqual([state, usedMode, recognizedText], ["done", "ocr", noteText])
    assert.equal((metadata as { language: string }).language, "en")
    const seen = await readUntil(events, /could not be shown to openai\/blind/)
    assert.match(seen, /"session\.notice"/)
    abort.abort()
  }))

async function readUntil(response: Response, wanted: RegExp): Promise<string> {
  let all = ""
  const decoder = new TextDecoder()
  for await (const bytes of response.body!) {
    all += decoder.decode(bytes, { stream: true })
    if (wanted.test(all)) break
  }
  return all
}
