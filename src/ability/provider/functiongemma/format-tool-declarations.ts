// Formats tool declarations for FunctionGemma. Its format has types, descriptions, enums, items, properties and required
// properties; the rest of a JSON schema is left out.
import { tokens } from "./control-tokens.ts"
import { checkName, formatKey, formatString, formatValue } from "./format-value.ts"

export type DeclaredTool = { name: string; description?: string | undefined; inputSchema?: unknown }
type Schema = Record<string, unknown>
type Place = {
  root: Schema
  depth: number
  /** The references that led here. */
  references: ReadonlySet<string>
  /** How many schemas there were so far. */
  made: { count: number }
}

/** Limits of one tool: levels, and schemas in all. Definitions that refer to each other could expand forever. */
const maxDepth = 16
const maxSchemas = 500

/** All declarations in a row, for the turn of the developer. */
export function formatToolDeclarations(tools: readonly DeclaredTool[]): string {
  return tools.map(formatDeclaration).join("")
}

function formatDeclaration({ name, description, inputSchema }: DeclaredTool): string {
  const root = schemaOf(inputSchema)
  const parameters = formatSchema(root, { root, depth: 0, references: new Set(), made: { count: 0 } })
  return [
    `${tokens.startDeclaration}declaration:${checkName(name)}`,
    `{description:${formatString(description ?? "")},parameters:${parameters}}`,
    tokens.endDeclaration,
  ].join("")
}

/** The parts are in the order of the model's training data: description, enum, items, properties, required, type. */
function formatSchema(given: Schema, { root, depth, references, made }: Place): string {
  const { schema, isNullable, followed } = settle(given, root)
  const isTop = depth === 0
  const description = given.description ?? schema.description
  const choices = "const" in schema ? [schema.const] : schema.enum
  const type = isTop ? "object" : typeOf(schema, choices)
  // A schema that refers to itself is written once.
  const isOpen = depth < maxDepth && made.count++ < maxSchemas && !followed.some((one) => references.has(one))
  const below = { root, depth: depth + 1, references: new Set([...references, ...followed]), made }
  const inner = (part: unknown) => formatSchema(schemaOf(part), below)
  const parts: string[] = []
  if (typeof description === "string" && description && !isTop)
    parts.push(`description:${formatString(description)}`)
  if (Array.isArray(choices)) parts.push(`enum:${formatValue(choices)}`)
  if (type === "array" && isOpen) parts.push(`items:${inner(schema.items)}`)
  const properties = Object.entries(schemaOf(schema.properties)).sort(([a], [b]) => (a < b ? -1 : 1))
  if (type === "object" && properties.length && isOpen)
    parts.push(
      `properties:{${properties.map(([key, part]) => `${formatKey(key)}:${inner(part)}`).join(",")}}`,
    )
  if (isNullable) parts.push("nullable:true")
  if (Array.isArray(schema.required) && schema.required.length)
    parts.push(`required:${formatValue(schema.required)}`)
  parts.push(`type:${formatString(type.toUpperCase())}`)
  return `{${parts.join(",")}}`
}

/** Follows references, and takes the first alternative that is not null. */
function settle(given: Schema, root: Schema) {
  const followed: string[] = []
  let schema = given
  let isNullable = Array.isArray(given.type) && given.type.includes("null")
  for (let step = 0; step < maxDepth; step++) {
    const options = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray)
    if (typeof schema.$ref === "string") {
      followed.push(schema.$ref)
      schema = schemaOf(lookUp(root, schema.$ref))
    } else if (options) {
      isNullable ||= options.some((option) => schemaOf(option).type === "null")
      schema = schemaOf(options.find((option) => schemaOf(option).type !== "null"))
    } else break
  }
  return { schema, isNullable, followed }
}

function lookUp(root: Schema, reference: string): unknown {
  if (!reference.startsWith("#/")) return undefined
  const keys = reference.slice(2).split("/")
  return keys.reduce<unknown>((part, key) => {
    const name = key.replaceAll("~1", "/").replaceAll("~0", "~")
    return Object.hasOwn(schemaOf(part), name) ? schemaOf(part)[name] : undefined
  }, root)
}

function typeOf(schema: Schema, choices: unknown): string {
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== "null") : schema.type
  if (typeof type === "string") return type
  if (schema.properties) return "object"
  if (schema.items) return "array"
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined
  return typeof first === "number" || typeof first === "boolean" ? typeof first : "string"
}

function schemaOf(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {}
}
