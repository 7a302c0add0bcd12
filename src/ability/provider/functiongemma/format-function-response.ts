// The result of a tool in the format of FunctionGemma.
import { tokens } from "./control-tokens.ts"
import { checkName, formatObject } from "./format-value.ts"

/** An object is written as it is; anything else as its `value`. */
export function formatFunctionResponse(name: string, result: unknown): string {
  const isObject = typeof result === "object" && result !== null && !Array.isArray(result)
  const body = formatObject(isObject ? result : { value: result ?? null })
  return `${tokens.startResponse}response:${checkName(name)}${body}${tokens.endResponse}`
}
