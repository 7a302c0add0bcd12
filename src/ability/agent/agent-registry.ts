// Which agents there are: the built-in ones, those defined for every Instance, and those of the current one, where the
// person's own folder and the project's are read when agents are first needed.
import { resolve as resolvePath } from "node:path"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/log.ts"
import { statOf } from "#util/stat-of.ts"
import * as Agent from "./agent.ts"
import { builtinAgents, defaultAgent } from "./builtin-agents.ts"
import { type Ranked, rank } from "./rank.ts"
import type { Ignored } from "./read-agent-file.ts"
import { ownFolder, type Problem, scanAgents } from "./scan-agents.ts"

export { Invalid, NotFound } from "./agent.ts"
export { FolderNotFound } from "./scan-agents.ts"
export type { Ignored, Problem, Ranked }

/** What came of reading a folder; `registered` are ids. */
export type Scanned = { registered: string[]; problems: Problem[]; ignored: Ignored[] }
/** Who does it, and why; `ranked` are all that fit, best first. */
export type Resolution = {
  agent: Agent.AgentDefinition
  score: number
  reasons: string[]
  ranked: Ranked[]
}
/** `file` is where the agent was read from; one of an untrusted folder is `foreign`. */
type Entry = { agent: Agent.AgentDefinition; file?: string; foreign?: boolean }
type Known = { agents: Map<string, Entry>; loaded?: Promise<void> }

const defaults: Known = { agents: new Map(builtinAgents.map((agent) => [agent.id, { agent }])) }
const ofInstance = Instance.state<Known>(() => ({ agents: new Map(defaults.agents) }))

/** Add an agent to the current Instance, or outside one to those that every later Instance starts with. The last of an
 * id wins. */
export function register(definition: Agent.Input): Agent.AgentDefinition {
  const agent = Agent.parse(definition, { source: `agent ${JSON.stringify(definition?.id)}` })
  known().agents.set(agent.id, { agent })
  return agent
}

/** The agent of that id. A missing one throws `Agent.NotFound`. */
export function get(id: string): Agent.AgentDefinition {
  const agent = find(id)
  if (!agent) throw new Agent.NotFound(id, allIds())
  return agent
}

export function find(id: string): Agent.AgentDefinition | undefined {
  return known().agents.get(id)?.agent
}

/** The file that an agent was read from; undefined for one of code. */
export function fileOf(id: string): string | undefined {
  return known().agents.get(id)?.file
}

/** All agents, sorted by id. */
export function list(): Agent.AgentDefinition[] {
  return allIds().map(get)
}

export function byDomain(domain: string): Agent.AgentDefinition[] {
  return list().filter((agent) => agent.domain === domain)
}

export function byCapability(capability: string): Agent.AgentDefinition[] {
  return list().filter(({ capabilities }) => capabilities.includes(capability))
}

/** The agent that a request is for: by the configured rules, by its own words, else the default. */
export async function resolve(input: string): Promise<Resolution> {
  const { agent: settings } = await Config.get()
  const usual = await getDefault()
  const ranked = rank({ input, agents: list(), rules: settings?.rules ?? [], fallback: usual.id })
  const [best] = ranked
  if (best) return { agent: get(best.agent), score: best.score, reasons: best.reasons, ranked }
  return { agent: usual, score: 0, reasons: [`nothing fits, so the default: ${usual.id}`], ranked }
}

/** Who works where nobody is named. A configured name that no agent has is the project's own name for the usual one
 * (document 004), unless it looks misspelt. */
export async function getDefault(): Promise<Agent.AgentDefinition> {
  await load()
  const name = (await Config.get()).agent?.name ?? defaultAgent
  const agent = find(name)
  if (agent) return agent
  const missing = new Agent.NotFound(name, allIds())
  if ("nearest" in missing.data) throw missing
  Log.info("the configured agent is not defined, so the default works", { name, default: defaultAgent })
  return get(defaultAgent)
}

/** Read the person's own agents and the project's, once per Instance; what cannot be used is logged. */
export function load(): Promise<void> {
  const own = ofInstance()
  own.loaded ??= loadFolders().catch((error) => {
    // Tried again by the next caller.
    delete own.loaded
    throw error
  })
  return own.loaded
}

/** Register the agents of a folder's `.yaml`, `.md` and (where it is trusted) `.ts` files. */
export async function scanAndRegister(folder: string): Promise<Scanned> {
  if (!Instance.isProvided) return take(resolvePath(folder), undefined)
  // So that what is asked for here comes after what is there anyway.
  await load()
  return take(resolvePath(Instance.worktree, folder), Instance.worktree)
}

async function loadFolders(): Promise<void> {
  const { worktree } = Instance
  for (const folder of [ownFolder(), resolvePath(worktree, ".vitamin/agents")]) {
    if (!statOf(folder)?.isDirectory()) continue
    const { problems, ignored } = await take(folder, worktree)
    for (const { file, message } of problems)
      for (const line of message.split("\n")) Log.warn(`an agent is left out: ${line}`, { file })
    for (const { file, key, reason } of ignored) Log.warn(`${key} is ignored: ${reason}`, { file })
  }
}

async function take(folder: string, worktree: string | undefined): Promise<Scanned> {
  const { agents: target } = known()
  const { agents, problems, ignored, trusted } = await scanAgents(folder, worktree)
  const registered: string[] = []
  for (const { agent, file } of agents) {
    const before = target.get(agent.id)
    if (!trusted && before && !before.foreign) {
      const reason = 'an untrusted folder replaces no agent that is there already; "vitamin trust" trusts it'
      ignored.push({ file, key: `agent ${agent.id}`, reason })
      continue
    }
    target.set(agent.id, { agent, file, foreign: !trusted })
    registered.push(agent.id)
  }
  return { registered, problems, ignored }
}

function allIds(): string[] {
  return [...known().agents.keys()].sort()
}

function known(): Known {
  return Instance.isProvided ? ofInstance() : defaults
}
