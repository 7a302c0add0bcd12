// Models that the configuration declares under `provider.<id>.models`: facts that differ from the defaults, and the wire
// form where a server speaks another one than its provider.

import type { Settings } from "#ability/provider/reach/connection.ts"
import type { DeclaredModel } from "#kernel/schema/schema.ts"
import * as Catalog from "./catalog.ts"

/** What the configuration says about a model, if it names it. */
export function declaredModel(options: { modelId: string; settings: Settings }): DeclaredModel | undefined {
  const { modelId, settings } = options
  const models = settings.models ?? {}
  return Object.hasOwn(models, modelId) ? models[modelId] : undefined
}

/** The facts of a model: declared ones over known ones over defaults that suit most servers. */
export function factsOf(options: {
  providerId: string
  modelId: string
  declared?: DeclaredModel
}): Catalog.ModelFacts {
  const { providerId, modelId, declared } = options
  return {
    ...(Catalog.get(providerId, modelId) ?? defaults(providerId, modelId)),
    ...definedFacts(declared ?? {}),
  }
}

function defaults(provider: string, id: string): Catalog.ModelFacts {
  return {
    provider,
    id,
    name: id,
    context: 128_000,
    output: 0,
    tools: true,
    reasoning: false,
    temperature: true,
    input: ["text"],
  }
}

/** What the configuration says of a model's facts. */
export function definedFacts(own: DeclaredModel): Partial<Catalog.ModelFacts> {
  const { api: _, gpu: __, ...facts } = own
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
}
