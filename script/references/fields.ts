// The fields of a schema as rows of a table.
import { z } from "zod"

export type Schema = {
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  required?: string[]
  description?: string
  default?: unknown
}

/** `fallback`: the default as JSON, "required", or nothing. */
export type Field = { path: string; type: string; fallback: string; meaning: string }

export type Options = {
  /** Meanings that replace those of the schema, by path. */
  meanings?: Record<string, string>
  /** Meanings of fields that many schemas have, by name; the schema's own comes first. */
  common?: Record<string, string>
  /** Names of fields that are described in another place; nothing below them is listed. */
  elsewhere?: ReadonlySet<string>
}

export function schemaOf(type: z.ZodType, io: "input" | "output"): Schema {
  return z.toJSONSchema(type, { io, unrepresentable: "any" }) as Schema
}

/** Every field, each before those below it. `path` is written as `mcp.servers[].env`. */
export function fieldsOf(schema: Schema, options: Options = {}, prefix = ""): Field[] {
  return childrenOf(schema).flatMap(([name, field, isRequired]) => {
    const path = `${prefix}${name}`
    const below = options.elsewhere?.has(path) ? [] : fieldsBelow(field, options, path)
    return [{ path, ...describe(field, path, isRequired, options) }, ...below]
  })
}

function fieldsBelow(field: Schema, options: Options, path: string): Field[] {
  const inner = objectIn(withoutNull(field)) ?? withoutNull(field)
  return inner.items
    ? fieldsOf(withoutNull(inner.items), options, `${path}[].`)
    : fieldsOf(inner, options, `${path}.`)
}

function childrenOf(schema: Schema): [name: string, field: Schema, isRequired: boolean][] {
  const named = Object.entries(schema.properties ?? {})
  const { additionalProperties: more } = schema
  // Free names get rows only if their values have keys of their own: `headers` needs no second row.
  const values = typeof more === "object" ? objectIn(more) : undefined
  const free = Object.entries(values?.properties ?? {})
  return [
    ...named.map(([name, field]) => [name, field, schema.required?.includes(name) ?? false] as const),
    ...free.map(([name, field]) => [`<id>.${name}`, field, false] as const),
  ] as [string, Schema, boolean][]
}

function describe(field: Schema, path: string, isRequired: boolean, options: Options): Omit<Field, "path"> {
  const name = path.slice(path.lastIndexOf(".") + 1)
  const meaning =
    options.meanings?.[path] ?? (sentence(field.description ?? "") || (options.common?.[name] ?? ""))
  const isDefault = field.default !== undefined
  return {
    type: typeOf(field),
    fallback: isDefault ? `\`${JSON.stringify(field.default)}\`` : isRequired ? "required" : "",
    meaning,
  }
}

function typeOf(field: Schema): string {
  if ("const" in field) return `\`${JSON.stringify(field.const)}\``
  if (field.enum) return field.enum.map((value) => `\`${value}\``).join(", ")
  const forms = field.anyOf ?? field.oneOf
  if (forms) return [...new Set(forms.map(typeOf))].join(" or ")
  if (field.items) return listOf(field.items)
  return [field.type ?? "any"].flat().join(" or ")
}

function listOf(items: Schema): string {
  if (items.properties) return "list"
  return items.enum ? `list of ${typeOf(items)}` : `list of ${typeOf(items)}s`
}

/** A table of Markdown; empty columns are left out. */
export function table(head: string[], rows: string[][]): string[] {
  const used = head.map((_, column) => rows.some((row) => row[column]))
  const line = (cells: string[]) =>
    `| ${cells
      .filter((_, column) => used[column])
      .map((cell) => cell.replaceAll("|", "\\|"))
      .join(" | ")} |`
  return [line(head), line(head.map(() => "---")).replaceAll(" ", ""), ...rows.map(line)]
}

export function fieldTable(name: string, fields: Field[]): string[] {
  const rows = fields.map(({ path, type, fallback, meaning }) => [`\`${path}\``, type, fallback, meaning])
  return table([name, "type", "default", "meaning"], rows)
}

/** Fields of something that is received: what may be missing is marked. */
export function receivedTable(fields: Field[]): string[] {
  const rows = fields.map(({ path, type, fallback, meaning }) => [
    `\`${path}\``,
    fallback ? type : `${type}, optional`,
    meaning,
  ])
  return table(["field", "type", "meaning"], rows)
}

export function fenced(language: string, text: string): string[] {
  return [`\`\`\`${language}`, text, "```"]
}

/** Turns a text into a sentence. A value at its beginning, as in "json: one event per line", becomes code. */
export function sentence(text: string): string {
  if (text === "") return ""
  const value = /^([a-z][\w-]*)(: .*)/s.exec(text)
  const begin = value ? `\`${value[1]}\`${value[2]}` : text[0]!.toUpperCase() + text.slice(1)
  return /[.!?…]$/.test(begin) ? begin : `${begin}.`
}

/** The object among the forms of a value that may also be `false`. */
function objectIn(field: Schema): Schema | undefined {
  return [field, ...(field.anyOf ?? [])].find((form) => form.properties || form.additionalProperties)
}

function withoutNull(field: Schema): Schema {
  const forms = field.anyOf?.filter(({ type }) => type !== "null")
  return forms?.length === 1 ? forms[0]! : field
}
