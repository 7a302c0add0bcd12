// Anthropic messages. The package is loaded when the first such model is asked for.
import type { LanguageModelV4 } from "@ai-sdk/provider"
import type { Resolved } from "#ability/provider/catalog/resolve-model.ts"
import { createProviderFetch } from "#ability/provider/reach/provider-fetch.ts"
import { acceptWhole } from "./accept-whole.ts"

export async function loadAnthropic({ connection, modelId }: Resolved): Promise<LanguageModelV4> {
  const { createAnthropic } = await import("@ai-sdk/anthropic")
  const { id, baseURL, apiKey = "", headers } = connection
  return acceptWhole(createProviderFetch(id), (fetch) =>
    createAnthropic({ name: `${id}.messages`, baseURL, apiKey, headers, fetch })(modelId),
  )
}
