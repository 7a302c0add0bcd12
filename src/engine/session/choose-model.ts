// Which model answers: the caller's, the session's, the environment's, the configuration's.
import type { LanguageModelV4 } from "@ai-sdk/provider"
import * as Provider from "#ability/provider/provider.ts"
import * as Config from "#kernel/config/config.ts"
import * as Env from "#kernel/env.ts"
import { NamedError } from "#util/error.ts"

export type Chosen = {
  providerId: string
  modelId: string
  model: LanguageModelV4
  facts?: Provider.ModelFacts
}

export class NoModel extends NamedError {
  constructor() {
    super(
      "Session.NoModel",
      'No model is configured. Set VITAMIN_MODEL=provider/model, pass --model, or put "model" into vitamin.jsonc. "vitamin models" lists what there is.',
    )
  }
}

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

/** The first of the wishes that is one; then the environment and the configuration. */
export async function chooseModel(...wishes: (string | undefined)[]): Promise<Chosen> {
  const wish = wishes.find(Boolean) ?? Env.get("VITAMIN_MODEL") ?? (await Config.get()).model
  if (!wish) throw new NoModel()
  const slash = wish.indexOf("/")
  if (slash < 1 || slash === wish.length - 1) throw new InvalidModel(wish)
  const providerId = wish.slice(0, slash)
  const modelId = wish.slice(slash + 1)
  const model = await Provider.getModel(providerId, modelId)
  const facts = Provider.facts(providerId, modelId)
  return { providerId, modelId, model, ...(facts ? { facts } : {}) }
}
