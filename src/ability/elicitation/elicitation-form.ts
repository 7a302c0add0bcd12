// The form that an MCP server, or a tool of ours, asks a person to fill in. Its schema is parsed within limits, and hidden characters are made
// visible.
import { z } from "zod"
import { formats, problemWith } from "#client/check-form.ts"
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
  format: about(
    "`email`, `uri`, `date`, `date-time`, or, in a question of vitamin itself, `password`: it must not be shown while it is typed.",
    z.string().optional(),
  ),
})
export type Field = z.infer<typeof Field>

type Raw = Record<string, unknown>

const maxFields = 50
const maxOptions = 200
const maxName = 128
const maxText = 1_000
const kinds = new Map<unknown, Field["kind"]>([
  ["string", "text"],
  ["number", "number"],
  ["integer", "integer"],
  ["boolean", "boolean"],
  ["array", "choices"],
])

/** Undefined if the schema has too many fields, or one that cannot be shown. */
export function fieldsOf(schema: Raw): Field[] | undefined {
  const properties = Object.entries(objectOf(schema.properties))
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  if (properties.length > maxFields) return undefined
  const fields = properties.map(([name, raw]) => fieldOf(name, objectOf(raw), required.has(name)))
  return fields.every((field) => field !== undefined) ? fields : undefined
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
    ...(typeof raw.format === "string" && formats.includes(raw.format) ? { format: raw.format } : {}),
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
