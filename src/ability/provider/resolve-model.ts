// Resolves the names of a provider and a model to everything that a call needs, or throws an error that says what is
// missing; then loads the model by its wire form. The code of a wire form is loaded with the first such model.

import type { LanguageModelV4 } from "@ai-sdk/provider"
import * as Catalog from "#ability/provider/catalog/catalog.ts"
import {
  type Connection,
  connect,
  isLoopback,
  needsKey,
  type Settings,
  settingsOf,
} from "#ability/provider/reach/connection.ts"
import { MissingKey, NotAdded, UnknownModel, Unusable } from "#ability/provider/reach/errors.ts"
import { createProviderFetch } from "#ability/provider/reach/provider-fetch.ts"
import { providers, type Wire } from "#ability/provider/reach/providers.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import type { DeclaredModel } from "#kernel/schema/schema.ts"
import type { Llama } from "#knowledge/llama/llama.ts"
import { acceptWhole } from "./accept-whole.ts"
import { type AddedModel, checkAdded, factsOfAdded, listAdded } from "./added-models.ts"

export type Resolved = {
  modelId: string
  facts: Catalog.ModelFacts
  /** The facts are the model's own, not defaults. */
  known: boolean
  connection: Connection
  /** The file of a model that runs here. */
  file?: AddedModel & { gpu: "auto" | false }
}

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

  /** OpenAI chat completions, which most servers support. Uses our own client. */
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

  async converse({ connection }) {
    throw new Unusable(connection.id, "only Amazon Bedrock has this API")
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

/** `found`: where a server of this provider answered on this machine. */
export async function resolveModel(options: {
  providerId: string
  modelId: string
  found?: string | undefined
}): Promise<Resolved> {
  const { providerId, modelId, found } = options
  const settings = settingsOf(await Config.get(), providerId)
  if (providerId === "local" && !settings.baseURL) return builtIn(modelId, settings)
  const declared = declaredModel({ modelId, settings })
  const wire = declared?.api ?? (isClaudeOnVertex(providerId, modelId) ? "messages" : undefined)
  const connection = connect({ id: providerId, settings, found, ...(wire ? { wire } : {}) })
  const known = Catalog.get(providerId, modelId) !== undefined
  if (!known && !declared && !connection.custom && !isLoopback(connection.baseURL))
    throw new UnknownModel({ providerId, modelId, known: Catalog.ids(providerId) })
  if (needsKey(connection)) throw new MissingKey(providerId, variablesOf(providerId))
  const facts = factsOf({ providerId, modelId, ...(declared ? { declared } : {}) })
  return { modelId, facts, known: known || declared !== undefined, connection }
}

/** Vertex has models of Google and of Anthropic in one list. */
function isClaudeOnVertex(providerId: string, modelId: string): boolean {
  return providerId === "google-vertex" && modelId.startsWith("claude")
}

/** The models that need no server: fixed rules, and GGUF files that the person added. A person may also name a server
 * "local"; it then has a base URL. */
function builtIn(modelId: string, settings: Settings): Resolved {
  const connection: Connection = {
    id: "local",
    wire: "rules",
    baseURL: "",
    custom: false,
    headers: {},
    quirks: {},
    source: "none",
  }
  if (modelId === Catalog.offlineModel.id)
    return { modelId, facts: Catalog.offlineModel, known: true, connection }
  const added = listAdded()
  if (!Object.hasOwn(added, modelId)) {
    if (/^functiongemma/i.test(modelId)) throw new NotAdded(modelId)
    throw new UnknownModel({
      providerId: "local",
      modelId,
      known: [Catalog.offlineModel.id, ...Object.keys(added)],
    })
  }
  const file = added[modelId]!
  checkAdded(modelId, file)
  const declared = declaredModel({ modelId, settings })
  const facts = { ...factsOfAdded(modelId, file), ...definedFacts(declared ?? {}) }
  return {
    modelId,
    facts,
    known: true,
    connection: { ...connection, wire: "gguf" },
    file: { ...file, gpu: declared?.gpu ?? false },
  }
}

function variablesOf(providerId: string): string[] {
  const entry = Object.hasOwn(providers, providerId) ? providers[providerId] : undefined
  return entry?.env ?? [`provider.${providerId}.apiKey in the configuration`]
}

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

/** The account of a cloud signs what has no key, and whatever its own package must send. */
export async function loadModel(resolved: Resolved): Promise<LanguageModelV4> {
  const { account, wire, apiKey } = resolved.connection
  if (!account || (wire === "chat" && (account !== "azure" || apiKey))) return loaders[wire](resolved)
  const { loadCloudModel } = await import("./cloud-models.ts")
  return loadCloudModel(resolved, () => loaders[wire](resolved))
}

/** Lower-cased, because a header in two spellings would be sent with both values. */
function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
