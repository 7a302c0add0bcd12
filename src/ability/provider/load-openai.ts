// OpenAI responses. The package is loaded when the first such model is asked for.
import type { LanguageModelV4 } from "@ai-sdk/provider"
import type { Resolved } from "#ability/provider/catalog/resolve-model.ts"
import { createProviderFetch } from "#ability/provider/reach/provider-fetch.ts"
import { acceptWhole } from "./accept-whole.ts"

export async function loadOpenai({ connection, modelId }: Resolved): Promise<LanguageModelV4> {
  const { createOpenAI } = await import("@ai-sdk/openai")
  const { id, baseURL, apiKey = "", headers } = connection
  return acceptWhole(createProviderFetch(id), (fetch) =>
    createOpenAI({ baseURL, apiKey, headers, fetch }).responses(modelId),
  )
}
