// OpenAI chat completions, as most servers speak them. Our own client, loaded when the first such model is asked for.
import type { LanguageModelV4 } from "@ai-sdk/provider"
import type { Resolved } from "#ability/provider/catalog/resolve-model.ts"

export async function loadCompatible({ connection, modelId, facts }: Resolved): Promise<LanguageModelV4> {
  const { createChatModel } = await import("#ability/provider/chat/chat-model.ts")
  const { id, baseURL, apiKey, headers, quirks } = connection
  const { keyHeader } = quirks
  const auth = keyHeader ? { [keyHeader]: apiKey } : { authorization: `Bearer ${apiKey}` }
  return createChatModel({
    providerId: id,
    modelId,
    url: `${baseURL}/chat/completions`,
    headers: { ...(apiKey ? auth : {}), ...lowerCased(headers) } as Record<string, string>,
    // OpenAI's reasoning models refuse `max_tokens`.
    limitName: quirks.effort === "openai" && facts.reasoning ? "max_completion_tokens" : "max_tokens",
  })
}

/** A header that is given twice in different spellings would be sent with both values. */
function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
