// From the names of a provider and a model to all that is needed to call it, or the error that says what is missing.
import * as Config from "#kernel/config/config.ts"
import * as Catalog from "./catalog.ts"
import { type Connection, connect, isLoopback, needsKey, settingsOf } from "./connection.ts"
import { declaredModel, factsOf } from "./declared.ts"
import { MissingKey, UnknownModel } from "./errors.ts"
import { providers } from "./providers.ts"
import { rulesFacts } from "./rules-facts.ts"

export type Resolved = {
  modelId: string
  facts: Catalog.ModelFacts
  /** The facts are the model's own, not defaults. */
  known: boolean
  connection: Connection
}

/** `found`: where a server of this provider answered on this machine. */
export async function resolveModel(options: {
  providerId: string
  modelId: string
  found?: string | undefined
}): Promise<Resolved> {
  const { providerId, modelId, found } = options
  const settings = settingsOf(await Config.get(), providerId)
  if (providerId === "local" && !settings.baseURL) return builtIn(modelId)
  const declared = declaredModel({ providerId, modelId, settings })
  const connection = connect({
    id: providerId,
    settings,
    found,
    ...(declared?.api ? { wire: declared.api } : {}),
  })
  const known = Catalog.get(providerId, modelId) !== undefined
  if (!known && !declared && !connection.custom && !isLoopback(connection.baseURL))
    throw new UnknownModel({ providerId, modelId, known: Catalog.ids(providerId) })
  if (needsKey(connection)) throw new MissingKey(providerId, variablesOf(providerId))
  const facts = factsOf({ providerId, modelId, ...(declared ? { declared } : {}) })
  return { modelId, facts, known: known || declared !== undefined, connection }
}

/** The model that needs no server. A person's own server may be called the same, and then has a base URL. */
function builtIn(modelId: string): Resolved {
  if (modelId !== rulesFacts.id)
    throw new UnknownModel({ providerId: "local", modelId, known: [rulesFacts.id] })
  const connection: Connection = {
    id: "local",
    wire: "rules",
    baseURL: "",
    custom: false,
    headers: {},
    quirks: {},
    source: "none",
  }
  return { modelId, facts: rulesFacts, known: true, connection }
}

function variablesOf(providerId: string): string[] {
  const entry = Object.hasOwn(providers, providerId) ? providers[providerId] : undefined
  return entry?.env ?? [`provider.${providerId}.apiKey in the configuration`]
}
