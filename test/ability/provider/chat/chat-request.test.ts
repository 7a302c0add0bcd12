// The chat-completions request that our own client makes of the options of a call.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { LanguageModelV4Prompt } from "@ai-sdk/provider"
import { bodyOf, chatServer, done, finish, modelAt, probe } from "../chat-server.ts"
import { hello, partsOf } from "../harness.ts"

const messagesOf = async (prompt: LanguageModelV4Prompt) => (await bodyOf({ prompt })).messages

test("a conversation with calls, results and thoughts", async () => {
  const call = { type: "tool-call" as const, toolName: "read" }
  const result = { type: "tool-result" as const, toolName: "read" }
  const prompt: LanguageModelV4Prompt = [
    { role: "system", content: "Be kind." },
    { role: "user", content: [{ type: "text", text: "Hello" }] },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm" },
        { ...call, toolCallId: "a", input: { p: 1 } },
        { ...call, toolCallId: "b", input: '{"p":2}' },
        {
          ...call,
          toolCallId: "c",
          input: "{broken",
          providerOptions: { google: { thoughtSignature: "s" } },
        },
      ],
    },
    {
      role: "tool",
      content: [
        { ...result, toolCallId: "a", output: { type: "text", value: "A" } },
        { ...result, toolCallId: "b", output: { type: "json", value: { b: [1] } } },
        { ...result, toolCallId: "c", output: { type: "execution-denied" } },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "Done." }] },
  ]
  const made = (id: string, text: string) => ({
    id,
    type: "function",
    function: { name: "read", arguments: text },
  })
  assert.deepEqual(await messagesOf(prompt), [
    { role: "system", content: "Be kind." },
    { role: "user", content: "Hello" },
    {
      role: "assistant",
      content: null,
      reasoning_content: "hm",
      tool_calls: [
        made("a", '{"p":1}'),
        made("b", '{"p":2}'),
        { ...made("c", '"{broken"'), extra_content: { google: { thought_signature: "s" } } },
      ],
    },
    { role: "tool", tool_call_id: "a", content: "A" },
    { role: "tool", tool_call_id: "b", content: '{"b":[1]}' },
    { role: "tool", tool_call_id: "c", content: "Tool call execution denied." },
    { role: "assistant", content: "Done." },
  ])
})

test("files: images and videos by address or bytes, sound, PDF, text", async () => {
  const file = (mediaType: string, data: string | URL) => ({
    type: "file" as const,
    mediaType,
    data: data instanceof URL ? { type: "url" as const, url: data } : { type: "data" as const, data },
  })
  const [message] = (await messagesOf([
    {
      role: "user",
      content: [
        { type: "text", text: "Look" },
        file("image/png", "aGk="),
        { type: "file", mediaType: "image/jpeg", data: { type: "data", data: new Uint8Array([104, 105]) } },
        file("image/png", new URL("https://a.test/b.png")),
        file("audio/mpeg", "aGk="),
        file("application/pdf", "aGk="),
        file("text/plain", "aGk="),
      ],
    },
  ])) as { content: unknown[] }[]
  const image = (url: string) => ({ type: "image_url", image_url: { url } })
  assert.deepEqual(message?.content, [
    { type: "text", text: "Look" },
    image("data:image/png;base64,aGk="),
    image("data:image/jpeg;base64,aGk="),
    image("https://a.test/b.png"),
    { type: "input_audio", input_audio: { data: "aGk=", format: "mp3" } },
    { type: "file", file: { filename: "document.pdf", file_data: "data:application/pdf;base64,aGk=" } },
    { type: "text", text: "hi" },
  ])
  await assert.rejects(messagesOf([{ role: "user", content: [file("application/zip", "aGk=")] }]), {
    name: "AI_UnsupportedFunctionalityError",
  })
})

test("settings have the names of chat completions; missing settings are not sent", async () => {
  const plain = await bodyOf(hello)
  assert.deepEqual(Object.keys(plain).sort(), ["messages", "model", "stream", "stream_options"])
  assert.deepEqual(plain.stream_options, { include_usage: true })
  const {
    messages: _,
    model: __,
    stream: ___,
    stream_options: ____,
    ...rest
  } = await bodyOf({
    ...hello,
    maxOutputTokens: 5,
    temperature: 0,
    topP: 0.5,
    frequencyPenalty: 1,
    presencePenalty: 2,
    stopSequences: ["x"],
    seed: 3,
    reasoning: "low",
    responseFormat: { type: "json" },
  })
  assert.deepEqual(rest, {
    max_tokens: 5,
    temperature: 0,
    top_p: 0.5,
    frequency_penalty: 1,
    presence_penalty: 2,
    stop: ["x"],
    seed: 3,
    reasoning_effort: "low",
    response_format: { type: "json_object" },
  })
})

test("tools and the choice among them; no choice without tools", async () => {
  const parameters = { type: "object" }
  const named = { type: "function", function: { name: "probe" } }
  const { tools, tool_choice } = await bodyOf({
    ...hello,
    tools: [probe],
    toolChoice: { type: "tool", toolName: "probe" },
  })
  assert.deepEqual(tools, [{ type: "function", function: { name: "probe", parameters } }])
  assert.deepEqual(tool_choice, named)
  assert.equal(
    (await bodyOf({ ...hello, tools: [probe], toolChoice: { type: "required" } })).tool_choice,
    "required",
  )
  const without = await bodyOf({ ...hello, tools: [], toolChoice: { type: "auto" } })
  assert.deepEqual(["tools" in without, "tool_choice" in without], [false, false])
})

test("a provider's own options are fields of the body; options of others are not sent", async () => {
  const body = await bodyOf({
    ...hello,
    reasoning: "low",
    providerOptions: { "acme-ai": { top_a: 1, reasoning_effort: "high", messages: [] }, other: { top_c: 3 } },
  })
  const { messages, model: _, stream: __, stream_options: ___, ...rest } = body
  assert.deepEqual(rest, { top_a: 1, reasoning_effort: "high" })
  assert.equal((messages as unknown[]).length, 1)
})

test("headers of a call replace those of the model, whatever their case", async () => {
  await using server = await chatServer(finish("stop") + done)
  await partsOf(modelAt(server.url), {
    ...hello,
    headers: { "User-Agent": "mine", "X-One": "1", "x-two": undefined },
  })
  const { headers } = server.heard[0]!
  assert.deepEqual([headers["user-agent"], headers["x-one"], "x-two" in headers], ["mine", "1", false])
})

test("options that chat completions do not have give a warning", async () => {
  await using server = await chatServer(finish("stop") + done)
  const responseFormat = { type: "json" as const, schema: {} }
  const [start] = await partsOf(modelAt(server.url), { ...hello, topK: 4, responseFormat })
  assert.deepEqual(start, {
    type: "stream-start",
    warnings: ["topK", "responseFormat"].map((feature) => ({ type: "unsupported", feature })),
  })
})
