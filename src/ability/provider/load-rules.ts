// The built-in offline model. Loaded when it is asked for.
import type { LanguageModelV4 } from "@ai-sdk/provider"

export async function loadRules(): Promise<LanguageModelV4> {
  const { createRulesModel } = await import("./rules/rules-model.ts")
  return createRulesModel()
}
