// Who does a piece of work: the caller's choice, the session's, the configuration's, or the default; and with which
// model, where the agent names one.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import * as Provider from "#ability/provider/provider.ts"
import * as Config from "#kernel/config/config.ts"

/** The first of the wishes that is one. A name that no agent has throws `Agent.NotFound`. */
export async function chooseAgent(...wishes: (string | undefined)[]): Promise<AgentDefinition> {
  await AgentRegistry.load()
  const wish = wishes.find(Boolean)
  return wish === undefined ? AgentRegistry.getDefault() : AgentRegistry.get(wish)
}

/** `provider/model`. A model named alone is looked for, first with the default provider. */
export async function modelOf({ model }: AgentDefinition): Promise<string | undefined> {
  if (model === undefined || model.includes("/")) return model
  const { provider } = await Config.get()
  await Provider.load()
  const found = Provider.models().filter(({ id }) => id === model)
  const { provider: providerId } =
    found.find((facts) => facts.provider === provider?.default) ?? found[0] ?? {}
  return providerId === undefined ? model : `${providerId}/${model}`
}
