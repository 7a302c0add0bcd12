// Converts a Zod schema into the JSON Schema for models, with as few bytes as possible.
import { z } from "zod"
import { errorText, NamedError } from "#util/error.ts"

export type ToolSchema = { [name: string]: unknown }

export class NotRepresentable extends NamedError {
  constructor(reason: string) {
    super("NotRepresentable", `The parameters cannot be shown to a model: ${reason}`)
  }
}

/** The input schema (before defaults and transforms). Throws `NotRepresentable` if JSON Schema cannot express it. */
export function zodToToolSchema(schema: z.ZodType): ToolSchema {
  refuseForeign(schema)
  try {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", target: "draft-7" })
    return compact(rest) as ToolSchema
  } catch (error) {
    throw new NotRepresentable(
      `${errorText(error)}. Use strings, numbers, booleans, lists, objects and enums.`,
    )
  }
}

/** A schema of another zod version has other internals, and would fail later. */
function refuseForeign(schema: object): void {
  if ("_zod" in schema) return
  const what = "_def" in schema ? "they were made with zod 3" : "they are no zod schema"
  throw new NotRepresentable(`${what}. Use zod 4: import { z } from "@vitamin-agent/vitamin"`)
}

/** The gate refuses extra keys, and Zod's bounds of safe integers do not help a model. */
function compact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(compact)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).filter(([name, item]) => !isNoise(name, item))
  return Object.fromEntries(entries.map(([name, item]) => [name, isData(name) ? item : compact(item)]))
}

function isNoise(name: string, item: unknown): boolean {
  if (name === "additionalProperties") return item === false || isEmpty(item)
  return (
    (name === "maximum" && item === Number.MAX_SAFE_INTEGER) ||
    (name === "minimum" && item === Number.MIN_SAFE_INTEGER)
  )
}

function isEmpty(item: unknown): boolean {
  return typeof item === "object" && item !== null && Object.keys(item).length === 0
}

/** Values of the schema's author, in which a key may look like a keyword. */
function isData(name: string): boolean {
  return name === "default" || name === "const" || name === "enum" || name === "examples"
}
