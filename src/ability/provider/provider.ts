// The models that vitamin can use, as AI SDK models. The SDK is loaded when the first model is requested, and then only
// the package of its wire form.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
} from "@ai-sdk/provider"
import * as Catalog from "#ability/provider/catalog/catalog.ts"
import * as AuthFile from "#ability/provider/reach/auth-file.ts"
import { type Auth, authOf, entryOf, settingsOf } from "#ability/provider/reach/connection.ts"
import { providers, type Wire } from "#ability/provider/reach/providers.ts"
import { type Request, type Target, transformRequest } from "#ability/provider/request/transform-request.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { factsOfAdded, listAdded } from "./added-models.ts"
import { useProxy } from "./environment.ts"
import { findLocalServers, type LocalServer, localPlaces } from "./local-servers.ts"
import {
  declaredModel,
  definedFacts,
  factsOf,
  loadModel,
  type Resolved,
  resolveModel,
} from "./resolve-model.ts"

export type { ModelFacts } from "#ability/provider/catalog/catalog.ts"
export type { PartReader } from "#ability/provider/chat/chat-model.ts"
export { InvalidKey, logout, UnsafeLogins } from "#ability/provider/reach/auth-file.ts"
export type { Auth } from "#ability/provider/reach/connection.ts"
export {
  MissingKey,
  MissingPackage,
  NotAdded,
  UnknownModel,
  UnknownProvider,
  Unusable,
} from "#ability/provider/reach/errors.ts"
export type { Wire } from "#ability/provider/reach/providers.ts"
export { outputBudget, type Request } from "#ability/provider/request/transform-request.ts"
export { redactKeys } from "./environment.ts"
export type { LocalServer } from "./local-servers.ts"
export { NotRefreshed, refreshCatalog as refresh } from "./refresh-catalog.ts"

/** A tool as it is described to the model. */
export type ToolDescription = LanguageModelV4FunctionTool

/** Models that another process asks, because this one has neither keys nor a network. */
export type Remote = Readonly<{
  /** Chooses the model of the first name that is defined, as `chooseModel` does. */
  choose(wanted: { agent: string | undefined; names: (string | undefined)[] }): Promise<RemoteModel>
  open(model: RemoteModel): LanguageModelV4
}>
export type RemoteModel = Target & { isFallback: boolean }

export type ProviderFacts = {
  id: string
  name: string
  wire: Wire
  baseURL?: string
  env: string[]
  /** A person can get a key by signing in with a browser. */
  canSignIn: boolean
}

type State = {
  proxy?: Promise<void>
  built: Map<string, { fingerprint: string; model: Promise<LanguageModelV4> }>
  resolved: Map<string, Resolved>
  declared: Map<string, Catalog.ModelFacts>
  /** Where servers answered on this machine, by provider. */
  found: Map<string, string>
  remote?: Remote
}

const state = Instance.state(
  (): State => ({ built: new Map(), resolved: new Map(), declared: new Map(), found: new Map() }),
)

/** The model to stream from. Created once, and again after its settings have changed. */
export async function getModel(providerId: string, modelId: string): Promise<LanguageModelV4> {
  const own = state()
  const resolved = await resolveModel({ providerId, modelId, found: own.found.get(providerId) })
  if (!["rules", "gguf"].includes(resolved.connection.wire)) {
    own.proxy ??= useProxy()
    await own.proxy
  }
  const name = `${providerId}/${modelId}`
  const fingerprint = JSON.stringify(resolved)
  const before = own.built.get(name)
  if (before?.fingerprint === fingerprint) return before.model
  const model = loadModel(resolved)
  own.built.set(name, { fingerprint, model })
  own.resolved.set(name, resolved)
  return model
}

/** Ask all models of this instance through another process. */
export function useRemote(remote: Remote): void {
  state().remote = remote
}

/** The model that the other process chooses; undefined if this process asks models itself. */
export async function chooseRemote(
  wanted: Parameters<Remote["choose"]>[0],
): Promise<{ chosen: RemoteModel; model: LanguageModelV4 } | undefined> {
  const { remote, resolved } = state()
  if (!remote) return undefined
  const chosen = await remote.choose(wanted)
  const { providerId, modelId, facts, known, wire, quirks } = chosen
  const connection = {
    id: providerId,
    wire,
    baseURL: "",
    custom: false,
    headers: {},
    quirks,
    source: "none" as const,
  }
  resolved.set(`${providerId}/${modelId}`, { modelId, facts, known, connection })
  return { chosen, model: remote.open(chosen) }
}

