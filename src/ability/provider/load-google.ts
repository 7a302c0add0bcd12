// Gemini generateContent. The package is loaded when the first such model is asked for.
import type { LanguageModelV4 } from "@ai-sdk/provider"
import { acceptWhole } from "./accept-whole.ts"
import { createProviderFetch } from "./provider-fetch.ts"
import type { Resolved } from "./resolve-model.ts"

export async function loadGoogle({ connection, modelId }: Resolved): Promise<LanguageModelV4> {
  const { createGoogle } = await import("@ai-sdk/google")
  const { id, baseURL, apiKey = "", headers } = connection
  return acceptWhole(createProviderFetch(id), (fetch) =>
    createGoogle({ baseURL, apiKey, headers, fetch })(modelId),
  )
}
