// The options that a client can set for a session: mode, model (among the usable ones) and agent.
import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import * as Provider from "#ability/provider/provider.ts"
import { InvalidParams } from "#edge/acp/wire/errors.ts"
import { namedModel } from "#engine/model/choose-model.ts"
import * as Session from "#engine/session/session.ts"
import { checkAnswerer, setAnswerer } from "#engine/session/settings.ts"
import * as Config from "#kernel/config/config.ts"

/** One option with its new value. */
export type OptionChange = { mode?: Session.Info["mode"]; model?: string; agent?: string }
type Choices = { value: string; name: string; description?: string }[]
export type SessionOptions = { modes: SessionModeState; configOptions: SessionConfigOption[] }

const modes = [
  { id: "act", name: "Act", description: "Reads, writes and runs, and asks where the rules say so." },
  { id: "plan", name: "Plan", description: "Reads and plans; nothing is changed." },
]
const builtin = "local/rules"
const maxModels = 500

/** The options of a session with their current values. Must be called inside the instance of its folder. */
export async function sessionOptions(session: Session.Info): Promise<SessionOptions> {
  const { mode, agent } = session
  const agents = await listAgents(agent)
  const models = await listModels(session)
  return {
    modes: { currentModeId: mode, availableModes: modes },
    configOptions: [
      select({ id: "mode", name: "Mode", category: "mode" }, mode, [
        ...modes.map(({ id, ...rest }) => ({ value: id, ...rest })),
      ]),
      select({ id: "model", name: "Model", category: "model" }, models.current, models.choices),
      ...(agents.length > 1 ? [select({ id: "agent", name: "Agent" }, agent, agents)] : []),
    ],
  }
}

/** Throws for unknown options and modes. Models and agents are checked by `checkOption`. */
export function parseOption(configId: string, value: unknown): OptionChange {
  if (configId === "mode") {
    if (value === "act" || value === "plan") return { mode: value }
    throw new InvalidParams(`Mode ${JSON.stringify(value)} does not exist. Available: act, plan`)
  }
  if (configId !== "model" && configId !== "agent")
    throw new InvalidParams(
      `Option ${JSON.stringify(configId.slice(0, 100))} does not exist. Available: mode, model, agent`,
    )
  if (typeof value !== "string")
    throw new InvalidParams(`Option ${JSON.stringify(configId)} takes a string: the id of a value.`)
  return { [configId]: value }
}

export async function checkOption({ mode: _, ...answerer }: OptionChange): Promise<void> {
  await checkAnswerer(answerer)
}

/** Takes effect with the next prompt. Throws `Session.Busy` for a mode if another process works in the session. */
export async function storeOption(sessionId: string, { mode, ...answerer }: OptionChange): Promise<void> {
  if (mode !== undefined) await Session.setMode(sessionId, mode)
  else await setAnswerer(sessionId, answerer)
}

function select(
  head: { id: string; name: string; category?: string },
  currentValue: string,
  options: Choices,
): SessionConfigOption {
  return { ...head, type: "select", currentValue, options }
}

async function listAgents(current: string): Promise<Choices> {
  await AgentRegistry.load()
  return AgentRegistry.list()
    .filter(({ id, mode }) => mode === "primary" || id === current)
    .map(({ id, name, metadata }) => ({
      value: id,
      name,
      ...(metadata.description ? { description: metadata.description } : {}),
    }))
}

/** Models whose provider has a key or a local server, declared models, and always the current model. */
async function listModels(session: Session.Info): Promise<{ current: string; choices: Choices }> {
  await Provider.load()
  const { provider: settings = {} } = await Config.get()
  const servers = await Provider.localServers()
  const usable = new Set(["local"])
  for (const { id } of Provider.list()) if ((await Provider.auth(id)).source !== "none") usable.add(id)
  const names = new Map<string, string>()
  for (const { provider, id, name, tools, status } of Provider.models())
    if ((usable.has(provider) && tools && status !== "deprecated") || isDeclared(settings, provider, id))
      names.set(`${provider}/${id}`, name)
  for (const { providerId, models } of servers) for (const id of models) names.set(`${providerId}/${id}`, id)
  const found = servers.find(({ model }) => model)
  const fallback = found ? `${found.providerId}/${found.model}` : builtin
  const current = (await namedModel(AgentRegistry.find(session.agent), session.model)) ?? fallback
  const choices = [...names].slice(0, maxModels).map(([value, name]) => ({ value, name, description: value }))
  if (choices.some(({ value }) => value === current)) return { current, choices }
  return { current, choices: [{ value: current, name: current, description: current }, ...choices] }
}

function isDeclared(settings: Record<string, unknown>, provider: string, id: string): boolean {
  const { models } = (settings[provider] ?? {}) as { models?: Record<string, unknown> }
  return models !== undefined && Object.hasOwn(models, id)
}
