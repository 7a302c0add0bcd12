// Tool calls and their results in the words of a prompt.
import type { LanguageModelV4ToolResultOutput } from "@ai-sdk/provider"
import { isObject } from "./json.ts"
import { type Call, type Of, toolName } from "./schema.ts"

type Output = LanguageModelV4ToolResultOutput

export function shownName(name: string): string {
  return toolName.test(name) ? name : name.replace(/[^\w-]/g, "_").slice(0, 64) || "unnamed"
}

/** Providers take objects only. */
export function inputOf(call: Call): unknown {
  if (call.invalid !== undefined) return { rawInvalidInput: call.invalid }
  return isObject(call.arguments) ? call.arguments : { rawInvalidInput: call.arguments }
}

export function unanswered({ approval }: Call): Output {
  const value =
    approval === "denied"
      ? "The call was denied and did not run."
      : "The call was interrupted; whether it had an effect is not known."
  return { type: "error-text", value }
}

export function outputOf({ status, output, error }: Of<"tool_result">["data"]): Output {
  if (status === "success")
    return typeof output === "string"
      ? { type: "text", value: output }
      : { type: "json", value: output as Extract<Output, { type: "json" }>["value"] }
  const said = typeof output === "string" ? output : output === null ? "" : JSON.stringify(output)
  const reason =
    error?.message ?? (status === "interrupted" ? "The call was interrupted." : "The call failed.")
  return { type: "error-text", value: said.includes(reason) ? said : said ? `${reason}\n${said}` : reason }
}

/** A result for a model that cannot call tools. */
export function resultText(name: string, output: Output): string {
  const value = "value" in output && typeof output.value === "string" ? output.value : JSON.stringify(output)
  return `[result of ${name}]\n${value}`
}
