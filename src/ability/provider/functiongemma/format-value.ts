// Formats values and tool results for FunctionGemma: like JSON, but a string has <escape> on both sides in place of
// quotes, and simple keys have nothing around them.
import { NamedError } from "#util/error.ts"
import { neutralize, tokens } from "./control-tokens.ts"

const plainKey = /^[\w$][\w$.-]*$/
const validName = /^[\w.:/@$-]+$/
const maxDepth = 64

export function checkName(name: string): string {
  if (!validName.test(name))
    throw new NamedError(
      "FunctionGemma.InvalidName",
      `${JSON.stringify(name)} is not a valid function name. Use only letters, digits and . : / @ $ _ -`,
      { name },
    )
  return name
}

export function formatString(text: string): string {
  return `${tokens.escape}${neutralize(text)}${tokens.escape}`
}

/** As in JSON, undefined and functions are left out of objects, and numbers that are not finite become null. */
export function formatValue(value: unknown, depth = 0): string {
  if (typeof value === "string") return formatString(value)
  if (typeof value === "boolean" || typeof value === "number")
    return Number.isFinite(Number(value)) ? JSON.stringify(value) : "null"
  if (typeof value !== "object" || value === null) return "null"
  if (depth >= maxDepth) return formatString(JSON.stringify(value))
  if (Array.isArray(value)) return `[${value.map((item) => formatValue(item, depth + 1)).join(",")}]`
  return formatObject(value, depth)
}

/** Keys are sorted, as in the model's training data. */
export function formatObject(value: object, depth = 0): string {
  const entries = Object.entries(value).filter(([, item]) => item !== undefined && typeof item !== "function")
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${entries.map(([key, item]) => `${formatKey(key)}:${formatValue(item, depth + 1)}`).join(",")}}`
}

export function formatKey(key: string): string {
  return plainKey.test(key) ? key : formatString(key)
}

/** Formats the result of a tool. A result that is not an object is wrapped as `{ value: result }`. */
export function formatFunctionResponse(name: string, result: unknown): string {
  const isObject = typeof result === "object" && result !== null && !Array.isArray(result)
  const body = formatObject(isObject ? result : { value: result ?? null })
  return `${tokens.startResponse}response:${checkName(name)}${body}${tokens.endResponse}`
}
