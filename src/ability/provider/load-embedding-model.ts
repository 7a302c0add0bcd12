// An embedding model of a provider, as a function from texts to lists of numbers. The package of its wire form is loaded
// when one is asked for. The built-in list has no embedding models, so any name is tried.
import type { EmbeddingModelV4 } from "@ai-sdk/provider"
import { type Connection, connect, needsKey, settingsOf } from "#ability/provider/reach/connection.ts"
import { MissingKey, Unusable } from "#ability/provider/reach/errors.ts"
import { createProviderFetch } from "#ability/provider/reach/provider-fetch.ts"
import { providers } from "#ability/provider/reach/providers.ts"
import * as Config from "#kernel/config/config.ts"
import { useProxy } from "./environment.ts"

export type EmbedMany = (texts: string[]) => Promise<number[][]>

const longestWait = 60_000

/** `name` is "provider/model". */
export async function loadEmbeddingModel(name: string): Promise<EmbedMany> {
  const slash = name.indexOf("/")
  const [id, modelId] = [name.slice(0, slash), name.slice(slash + 1)]
  const connection = connect({ id, settings: settingsOf(await Config.get(), id) })
  if (needsKey(connection)) throw new MissingKey(id, providers[id]?.env ?? [`provider.${id}.apiKey`])
  await useProxy()
  const model = await load(connection, modelId)
  return async (texts) => {
    const most = (await model.maxEmbeddingsPerCall) ?? texts.length
    const lists: number[][] = []
    for (let start = 0; start < texts.length; start += most) {
      const values = texts.slice(start, start + most)
      const { embeddings } = await model.doEmbed({ values, abortSignal: AbortSignal.timeout(longestWait) })
      lists.push(...embeddings)
    }
    return lists
  }
}

async function load(connection: Connection, modelId: string): Promise<EmbeddingModelV4> {
  const { id, wire, baseURL, apiKey = "", headers, quirks } = connection
  const fetch = createProviderFetch(id)
  if (wire === "gemini") {
    const { createGoogle } = await import("@ai-sdk/google")
    return createGoogle({ baseURL, apiKey, headers, fetch }).embeddingModel(modelId)
  }
  if (wire !== "chat" && wire !== "responses") throw new Unusable(id, "it has no embedding models")
  // Every server that imitates OpenAI imitates its embeddings as well.
  const { createOpenAI } = await import("@ai-sdk/openai")
  const key = quirks.keyHeader ? { [quirks.keyHeader]: apiKey } : {}
  return createOpenAI({ baseURL, apiKey, headers: { ...key, ...headers }, fetch }).embeddingModel(modelId)
}
