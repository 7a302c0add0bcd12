// Zod schemas as the JSON Schema that a model is shown.
import assert from "node:assert/strict"
import { test } from "node:test"
import { z } from "zod"
import { zodToToolSchema } from "#ability/call/zod-to-tool-schema.ts"

test("zodToToolSchema() has types, required, descriptions, enums and defaults, and nothing else", () => {
  const schema = z.strictObject({
    path: z.string().describe("a file"),
    lines: z.int().optional(),
    mode: z.enum(["a", "b"]).default("a"),
    tags: z.array(z.object({ name: z.string() })),
  })
  assert.deepEqual(zodToToolSchema(schema), {
    type: "object",
    properties: {
      path: { type: "string", description: "a file" },
      lines: { type: "integer" },
      mode: { default: "a", type: "string", enum: ["a", "b"] },
      tags: {
        type: "array",
        items: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      },
    },
    required: ["path", "tags"],
  })
})

test("zodToToolSchema() keeps additionalProperties of records", () => {
  assert.deepEqual(zodToToolSchema(z.object({ env: z.record(z.string(), z.number()) })), {
    type: "object",
    properties: {
      env: { type: "object", propertyNames: { type: "string" }, additionalProperties: { type: "number" } },
    },
    required: ["env"],
  })
})

test("zodToToolSchema() keeps a parameter or a default that is called like a keyword", () => {
  const schema = zodToToolSchema(
    z.object({
      additionalProperties: z.boolean(),
      maximum: z.number().default(3),
      any: z.json().default({ additionalProperties: false }),
    }),
  )
  const properties = schema.properties as Record<string, { default?: unknown }>
  assert.deepEqual(Object.keys(properties), ["additionalProperties", "maximum", "any"])
  assert.deepEqual(properties.any?.default, { additionalProperties: false })
})

test("zodToToolSchema() describes the input of a transform, not its output", () => {
  const schema = z.object({ n: z.string().transform((text) => text.length) })
  assert.deepEqual(zodToToolSchema(schema).properties, { n: { type: "string" } })
})

for (const [name, schema] of [
  ["a date", z.object({ when: z.date() })],
  ["a big integer", z.object({ n: z.bigint() })],
  ["a map", z.object({ map: z.map(z.string(), z.string()) })],
] as const)
  test(`zodToToolSchema() throws a clear error for ${name}`, () => {
    assert.throws(() => zodToToolSchema(schema), {
      name: "NotRepresentable",
      message: /cannot be shown to a model: .+\. Use strings, numbers/,
    })
  })
