// Loads a model by its wire form. The code of a wire form is loaded with the first such model.
import type { LanguageModelV4 } from "@ai-sdk/provider"
import { createProviderFetch } from "#ability/provider/reach/provider-fetch.ts"
import type { Wire } from "#ability/provider/reach/providers.ts"
import { Instance } from "#kernel/instance.ts"
import type { Llama } from "#knowledge/llama/llama.ts"
import { acceptWhole } from "./accept-whole.ts"
import type { Resolved } from "./resolve-model.ts"

/** The llama.cpp processes of this instance. */
const llamas = Instance.state(
  () => new Set<Llama>(),
  (all) => Promise.all([...all].map((llama) => llama.close())),
)

const loaders: Record<Wire, (resolved: Resolved) => Promise<LanguageModelV4>> = {
  async messages({ connection, modelId }) {
    const { createAnthropic } = await import("@ai-sdk/anthropic")
    const { id, baseURL, apiKey = "", headers } = connection
    return acceptWhole(createProviderFetch(id), (fetch) =>
      createAnthropic({ name: `${id}.messages`, baseURL, apiKey, headers, fetch })(modelId),
    )
  },

  async gemini({ connection, modelId }) {
    const { createGoogle } = await import("@ai-sdk/google")
    const { id, baseURL, apiKey = "", headers } = connection
    return acceptWhole(createProviderFetch(id), (fetch) =>
      createGoogle({ baseURL, apiKey, headers, fetch })(modelId),
    )
  },

  async responses({ connection, modelId }) {
    const { createOpenAI } = await import("@ai-sdk/openai")
    const { id, baseURL, apiKey = "", headers } = connection
    return acceptWhole(createProviderFetch(id), (fetch) =>
      createOpenAI({ baseURL, apiKey, headers, fetch }).responses(modelId),
    )
  },

  /** OpenAI chat completions, as most servers speak them. Our own client. */
  async chat({ connection, modelId, facts }) {
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
  },

  /** The built-in offline model. */
  async rules() {
    const { createRulesModel } = await import("./rules/rules-model.ts")
    return createRulesModel()
  },

  /** A GGUF file that the person added, run by llama.cpp in a process of its own. It is loaded with the first request. */
  async gguf({ modelId, facts, file }) {
    const { path, gpu } = file!
    const { loadLlama } = await import("#knowledge/llama/llama.ts")
    const { createFunctionGemmaModel } = await import("./functiongemma/functiongemma-model.ts")
    const backend = loadLlama({ path, use: "completion", context: facts.context, gpu })
    llamas().add(backend)
    return createFunctionGemmaModel({ modelId, backend, maxTokens: facts.output })
  },
}

export function loadModel(resolved: Resolved): Promise<LanguageModelV4> {
  return loaders[resolved.connection.wire](resolved)
}

/** In one spelling, because a header in two spellings would be sent with both values. */
function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
