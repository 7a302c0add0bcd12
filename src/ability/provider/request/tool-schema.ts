// Limits the schema of tool parameters to what a provider accepts. None accepts all of JSON Schema: OpenAI and Anthropic
// refuse alternatives at the root, Gemini refuses every keyword that it does not know.
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import type { Wire } from "#ability/provider/reach/providers.ts"

type Schema = LanguageModelV4FunctionTool["inputSchema"]
type Node = Record<string, unknown>

const geminiKeywords = new Set(
  "type title description enum items prefixItems minItems maxItems minimum maximum anyOf properties required".split(
    " ",
  ),
)

export function limitSchema(schema: Schema, wire: Wire): Schema {
  const { $schema: _, ...root } = objectRoot(schema as Node)
  const limited = eachNode(root, withoutNoise)
  return (wire === "gemini" ? eachNode(inlined(limited), geminiNode) : limited) as Schema
}

/** A root of alternatives becomes one object that allows the properties of all and requires what all require. */
function objectRoot(schema: Node): Node {
  const { anyOf, oneOf, allOf, enum: _, not: __, ...root } = schema
  const parts = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? (list as Node[]) : []))
  if (parts.length === 0) return { ...root, type: "object", properties: root.properties ?? {} }
  const required = (node: Node) => (Array.isArray(node.required) ? (node.required as string[]) : [])
  const shared = Array.isArray(allOf)
    ? parts.flatMap(required)
    : required(parts[0]!).filter((name) => parts.every((part) => required(part).includes(name)))
  const all = [...new Set([...required(root), ...shared])]
  return {
    ...root,
    type: "object",
    properties: Object.assign({}, root.properties, ...parts.map((part) => part.properties)),
    ...(all.length > 0 ? { required: all } : {}),
  }
}

/** Removes the bounds of safe integers, which only cost tokens. */
function withoutNoise(node: Node): Node {
  if (node.maximum !== Number.MAX_SAFE_INTEGER && node.minimum !== Number.MIN_SAFE_INTEGER) return node
  const { maximum, minimum, ...rest } = node
  return {
    ...rest,
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  }
}

function geminiNode(node: Node): Node {
  const kept = Object.fromEntries(Object.entries(node).filter(([key]) => geminiKeywords.has(key)))
  if ("const" in node) kept.enum = [node.const]
  if (Array.isArray(node.oneOf)) kept.anyOf = node.oneOf
  if (node.type === "integer") Object.assign(kept, closedBounds(node))
  if (node.type === "array" && !kept.items && !kept.prefixItems) kept.items = { type: "string" }
  if (Array.isArray(kept.required) && isNode(kept.properties))
    kept.required = kept.required.filter((name) => Object.hasOwn(kept.properties as Node, name))
  return stringEnum(kept)
}

/** Gemini takes enums of strings only; other values move into the description. */
function stringEnum(node: Node): Node {
  if (!Array.isArray(node.enum) || node.enum.every((value) => typeof value === "string")) return node
  const { enum: values, ...rest } = node
  const text = `One of: ${(values as unknown[]).map((value) => JSON.stringify(value)).join(", ")}.`
  return { ...rest, description: rest.description ? `${rest.description} ${text}` : text }
}

function closedBounds({ exclusiveMinimum, exclusiveMaximum }: Node): Node {
  return {
    ...(typeof exclusiveMinimum === "number" ? { minimum: exclusiveMinimum + 1 } : {}),
    ...(typeof exclusiveMaximum === "number" ? { maximum: exclusiveMaximum - 1 } : {}),
  }
}

/** Replaces each `$ref` by its definition. A schema that refers to itself becomes any object. */
function inlined(root: Node): Node {
  const definitions = { ...(root.$defs as Node), ...(root.definitions as Node) }
  const visit = (node: Node, open: string[]): Node => {
    const name = typeof node.$ref === "string" ? node.$ref.split("/").at(-1)! : undefined
    if (name === undefined) return children(node, (child) => visit(child, open))
    const target = definitions[name]
    if (!isNode(target) || open.includes(name)) return { type: "object" }
    const { $ref: _, ...beside } = node
    return { ...visit(target, [...open, name]), ...beside }
  }
  return visit(root, [])
}

/** Applies `change` to every schema in a schema, inner ones first. */
function eachNode(node: Node, change: (node: Node) => Node): Node {
  return change(children(node, (child) => eachNode(child, change)))
}

function children(node: Node, visit: (child: Node) => Node): Node {
  const copy = { ...node }
  for (const key of ["items", "additionalProperties", "not"])
    if (isNode(copy[key])) copy[key] = visit(copy[key])
  for (const key of ["anyOf", "oneOf", "allOf", "prefixItems"])
    if (Array.isArray(copy[key]))
      copy[key] = copy[key].map((child: unknown) => (isNode(child) ? visit(child) : child))
  for (const key of ["properties", "$defs", "definitions"])
    if (isNode(copy[key]))
      copy[key] = Object.fromEntries(
        Object.entries(copy[key]).map(([name, child]) => [name, isNode(child) ? visit(child) : child]),
      )
  return copy
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
