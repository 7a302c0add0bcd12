// What Provider.transform() changes about a request as a whole, shown by the request body that is sent.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Provider from "#ability/provider/provider.ts"
import { type Body, count, prompt, sent, simple, type Wanted, withCall } from "../sent.ts"

test("prompt-cache markers are on the last tool, the system prompt and the last part", async () => {
  const tools = [simple, { ...simple, name: "second" }]
  const { body } = await sent("anthropic/claude-sonnet-4-5", { tools, prompt: withCall("toolu_1") })
  const marker = { type: "ephemeral" }
  const [first, second] = body.tools as Body[]
  assert.equal(first?.cache_control, undefined)
  assert.deepEqual(second?.cache_control, marker)
  assert.deepEqual((body.system as Body[])[0]?.cache_control, marker)
  const last = (body.messages as { content: Body[] }[]).at(-1)?.content.at(-1)
  assert.equal(last?.type, "tool_result")
  assert.deepEqual(last?.cache_control, marker)
  assert.equal(count(body, "cache_control"), 3)
})

test("prompt-cache markers are sent only in Anthropic's wire form", async () => {
  for (const name of ["openai/m", "google/gemini-2.5-pro", "mistral/mistral-large-latest"])
    assert.equal(count((await sent(name, { tools: [simple] })).body, "cache"), 0)
  const { body } = await sent("minimax/MiniMax-M2")
  assert.equal(count(body, "cache_control"), 2)
})

test("reasoning is a budget for older Claude and Gemini models, an effort for newer ones", async () => {
  const reasoning = "high"
  const older = await sent("anthropic/claude-sonnet-4-20250514", { reasoning })
  assert.equal((older.body.thinking as Body).type, "enabled")
  assert.ok(Number((older.body.thinking as Body).budget_tokens) > 1_000)
  const newer = await sent("anthropic/claude-fable-5", { reasoning })
  assert.deepEqual(newer.body.output_config, { effort: "high" })
  const thinking = async (name: string) =>
    ((await sent(name, { reasoning })).body.generationConfig as Body).thinkingConfig as Body
  const flash = await thinking("google/gemini-2.5-flash")
  assert.equal(flash.includeThoughts, true)
  assert.ok(Number(flash.thinkingBudget) > 1_000)
  assert.equal((await thinking("google/gemini-3-pro-preview")).thinkingLevel, "high")
})

test("a request over the Responses API has a reasoning effort, store: false, and the session as cache key", async () => {
  const { body } = await sent("openai/gpt-5", { reasoning: "low", sessionId: "ses_1" }, "responses")
  assert.deepEqual(body.reasoning, { effort: "low", summary: "auto" })
  assert.equal(body.store, false)
  assert.deepEqual(body.include, ["reasoning.encrypted_content"])
  assert.equal(body.prompt_cache_key, "ses_1")
})

test("reasoning over chat uses the field that each server expects", async () => {
  const said = async (name: string, reasoning: Wanted["reasoning"]) => {
    const { body } = await sent(name, { reasoning })
    const { model: _, messages: __, max_tokens: ___, stream: ____, stream_options: _____, ...rest } = body
    return rest
  }
  assert.deepEqual(await said("openrouter/openai/gpt-5", "high"), { reasoning: { effort: "high" } })
  assert.deepEqual(await said("zai/glm-4.6", "none"), { thinking: { type: "disabled" } })
  assert.deepEqual(await said("alibaba/qwen-plus", "medium"), { enable_thinking: true })
  assert.deepEqual(await said("groq/openai/gpt-oss-120b", "max"), { reasoning_effort: "high" })
  assert.deepEqual(await said("xai/grok-4", "high"), {})
  assert.deepEqual(await said("groq/llama-3.3-70b-versatile", "high"), {}, "it does not reason")
})

test("temperature is left out for models that do not accept it", async () => {
  const temperature = 0.2
  assert.equal((await sent("openai/gpt-4o", { temperature })).body.temperature, 0.2)
  assert.equal("temperature" in (await sent("openai/gpt-5", { temperature })).body, false)
  assert.equal("temperature" in (await sent("anthropic/claude-fable-5", { temperature })).body, false)
})

test("max output tokens stay within the model's limit, in the field that the model expects", async () => {
  assert.equal((await sent("anthropic/claude-sonnet-4-5")).body.max_tokens, 32_000)
  assert.equal((await sent("anthropic/claude-3-opus-20240229")).body.max_tokens, 4_096)
  assert.equal((await sent("openai/gpt-4o", { maxOutputTokens: 1e6 })).body.max_tokens, 16_384)
  const { body } = await sent("openai/gpt-5", { maxOutputTokens: 500 })
  assert.deepEqual([body.max_completion_tokens, "max_tokens" in body], [500, false])
  assert.equal("max_tokens" in (await sent("openai/of-nobody-knows-where")).body, false)
  assert.equal("max_output_tokens" in (await sent("openai/gpt-5", {}, "responses")).body, false)
})

test("an unknown output limit, or one as large as the window, leaves three quarters for the request", () => {
  assert.equal(Provider.outputBudget({ context: 16_384, output: 0 }), 4_096)
  assert.equal(Provider.outputBudget({ context: 8_192, output: 8_192 }), 2_048)
  assert.equal(Provider.outputBudget({ context: 128_000, output: 0 }), 16_384)
  assert.equal(Provider.outputBudget({ context: 16_384, output: 6_000 }), 6_000)
  assert.equal(Provider.outputBudget({ context: 16_384, output: 12_000 }), 8_192)
  assert.equal(Provider.outputBudget({ context: 16_384, output: 0 }, 5_000), 5_000)
})

test("Provider.transform() works from the table alone, outside an instance", () => {
  const options = Provider.transform({
    providerId: "anthropic",
    modelId: "claude-fable-5",
    prompt,
    temperature: 1,
  })
  assert.equal(options.temperature, undefined)
  assert.equal(options.maxOutputTokens, 32_000)
  assert.equal(options.prompt.length, 2)
})
