// From the names of a provider and a model to all that is needed to call it, or the error that says what is missing.
import * as Config from "#kernel/config/config.ts"
import * as Catalog from "./catalog.ts"
import { type Connection, connect, isLoopback, needsKey, settingsOf } from "./connection.ts"
import { declaredModel, factsOf } from "./declared.ts"
import { MissingKey, UnknownModel } from "./errors.ts"
import { providers } from "./providers.ts"

export type Resolved = {
  modelId: string
  facts: Catalog.ModelFacts
  /** The facts are the model's own, not defaults. */
  known: boolean
  connection: Connection
}

export async function resolveModel(providerId: string, modelId: string): Promise<Resolved> {
  const settings = settingsOf(await Config.get(), providerId)
  const declared = declaredModel({ providerId, modelId, settings })
  const connection = connect({
    id: providerId,
    settings,
    ...(declared?.api ? { wire: declared.api } : {}),
  })
  const known = Catalog.get(providerId, modelId) !== undefined
  if (!known && !declared && !connection.custom && !isLoopback(connection.baseURL))
    throw new UnknownModel({ providerId, modelId, known: Catalog.ids(providerId) })
  if (needsKey(connection)) throw new MissingKey(providerId, variablesOf(providerId))
  const facts = factsOf({ providerId, modelId, ...(declared ? { declared } : {}) })
  return { modelId, facts, known: known || declared !== undefined, connection }
}

function variablesOf(providerId: string): string[] {
  const entry = Object.hasOwn(providers, providerId) ? providers[providerId] : undefined
  return entry?.env ?? [`provider.${providerId}.apiKey in the configuration`]
}
