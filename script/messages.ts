// docs/messages.md, written from the schemas: each type with its fields and an example, then the JSON schema.
//   node script/messages.ts            say whether the document is up to date
//   node script/messages.ts --write    write it
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Message from "#knowledge/message/message.ts"
import type { Schema } from "./references/fields.ts"

const document = join(import.meta.dirname, "..", "docs", "messages.md")
const envelope = {
  id: "msg_01kc2x7d9a4f6h8j0kmnpqrstv",
  sessionId: "sess_01kc2x7d1b3c5e7g9hjkmnpqrs",
  parentId: null,
  branch: "main",
  time: 1767225600000,
  schema: 1 as const,
}

/** One message of each type. */
export const examples: { [T in Message.Type]: Message.Of<T> } = {
  text: {
    ...envelope,
    agent: "build",
    model: "anthropic/claude-sonnet-4-5",
    usage: { input: 1200, output: 48, reasoning: 20, cacheRead: 1000, cost: 0.0021 },
    type: "text",
    data: {
      role: "assistant",
      parts: [
        {
          type: "reasoning",
          text: "The test names the file.",
          providerMetadata: { anthropic: { signature: "Er0B…" } },
        },
        { type: "text", text: "I will look at src/sum.ts first." },
      ],
      finish: "tool-calls",
    },
  },
  image: {
    ...envelope,
    type: "image",
    data: {
      source: { kind: "file", value: "shots/error.png", mimeType: "image/png" },
      mode: "auto",
      usedMode: "ocr",
      state: "done",
      recognizedText: "TypeError: sum is not a function",
      metadata: { confidence: 0.93, language: "en" },
    },
  },
  file_reference: {
    ...envelope,
    type: "file_reference",
    data: {
      path: "src/sum.ts",
      startLine: 1,
      endLine: 2,
      status: "resolved",
      content: "1: export const sum = 3\n2:",
    },
  },
  tool_request: {
    ...envelope,
    type: "tool_request",
    data: {
      calls: [
        { id: "call_1", name: "read", arguments: { path: "src/sum.ts" }, approval: "approved" },
        { id: "call_2", name: "grep", arguments: {}, invalid: '{"pattern":"sum', approval: "pending" },
      ],
    },
  },
  tool_result: {
    ...envelope,
    type: "tool_result",
    data: {
      requestId: "call_2",
      toolName: "grep",
      status: "error",
      output: null,
      error: { message: "The arguments are not JSON: the text ends too early", recoverable: true },
      duration: 1,
      timestamp: 1767225600125,
    },
  },
  system_control: {
    ...envelope,
    type: "system_control",
    data: { control: "mode_change", parameters: { from: "plan", to: "act" } },
  },
  mcp_resource: {
    ...envelope,
    type: "mcp_resource",
    data: {
      serverName: "database",
      resourceUri: "schema://public/users",
      content: "create table users (id integer primary key)",
      mimeType: "text/plain",
      retrievedAt: 1767225599000,
    },
  },
  unknown: {
    ...envelope,
    type: "unknown",
    data: { original: JSON.stringify({ ...envelope, schema: 7, type: "poll", options: ["a", "b"] }) },
  },
}

/** The document as it should be. */
export function render(): string {
  const schema = Message.jsonSchema() as Schema
  const variants = schema.oneOf ?? schema.anyOf ?? []
  const { type: _, data: __, ...common } = variants[0]?.properties ?? {}
  return [
    "# Messages",
    "",
    "Written by `script/messages.ts` from the schemas in `src/knowledge/message`; do not edit.",
    "",
    "A message is a JSON object: an envelope, a `type`, and below `data` what belongs to that type. Fields that are not",
    "listed are ignored. A record of an older version (`schema`) is migrated when it is read. A type or version that is not",
    "listed is kept byte for byte.",
    "",
    "## Envelope",
    "",
    ...table(rows({ properties: common, required: variants[0]?.required ?? [] })),
    ...variants.flatMap(section),
    "",
    "## JSON schema",
    "",
    ...fenced(JSON.stringify(schema, null, 2)),
    "",
  ].join("\n")
}

function section(variant: Schema): string[] {
  const type = variant.properties?.type?.const as Message.Type
  return [
    "",
    `## ${type}`,
    "",
    variant.description ?? "",
    "",
    ...table(rows(variant.properties?.data ?? {}, "data.")),
    "",
    ...fenced(JSON.stringify(examples[type], null, 2)),
  ]
}

function rows(schema: Schema, prefix = ""): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const needed = schema.required?.includes(name) ? "yes" : "default" in field ? defaultOf(field) : "no"
    const inner = field.items ?? field
    const below = `${prefix}${name}${field.items ? "[]." : "."}`
    return [
      [`\`${prefix}${name}\``, typeOf(field), needed, field.description ?? ""],
      ...(inner.oneOf ?? [inner]).slice(0, 1).flatMap((one) => rows(withTypes(one, inner), below)),
    ]
  })
}

/** Merges forms that differ only in their `type` into one that names all types. */
function withTypes(one: Schema, { oneOf }: Schema): Schema {
  if (!oneOf) return one
  const type: Schema = { enum: oneOf.map((form) => form.properties?.type?.const) }
  return { ...one, properties: { ...one.properties, type } }
}

function typeOf(field: Schema): string {
  if ("const" in field) return `\`${JSON.stringify(field.const)}\``
  if (field.enum) return field.enum.map((value) => `\`${JSON.stringify(value)}\``).join(", ")
  if (field.anyOf) return field.anyOf.map(typeOf).join(" or ")
  if (field.items) return "list"
  return [field.type ?? "JSON"].flat().join(" or ")
}

function defaultOf(field: Schema): string {
  return `default \`${JSON.stringify(field.default)}\``
}

function table(lines: string[][]): string[] {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`
  return [line(["field", "type", "required", "meaning"]), "|---|---|---|---|", ...lines.map(line)]
}

function fenced(json: string): string[] {
  return ["```json", json, "```"]
}

if (import.meta.main) {
  if (process.argv.includes("--write")) writeFileSync(document, render())
  const isCurrent = readFileSync(document, "utf8") === render()
  console.log(
    isCurrent ? "docs/messages.md is up to date" : "docs/messages.md is old: node script/messages.ts --write",
  )
  process.exitCode = isCurrent ? 0 : 1
}
