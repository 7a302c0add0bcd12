// The models that the person can use now: those of providers with a key, of model servers that answer on this machine, and
// the built-in ones.
import * as Catalog from "#ability/provider/catalog/catalog.ts"
import { findLlama } from "#knowledge/llama/llama.ts"
import * as Provider from "./provider.ts"

/** Models that a provider no longer wants to be used are left out. */
export async function usableModels(): Promise<Provider.ModelFacts[]> {
  await Provider.load()
  const known = Provider.models()
  const found = await Provider.localModels()
  const providers = [...new Set(known.map(({ provider }) => provider))]
  const keys = await Promise.all(providers.map(async (id) => (await Provider.auth(id)).source !== "none"))
  const withKey = new Set(providers.filter((_, i) => keys[i]))
  const hasLlama = findLlama() !== undefined
  const usable = known.filter(({ provider, id, status }) => {
    if (status === "deprecated") return false
    if (provider === Catalog.offlineModel.provider) return id === Catalog.offlineModel.id || hasLlama
    return withKey.has(provider)
  })
  const names = new Map([...usable, ...found].map((model) => [`${model.provider}/${model.id}`, model]))
  return [...names.values()]
}
