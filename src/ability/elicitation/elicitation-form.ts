// The form that an MCP server asks a person to fill in. Its schema is parsed within limits, hidden characters are made
// visible, and answers are checked against it.
import { z } from "zod"
import { about } from "#util/about.ts"
import { plainText } from "#util/plain-text.ts"

const Value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])
export const Content = z.record(z.string(), Value)
export type Content = z.infer<typeof Content>

export const Field = z.object({
  name: about("Key in the content.", z.string()),
  title: about("Its name for people.", z.string().optional()),
  description: about("What to fill in.", z.string().optional()),
  kind: about("Kind of value.", z.enum(["text", "number", "integer", "boolean", "choice", "choices"])),
  required: about("Whether it must be filled in.", z.boolean()),
  options: about(
    "What can be chosen.",
    z
      .array(z.object({ value: about("The choice.", z.string()), title: about("Its name.", z.string()) }))
      .optional(),
  ),
  default: about("What the server proposes.", Value.optional()),
  min: about("Smallest number, shortest text, or fewest choices.", z.number().optional()),
  max: about("Largest number, longest text, or most choices.", z.number().optional()),
  format: about("`email`, `uri`, `date` or `date-time`.", z.string().optional()),
})
export type Field = z.infer<typeof Field>

type Raw = Record<string, unknown>

const maxFields = 50
const maxOptions = 200
const maxName = 128
const maxText = 1_000
const maxGiven = 10_000
const kinds = new Map<unknown, Field["kind"]>([
  ["string", "text"],
  ["number", "number"],
  ["integer", "integer"],
  ["boolean", "boolean"],
  ["array", "choices"],
])
const fits: Record<string, (text: string) => boolean> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  "date-time": (text) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)),
}

/** Undefined if the schema has too many fields, or one that cannot be shown. */
export function fieldsOf(schema: Raw): Field[] | undefined {
  const properties = Object.entries(objectOf(schema.properties))
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  if (properties.length > maxFields) return undefined
  const fields = properties.map(([name, raw]) => fieldOf(name, objectOf(raw), required.has(name)))
  return fields.every((field) => field !== undefined) ? fields : undefined
}

/** The value of a field from the text that a person typed. */
export function readTyped({ kind }: Field, typed: string): Content[string] {
  const text = typed.trim()
  if (kind === "number" || kind === "integer") return text === "" ? Number.NaN : Number(text)
  if (kind === "boolean" && /^(y|yes|true|n|no|false)$/i.test(text)) return /^[yt]/i.test(text)
  if (kind === "choices") return text.split(",").map((one) => one.trim())
  return text
}

/** The problem with the content, in a line; undefined if it is valid. */
export function problemOf(fields: Field[], content: Content): string | undefined {
  const unknown = Object.keys(content).find((key) => !fields.some(({ name }) => name === key))
  if (unknown !== undefined)
    return `there is no field ${JSON.stringify(unknown)}. Fields: ${fields.map(({ name }) => name).join(", ") || "none"}`
  for (const field of fields) {
    const problem = Object.hasOwn(content, field.name)
      ? problemWith(field, content[field.name]!)
      : field.required && field.default === undefined
        ? "it is required"
        : undefined
    if (problem) return `${field.name}: ${problem}`
  }
  return undefined
}

function fieldOf(name: string, raw: Raw, required: boolean): Field | undefined {
  const kind = Array.isArray(raw.enum) || Array.isArray(raw.oneOf) ? "choice" : kinds.get(raw.type)
  if (!kind || !name || name.length > maxName || !isPlain(name) || name === "__proto__") return undefined
  const options =
    kind === "choice" ? optionsOf(raw) : kind === "choices" ? optionsOf(objectOf(raw.items)) : []
  if (!options || (kind.startsWith("choice") && !options.length)) return undefined
  const min = numberOf(raw.minimum ?? raw.minLength ?? raw.minItems)
  const max = numberOf(raw.maximum ?? raw.maxLength ?? raw.maxItems)
  const field: Field = {
    name,
    kind,
    required,
    ...textOf("title", raw.title),
    ...textOf("description", raw.description),
    ...(options.length ? { options } : {}),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(typeof raw.format === "string" && Object.hasOwn(fits, raw.format) ? { format: raw.format } : {}),
  }
  const given = Value.safeParse(raw.default)
  const isUsable = given.success && [given.data].flat().every((one) => isPlain(String(one)))
  return isUsable && !problemWith(field, given.data) ? { ...field, default: given.data } : field
}

/** Reads `enum`, with or without `enumNames`, or a list of `const` in `oneOf` or `anyOf`. */
function optionsOf(raw: Raw): Field["options"] | undefined {
  const names = Array.isArray(raw.enumNames) ? raw.enumNames : []
  const listed = Array.isArray(raw.enum)
    ? raw.enum.map((value: unknown, i) => ({ value, title: names[i] ?? value }))
    : [raw.oneOf ?? raw.anyOf ?? []]
        .flat()
        .map((one) => ({ value: objectOf(one).const, title: objectOf(one).title }))
  const options = listed.flatMap(({ value, title }) =>
    typeof value === "string" && value.length <= maxText && isPlain(value)
      ? [{ value, title: plainText(typeof title === "string" ? title : value, maxText) }]
      : [],
  )
  return options.length <= maxOptions && options.length === listed.length ? options : undefined
}

function problemWith(field: Field, value: Content[string]): string | undefined {
  const { kind, options = [], format } = field
  const isOption = (one: string) => options.some((option) => option.value === one)
  const among = `choose among ${options.map((option) => option.value).join(", ")}`
  switch (kind) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "yes or no is expected"
    case "number":
    case "integer":
      if (typeof value !== "number" || !Number.isFinite(value)) return "a number is expected"
      if (kind === "integer" && !Number.isInteger(value)) return "a whole number is expected"
      return outside(field, value, "")
    case "choice":
      return typeof value === "string" && isOption(value) ? undefined : among
    case "choices":
      if (!Array.isArray(value) || !value.every(isOption)) return among
      return outside(field, value.length, " choices")
    case "text":
      if (typeof value !== "string" || value.length > maxGiven)
        return `a text is expected, up to ${maxGiven} characters`
      if (format && !fits[format]!(value)) return `it is not of the form ${format}`
      return outside(field, value.length, " characters")
  }
}

function outside({ min, max }: Field, value: number, of: string): string | undefined {
  if (min !== undefined && value < min) return `at least ${min}${of}`
  return max !== undefined && value > max ? `at most ${max}${of}` : undefined
}

function textOf<K extends string>(key: K, value: unknown): { [P in K]?: string } {
  return (typeof value === "string" && value ? { [key]: plainText(value, maxText) } : {}) as {
    [P in K]?: string
  }
}

function isPlain(text: string): boolean {
  return plainText(text, text.length) === text
}

function objectOf(value: unknown): Raw {
  return typeof value === "object" && value !== null ? (value as Raw) : {}
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}
