// JSON Schema as TypeScript. It covers what Zod generates for our schemas, and throws for anything else.

export type Schema = {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  items?: Schema
  prefixItems?: Schema[]
  description?: string
}

export function typeText(schema: Schema): string {
  const { $ref, anyOf, oneOf, allOf, type } = schema
  if ($ref) return $ref.split("/").at(-1)!
  if ("const" in schema) return JSON.stringify(schema.const)
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)))
  if (anyOf ?? oneOf) return union((anyOf ?? oneOf)!.map(typeText))
  if (allOf) return allOf.map((one) => `(${typeText(one)})`).join(" & ")
  if (Array.isArray(type)) return union(type.map((one) => typeText({ ...schema, type: one })))
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type
    case "number":
    case "integer":
      return "number"
    case "array":
      return arrayText(schema)
    case "object":
      return objectText(schema)
    case undefined:
      return "unknown"
    default:
      throw new Error(`JSON Schema of type ${JSON.stringify(type)} has no TypeScript here`)
  }
}

/** The lines of a comment for a description, or none. */
export function commentText(text: string | undefined): string {
  return text ? `/** ${text.replaceAll("*/", "* /")} */\n` : ""
}

export function propertyText(name: string, schema: Schema, isRequired: boolean): string {
  const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
  return `${commentText(schema.description)}${key}${isRequired ? "" : "?"}: ${typeText(schema)}`
}

/** An object type: on one line if it has no comment and fits. */
export function membersText(members: string[]): string {
  const isPlain = members.every((text) => !text.includes("\n"))
  return isPlain ? `{ ${members.join("; ")} }` : `{\n${members.join("\n")}\n}`
}

function arrayText({ items, prefixItems }: Schema): string {
  if (prefixItems) return `[${prefixItems.map(typeText).join(", ")}]`
  return items ? `(${typeText(items)})[]` : "unknown[]"
}

function objectText({ properties, required = [], additionalProperties: more }: Schema): string {
  const isOpen = typeof more === "object" || more === true
  const others = typeof more === "object" ? typeText(more) : "unknown"
  if (!properties) return isOpen || more === undefined ? `Record<string, ${others}>` : "Record<string, never>"
  const known = Object.entries(properties).map(([name, one]) =>
    propertyText(name, one, required.includes(name)),
  )
  // An index signature must fit every property.
  if (isOpen) known.push("[name: string]: unknown")
  return membersText(known)
}

function union(types: string[]): string {
  return [...new Set(types)].map((type) => (type.includes(" & ") ? `(${type})` : type)).join(" | ")
}
