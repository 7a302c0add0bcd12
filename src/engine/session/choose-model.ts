// Which model answers: the caller's, the session's, the environment's, the configuration's, that of a server on this
// machine, or the built-in one, which always can.
import type { LanguageModelV4 } from "@ai-sdk/provider"
import { z } from "zod"
import * as Provider from "#ability/provider/provider.ts"
import * as Bus from "#kernel/bus.ts"
import * as Config from "#kernel/config/config.ts"
import * as Env from "#kernel/env.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"

export type Chosen = {
  providerId: string
  modelId: string
  model: LanguageModelV4
  facts?: Provider.ModelFacts
  /** Nobody asked for it: the next prompt chooses again. */
  isFallback: boolean
}

export const ModelChosen = Bus.define(
  "model.chosen",
  z.object({
    model: about("The model, as `provider/model`.", z.string()),
    text: about("Which one and why, for people.", z.string()),
  }),
  { when: "Nobody named a model, and one was taken." },
)

export class InvalidModel extends NamedError {
  constructor(model: string) {
    super(
      "Session.InvalidModel",
      `Model "${model}" is not of the form provider/model, such as anthropic/claude-sonnet-4-5.`,
      {
        model,
      },
    )
  }
}

/** The first of the wishes that is one; then the environment and the configuration; then what is there anyway. */
export async function chooseModel(...wishes: (string | undefined)[]): Promise<Chosen> {
  const named = wishes.find(Boolean) || Env.get("VITAMIN_MODEL") || (await Config.get()).model
  const wish = named || (await fallback())
  const slash = wish.indexOf("/")
  if (slash < 1 || slash === wish.length - 1) throw new InvalidModel(wish)
  const providerId = wish.slice(0, slash)
  const modelId = wish.slice(slash + 1)
  const model = await Provider.getModel(providerId, modelId)
  const facts = Provider.facts(providerId, modelId)
  return { providerId, modelId, model, ...(facts ? { facts } : {}), isFallback: !named }
}

async function fallback(): Promise<string> {
  const server = (await Provider.localServers()).find(({ model }) => model)
  const model = server ? `${server.providerId}/${server.model}` : "local/rules"
  const text = server
    ? `no model is configured: using ${model}, found at ${server.baseURL}; VITAMIN_MODEL or --model chooses another`
    : "no model is configured: using the built-in offline model local/rules; for a real one set VITAMIN_MODEL=provider/model and run vitamin auth login, or start Ollama"
  Bus.publish(ModelChosen, { model, text })
  return model
}
