// What Provider.transform() changes about messages, shown by the request body that is sent.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { LanguageModelV4Prompt } from "@ai-sdk/provider"
import { type Body, count, prompt, sent, simple, withCall } from "../sent.ts"

test("call ids are changed to fit the provider, equally for call and result", async () => {
  const ids = async (name: string, id: string) => {
    const { messages } = await sent(name, { prompt: withCall(id), tools: [simple] })
    const call = messages.find(({ calls }) => calls.length > 0)?.calls[0]?.id
    assert.equal(messages.find(({ results }) => results.length > 0)?.results[0]?.id, call)
    return call ?? ""
  }
  assert.match(await ids("mistral/mistral-large-latest", "call_0123456789"), /^[a-zA-Z0-9]{9}$/)
  assert.equal(await ids("mistral/mistral-large-latest", "abcDEF123"), "abcDEF123")
  assert.match(await ids("anthropic/claude-sonnet-4-5", "functions.read:0"), /^[a-zA-Z0-9_-]+$/)
  assert.equal(await ids("anthropic/claude-sonnet-4-5", "toolu_01"), "toolu_01")
  assert.equal((await ids("openai/m", "x".repeat(90))).length, 24)
  assert.equal(await ids("openai/m", "functions.read:0"), "functions.read:0")
})

test("Mistral gets an assistant message between a tool result and a user message", async () => {
  const more: LanguageModelV4Prompt = [
    ...withCall("c"),
    { role: "user", content: [{ type: "text", text: "And?" }] },
  ]
  const roles = async (name: string) => (await sent(name, { prompt: more })).messages.map(({ role }) => role)
  assert.deepEqual(await roles("mistral/mistral-large-latest"), [
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
  ])
  assert.deepEqual(await roles("openai/m"), ["user", "assistant", "tool", "user"])
})

test("empty texts, and messages that become empty, are left out", async () => {
  const holes: LanguageModelV4Prompt = [
    { role: "system", content: "" },
    {
      role: "user",
      content: [
        { type: "text", text: "" },
        { type: "text", text: "Hello" },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: " \n" }] },
    { role: "user", content: [{ type: "text", text: "Still there?" }] },
  ]
  for (const name of ["anthropic/claude-sonnet-4-5", "google/gemini-2.5-pro", "openai/m"]) {
    const { messages, system } = await sent(name, { prompt: holes })
    assert.equal(system, "")
    assert.equal(
      messages.some(({ role }) => role === "assistant" || role === "model"),
      false,
    )
    assert.equal(messages.map(({ text }) => text).join(""), "HelloStill there?")
  }
})

test("system messages: one at the start of a chat, later ones as the user", async () => {
  const later: LanguageModelV4Prompt = [
    { role: "system", content: "One." },
    { role: "system", content: "Two." },
    { role: "user", content: [{ type: "text", text: "Hello" }] },
    { role: "system", content: "Three." },
  ]
  const chat = await sent("openai/m", { prompt: later })
  assert.deepEqual((chat.body.messages as Body[])[0], { role: "system", content: "One.\n\nTwo." })
  for (const request of [chat, await sent("google/gemini-2.5-pro", { prompt: later })]) {
    assert.match(request.messages.at(-1)?.text ?? "", /<system>\nThree\.\n<\/system>$/)
    assert.equal(request.messages.at(-1)?.role, "user")
  }
  const { body } = await sent("anthropic/claude-sonnet-4-5", { prompt: later })
  assert.equal((body.system as Body[]).length, 2)
})

test("earlier reasoning is sent back, with its signature, to providers that accept it", async () => {
  const thought: LanguageModelV4Prompt = [
    ...prompt,
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "c2ln" } } },
        { type: "text", text: "Hi." },
      ],
    },
    { role: "user", content: [{ type: "text", text: "Go on." }] },
  ]
  assert.equal(
    count((await sent("groq/openai/gpt-oss-120b", { prompt: thought })).body, "reasoning_content"),
    0,
  )
  assert.equal(
    count((await sent("deepseek/deepseek-reasoner", { prompt: thought })).body, "reasoning_content"),
    1,
  )
  const { body } = await sent("anthropic/claude-sonnet-4-5", { prompt: thought })
  const [, assistant] = body.messages as { content: Body[] }[]
  assert.deepEqual(assistant?.content[0], { type: "thinking", thinking: "hm", signature: "c2ln" })
})
