// OpenAI chat completions, as most servers speak them. The package is loaded when the first such model is asked for.
import type { LanguageModelV4 } from "@ai-sdk/provider"
import type { Resolved } from "./resolve-model.ts"

export async function loadCompatible({ connection, modelId, facts }: Resolved): Promise<LanguageModelV4> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible")
  const { id, baseURL, apiKey, headers, quirks } = connection
  const { keyHeader } = quirks
  const create = createOpenAICompatible({
    name: id,
    baseURL,
    ...(apiKey && !keyHeader ? { apiKey } : {}),
    headers: { ...(apiKey && keyHeader ? { [keyHeader]: apiKey } : {}), ...headers },
    includeUsage: true,
    ...(quirks.effort === "openai" && facts.reasoning ? { transformRequestBody: renameLimit } : {}),
  })
  return create(modelId)
}

/** OpenAI's reasoning models refuse `max_tokens`. */
function renameLimit({ max_tokens, ...body }: Record<string, unknown>): Record<string, unknown> {
  return { ...body, max_completion_tokens: max_tokens }
}