/** Model servers that answer on this machine. */
export async function localServers(): Promise<LocalServer[]> {
  const { found } = state()
  const servers = await findLocalServers(localPlaces(await Config.get()))
  for (const { providerId, baseURL } of servers) found.set(providerId, baseURL)
  return servers
}

/** The models of those servers, with the facts that are known about them. */
export async function localModels(): Promise<Catalog.ModelFacts[]> {
  const servers = await localServers()
  return servers.flatMap(({ providerId, models }) =>
    models.map((modelId) => facts(providerId, modelId) ?? factsOf({ providerId, modelId })),
  )
}

/** Where the key of a provider comes from. */
export async function auth(providerId: string): Promise<Auth> {
  return authOf(providerId, settingsOf(await Config.get(), providerId))
}

/** Stores a key. Throws for an unknown provider. */
export async function login(providerId: string, key: string): Promise<void> {
  entryOf(providerId, settingsOf(await Config.get(), providerId))
  await AuthFile.login(providerId, key)
}

/** Read the models that the configuration declares, so that `models` and `facts` know them. */
export async function load(): Promise<void> {
  const config = await Config.get()
  const { declared } = state()
  declared.clear()
  for (const providerId of Object.keys(config.provider ?? {})) {
    const settings = settingsOf(config, providerId)
    for (const modelId of Object.keys(settings.models ?? {})) {
      const model = declaredModel({ modelId, settings })
      const added = providerId === Catalog.offlineModel.provider ? listAdded()[modelId] : undefined
      declared.set(
        `${providerId}/${modelId}`,
        added
          ? { ...factsOfAdded(modelId, added), ...definedFacts(model ?? {}) }
          : factsOf({ providerId, modelId, ...(model ? { declared: model } : {}) }),
      )
    }
  }
}

/** All models with their limits, prices and features. */
export function models(): Catalog.ModelFacts[] {
  const declared: State["declared"] = seen()?.declared ?? new Map()
  const added = Object.entries(listAdded()).map(([id, model]) => factsOfAdded(id, model))
  const others = [...Catalog.list(), Catalog.offlineModel, ...added].filter(
    ({ provider, id }) => !declared.has(`${provider}/${id}`),
  )
  return [...others, ...declared.values()]
}

/** The facts of one model. A model that is on no list is known after `getModel` accepted it. */
export function facts(providerId: string, modelId: string): Catalog.ModelFacts | undefined {
  const name = `${providerId}/${modelId}`
  const own = seen()
  const known = own?.resolved.get(name)?.facts ?? own?.declared.get(name) ?? Catalog.get(providerId, modelId)
  return (
    known ??
    (name === `${Catalog.offlineModel.provider}/${Catalog.offlineModel.id}`
      ? Catalog.offlineModel
      : undefined)
  )
}

export function list(): ProviderFacts[] {
  return Object.entries(providers).map(([id, { name, wire = "chat", baseURL, env, signIn }]) => ({
    id,
    name,
    wire,
    ...(baseURL ? { baseURL } : {}),
    env,
    canSignIn: signIn !== undefined,
  }))
}

/** The options of `doStream`, adapted to this provider and model. */
export function transform(request: Request): LanguageModelV4CallOptions {
  return transformRequest(request, targetOf(request.providerId, request.modelId))
}

/** What requests to a model depend on; without its address and keys. */
export function targetOf(providerId: string, modelId: string): Target {
  const resolved = seen()?.resolved.get(`${providerId}/${modelId}`)
  if (resolved) {
    const { connection, ...rest } = resolved
    return { ...rest, providerId, wire: connection.wire, quirks: connection.quirks }
  }
  const { wire = "chat", ...quirks } = entryOf(providerId, {})
  const known = Catalog.get(providerId, modelId) !== undefined
  return { providerId, modelId, facts: factsOf({ providerId, modelId }), known, wire, quirks }
}

/** The state of the current instance. Undefined outside of one, where facts can be requested, too. */
function seen(): State | undefined {
  return Instance.isProvided ? state() : undefined
}
