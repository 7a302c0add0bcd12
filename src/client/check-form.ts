// Checks what a person fills in for an MCP server or the vault, with the same rules in the engine, the terminal and a browser.
import type { ElicitationRequest } from "./types.ts"

export type FormField = NonNullable<ElicitationRequest["fields"]>[number]
export type FormContent = Record<string, string | number | boolean | string[]>

const maxGiven = 10_000
const fits: Record<string, (text: string) => boolean> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  // Not shown while it is typed.
  password: () => true,
  "date-time": (text) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)),
}
export const formats: readonly string[] = Object.keys(fits)

/** Who asks: an MCP server, or vitamin itself. */
export function askerWords(server: string | undefined): string {
  return server === undefined ? "Vitamin" : `The MCP server ${server}`
}

/** The value of a field from the text that a person typed. */
export function readTyped(
  { kind, format }: Pick<FormField, "kind" | "format">,
  typed: string,
): FormContent[string] {
  if (format === "password") return typed
  const text = typed.trim()
  if (kind === "number" || kind === "integer") return text === "" ? Number.NaN : Number(text)
  if (kind === "boolean" && /^(y|yes|true|n|no|false)$/i.test(text)) return /^[yt]/i.test(text)
  if (kind === "choices") return text.split(",").map((one) => one.trim())
  return text
}

/** The problem with the content, in a line; undefined if it is valid. */
export function problemOf(fields: readonly FormField[], content: FormContent): string | undefined {
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

/** The problem with one value. */
export function problemWith(field: FormField, value: FormContent[string]): string | undefined {
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
      if (format && fits[format]?.(value) === false) return `it is not of the form ${format}`
      return outside(field, value.length, " characters")
  }
}

function outside({ min, max }: FormField, value: number, of: string): string | undefined {
  if (min !== undefined && value < min) return `at least ${min}${of}`
  return max !== undefined && value > max ? `at most ${max}${of}` : undefined
}
