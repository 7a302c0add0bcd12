// OpenAI responses. The package is loaded when the first such model is asked for.
import type { LanguageModelV4 } from "@ai-sdk/provider"
import type { Resolved } from "./resolve-model.ts"

export async function loadOpenai({ connection, modelId }: Resolved): Promise<LanguageModelV4> {
  const { createOpenAI } = await import("@ai-sdk/openai")
  const { baseURL, apiKey = "", headers } = connection
  return createOpenAI({ baseURL, apiKey, headers }).responses(modelId)
}
