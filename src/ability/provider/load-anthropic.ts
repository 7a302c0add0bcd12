// Anthropic messages. The package is loaded when the first such model is asked for.
import type { LanguageModelV4 } from "@ai-sdk/provider"
import { acceptWhole } from "./accept-whole.ts"
import { createProviderFetch } from "./provider-fetch.ts"
import type { Resolved } from "./resolve-model.ts"

export async function loadAnthropic({ connection, modelId }: Resolved): Promise<LanguageModelV4> {
  const { createAnthropic } = await import("@ai-sdk/anthropic")
  const { id, baseURL, apiKey = "", headers } = connection
  return acceptWhole(createProviderFetch(id), (fetch) =>
    createAnthropic({ name: `${id}.messages`, baseURL, apiKey, headers, fetch })(modelId),
  )
}
