// What Provider.transform() changes about tools, shown by the request body that is sent.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Provider from "#ability/provider/provider.ts"
import { fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { inInstance, partsOf } from "../harness.ts"
import { type Body, prompt, sent, simple, tool } from "../sent.ts"

const wide = tool({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  additionalProperties: false,
  properties: {
    count: { type: "integer", exclusiveMinimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    level: { type: "integer", enum: [1, 2], description: "How much." },
    kind: { const: "file" },
    name: { type: "string", pattern: "^a", format: "uri", minLength: 1 },
    list: { type: "array" },
    nested: { type: "object", additionalProperties: false, properties: { $schema: { type: "string" } } },
    pair: { oneOf: [{ type: "string" }, { $ref: "#/$defs/node" }] },
  },
  required: ["count", "gone"],
  $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
})

test("tool schemas for Gemini have only the keywords that it knows", async () => {
  const { tools } = await sent("google/gemini-2.5-pro", { tools: [wide] })
  assert.deepEqual(tools[0]?.schema, {
    type: "object",
    properties: {
      count: { type: "integer", minimum: 1 },
      level: { type: "integer", description: "How much. One of: 1, 2." },
      kind: { enum: ["file"] },
      name: { type: "string" },
      list: { type: "array", items: { type: "string" } },
      nested: { type: "object", properties: { $schema: { type: "string" } } },
      pair: {
        anyOf: [{ type: "string" }, { type: "object", properties: { next: { type: "object" } } }],
      },
    },
    required: ["count"],
  })
})

test("tool schemas for other providers keep their keywords, except those that only cost tokens", async () => {
  for (const [name, api] of [
    ["openai/m"],
    ["openai/gpt-5", "responses"],
    ["anthropic/claude-sonnet-4-5"],
  ] as const) {
    const { schema } = (await sent(name, { tools: [wide] }, api)).tools[0]!
    assert.equal("$schema" in schema, false)
    const { count, name: words } = schema.properties as Record<string, Body>
    assert.deepEqual(count, { type: "integer", exclusiveMinimum: 0 })
    assert.equal(words?.pattern, "^a")
    assert.equal(schema.additionalProperties, false)
  }
})

test("a tool schema of alternatives becomes one object, since the root must be one", async () => {
  const tools = [
    tool({
      anyOf: [
        {
          type: "object",
          properties: { a: { type: "string" }, both: { type: "string" } },
          required: ["a", "both"],
        },
        {
          type: "object",
          properties: { b: { type: "number" }, both: { type: "string" } },
          required: ["b", "both"],
        },
      ],
    }),
  ]
  for (const [name, api] of [
    ["openai/m"],
    ["openai/gpt-5", "responses"],
    ["anthropic/claude-sonnet-4-5"],
  ] as const)
    assert.deepEqual((await sent(name, { tools }, api)).tools[0]?.schema, {
      type: "object",
      properties: { a: { type: "string" }, both: { type: "string" }, b: { type: "number" } },
      required: ["both"],
    })
  assert.deepEqual((await sent("openai/m", { tools: [tool({})] })).tools[0]?.schema, {
    type: "object",
    properties: {},
  })
})

test("OpenAI's strict mode stays off, since optional parameters are not allowed in it", async () => {
  const { body } = await sent("openai/gpt-5", { tools: [simple] }, "responses")
  assert.equal((body.tools as Body[])[0]?.strict, false)
})

test("tools are left out for a model that takes none", async () => {
  const models = { plain: { tools: false } }
  await using llm = await fakeLlm([text("ok")])
  await inInstance({ config: { provider: { openai: { baseURL: llm.url, models } } } }, async () => {
    const names = { providerId: "openai", modelId: "plain" }
    const model = await Provider.getModel("openai", "plain")
    await partsOf(model, Provider.transform({ ...names, prompt, tools: [simple] }))
  })
  assert.equal("tools" in llm.requests[0]!.body, false)
})
