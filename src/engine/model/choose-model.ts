// Chooses the model: of the caller, the session, the agent, the environment, the configuration, a model server on
// this machine, or the built-in model, which always works.
import type { LanguageModelV4 } from "@ai-sdk/provider"
import { z } from "zod"
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import * as Provider from "#ability/provider/provider.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Config from "#kernel/config/config.ts"
import * as Env from "#kernel/process/env.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"

export type Chosen = {
  providerId: string
  modelId: string
  model: LanguageModelV4
  facts?: Provider.ModelFacts
  /** Nobody named this model, so the next prompt chooses again. */
  isFallback: boolean
}

export const ModelChosen = Bus.define(
  "model.chosen",
  z.object({
    model: about("The model, as `provider/model`.", z.string()),
    text: about("Which one and why, for people.", z.string()),
  }),
  { when: "Nobody named a model, so one was chosen." },
)

export class InvalidModel extends NamedError {
  constructor(model: string) {
    super(
      "Session.InvalidModel",
      `Model "${model}" is not of the form provider/model, such as anthropic/claude-sonnet-4-5, and no provider has a model of that name.`,
      { model },
    )
  }
}

/** The model of the first name that is defined, as `namedModel` resolves it; else a local server's or the built-in one.
 * */
export async function chooseModel(
  agent: AgentDefinition | undefined,
  ...names: (string | undefined)[]
): Promise<Chosen> {
  const remote = await Provider.chooseRemote({ agent: agent?.id, names })
  if (remote) {
    const { providerId, modelId, facts, isFallback } = remote.chosen
    return { providerId, modelId, model: remote.model, facts, isFallback }
  }
  const named = await namedModel(agent, ...names)
  const [providerId, modelId] = splitName(named || (await fallback()))
  const model = await Provider.getModel(providerId, modelId)
  const facts = Provider.facts(providerId, modelId)
  return { providerId, modelId, model, ...(facts ? { facts } : {}), isFallback: !named }
}

/** Throws what `chooseModel` would throw for a named model: an unknown name, a missing key. */
export async function checkModel(...given: Parameters<typeof namedModel>): Promise<void> {
  const named = await namedModel(...given)
  if (named) await Provider.getModel(...splitName(named))
}

/** `provider/model` of the first name that is defined; else that of the agent, the environment or the configuration. */
export async function namedModel(
  agent: AgentDefinition | undefined,
  ...names: (string | undefined)[]
): Promise<string | undefined> {
  const own = agent?.model && (await familyModel(agent.model))
  const name = names.find(Boolean) || own || Env.get("VITAMIN_MODEL") || (await configured(agent))
  return name ? fullName(name) : undefined
}

/** `provider/model` for a model that may be named without its provider: searched with the default provider, then with
 * those that have a key. A default provider without a list of models may have a model of any name. */
async function fullName(model: string): Promise<string> {
  if (model.includes("/")) return model
  const usual = (await Config.get()).provider?.default
  await Provider.load()
  const models = Provider.models()
  const isListed = models.some(({ provider }) => provider === usual)
  const found = models.filter(({ id }) => id === model).map(({ provider }) => provider)
  const owner = usual && (!isListed || found.includes(usual)) ? usual : await usableOf(found)
  const providerId = owner ?? usual ?? (isOurs(model) ? "local" : undefined)
  if (providerId === undefined) throw new InvalidModel(model)
  return `${providerId}/${model}`
}

/** Agent files of Claude Code name a family of models. Returns the newest model of that family, or undefined without a
 * key for Anthropic. Other names stay as they are. */
export async function familyModel(model: string): Promise<string | undefined> {
  if (!/^(sonnet|opus|haiku)$/.test(model)) return model
  if ((await Provider.auth("anthropic")).source === "none") return undefined
  const pattern = new RegExp(`^claude-${model}-\\d{1,2}(-\\d{1,2})?$`)
  const ids = Provider.models().flatMap(({ provider, id, status }) =>
    provider === "anthropic" && status !== "deprecated" && pattern.test(id) ? [id] : [],
  )
  const [newest] = ids.sort((a, b) => b.localeCompare(a, "en", { numeric: true }))
  return newest && `anthropic/${newest}`
}

function splitName(model: string): [providerId: string, modelId: string] {
  const [, providerId, modelId] = /^([^/]+)\/(.+)$/s.exec(model) ?? []
  if (!providerId || !modelId) throw new InvalidModel(model)
  return [providerId, modelId]
}

/** `agent.model` is for the agent that `agent.name` chooses, `model` for all others. */
async function configured(agent: AgentDefinition | undefined): Promise<string | undefined> {
  const { agent: settings, model } = await Config.get()
  const isUsual = settings?.model && (!agent || agent.id === (await AgentRegistry.getDefault()).id)
  return (isUsual ? settings.model : undefined) || model
}

async function usableOf(providers: string[]): Promise<string | undefined> {
  for (const id of providers) if ((await Provider.auth(id)).source !== "none") return id
  return providers[0]
}

/** Whether a model belongs to the provider `local`. If its file was not added yet, the error says how to add it. */
function isOurs(model: string): boolean {
  return /^functiongemma/i.test(model)
}

async function fallback(): Promise<string> {
  const server = (await Provider.localServers()).find(({ model }) => model)
  const model = server ? `${server.providerId}/${server.model}` : "local/rules"
  const text = server
    ? `no model is configured: using ${model}, found at ${server.baseURL}; VITAMIN_MODEL or --model chooses another`
    : `no model is configured: using the built-in offline model local/rules; for a real one set VITAMIN_MODEL=provider/model and run ${ownCommand} auth login PROVIDER, or start Ollama`
  Bus.publish(ModelChosen, { model, text })
  return model
}
