// The registry of agents: the built-in ones, those defined in code, and those of the agent files of the person and the
// project. The files are read again after they have changed.
import { AsyncLocalStorage } from "node:async_hooks"
import { basename, extname, resolve as resolvePath } from "node:path"
import type { AgentSpec } from "#ability/agent/spec/agent-spec.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { installed, type Plugin } from "#kernel/plugin/plugins.ts"
import * as Log from "#kernel/process/log.ts"
import { agentFolders } from "#kernel/reviewed/places.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import type { RemoteAgent, Rule } from "#kernel/schema/schema.ts"
import * as Agent from "./agent.ts"
import { autoAgent, builtinAgents, defaultAgent } from "./builtin-agents.ts"
import type { Ranked } from "./rank.ts"
import type { Ignored } from "./read-agent-file.ts"
import {
  FolderNotFound,
  narrow,
  narrowingWithout,
  ownFolder,
  type Problem,
  reportIgnored,
  type Scan,
  type Scanned,
  scanAgents,
  stampOf,
  takeScan,
} from "./scan-agents.ts"
import { definitionToSpec } from "./specialists.ts"

export { Invalid, NotFound } from "./agent.ts"
export { autoAgent, plannerAgent } from "./builtin-agents.ts"
export type { Ignored, Problem, Ranked, Scanned }
export { FolderNotFound }

/** The chosen agent and the reasons; `ranked` are all matching agents, best first. */
export type Resolution = {
  agent: Agent.AgentDefinition
  score: number
  reasons: string[]
  ranked: Ranked[]
}
/** `file`: where the agent was read from. `foreign`: that file is not reviewed. `remote`: it works on another machine. */
type Entry = { agent: Agent.AgentDefinition; file?: string; foreign?: boolean; remote?: RemoteAgent }
type Entries = Map<string, Entry>
/** The agents of the folders. `unusable`: agents whose file cannot be used, by id. No other agent replaces them. */
type Files = { stamp: string; agents: Entries; unusable: Map<string, Problem> }
/** Agents defined in code before the folders were first read, agents of the folders, and agents defined in code since.
 * Of equal ids the last wins. `said`: warnings that were logged. */
type Known = {
  /** Those of the configuration. They replace no other agent. */
  remote: Entries
  before: Entries
  files?: Files
  since: Entries
  loading?: Promise<void>
  said: Set<string>
}

const defaults: Entries = new Map(builtinAgents.map((agent) => [agent.id, { agent }]))
const ofInstance = Instance.state<Known>(() => ({
  remote: new Map(),
  before: new Map(defaults),
  since: new Map(),
  said: new Set(),
}))
/** Collects the agents that a file registers while it is imported. */
const reading = new AsyncLocalStorage<Entries>()

/** Adds an agent to the current Instance; outside of one, to every Instance that is created later. It replaces an agent
 * of the same id. */
export function register(definition: Agent.Input): Agent.AgentDefinition {
  const agent = Agent.parse(definition, { source: `agent ${JSON.stringify(definition?.id)}` })
  target().set(agent.id, { agent })
  return agent
}

/** Throws `Agent.NotFound`, or `Agent.Invalid` if the file of the agent cannot be used. */
export function get(id: string): Agent.AgentDefinition {
  const agent = find(id)
  if (agent) return agent
  const problem = problemWith(id)
  if (problem) throw new Agent.Invalid([{ source: problem.file, path: "", message: problem.message }])
  throw new Agent.NotFound(id, allIds())
}

export function find(id: string): Agent.AgentDefinition | undefined {
  return all().get(id)?.agent
}

/** The settings of a remote agent; undefined for an agent that works here. */
export function remoteOf(id: string): (RemoteAgent & { name: string }) | undefined {
  const remote = all().get(id)?.remote
  return remote && { ...remote, name: id }
}

/** The file that an agent was read from; undefined if it was defined in code. */
export function fileOf(id: string): string | undefined {
  return all().get(id)?.file
}

/** All agents, sorted by id. */
export function list(): Agent.AgentDefinition[] {
  const found = all()
  return [...found.keys()].sort().map((id) => found.get(id)!.agent)
}

/** The agents that are specialists, the built-in ones first and in their order. A file that is not reviewed must not take
 * tools from them, or be chosen by itself. */
export function specs(): AgentSpec[] {
  return [...all().values()].flatMap(({ agent, foreign }) => (foreign ? [] : (definitionToSpec(agent) ?? [])))
}

export function byDomain(domain: string): Agent.AgentDefinition[] {
  return list().filter((agent) => agent.domain === domain)
}

export function byCapability(capability: string): Agent.AgentDefinition[] {
  return list().filter(({ capabilities }) => capabilities.includes(capability))
}

/** Chooses the agent for a request: by the configured rules, by the words of the request, else the default. Agents that
 * are not usable, remote ones, and those of files that are not reviewed, are left out. */
export async function resolve(
  input: string,
  isUsable: (agent: Agent.AgentDefinition) => boolean = () => true,
): Promise<Resolution> {
  const { agent: settings } = await Config.get()
  const named = await getDefault()
  const usual = named.id === autoAgent ? get(defaultAgent) : named
  const found = all()
  const isOpen = ({ id }: Agent.AgentDefinition) => !found.get(id)?.foreign && !found.get(id)?.remote
  const agents = list().filter((agent) => agent.id !== autoAgent && isOpen(agent) && isUsable(agent))
  const { rank } = await import("./rank.ts")
  const ranked = rank({ input, agents, rules: settings?.rules ?? [], fallback: usual.id })
  const [best] = ranked
  if (best) return { agent: get(best.agent), score: best.score, reasons: best.reasons, ranked }
  return { agent: usual, score: 0, reasons: [`no agent fits; the default is ${usual.id}`], ranked }
}

/** The default agent. If no agent has the configured name, the built-in one is used: a project may give it a name of
 * its own. A name that looks misspelt throws `NotFound`. */
export async function getDefault(): Promise<Agent.AgentDefinition> {
  await load()
  const name = (await Config.get()).agent?.name ?? defaultAgent
  if (find(name) || problemWith(name)) return get(name)
  const missing = new Agent.NotFound(name, allIds())
  if ("nearest" in missing.data) throw missing
  Log.info("the configured agent is not defined, so the default is used", { name, default: defaultAgent })
  return get(defaultAgent)
}

/** Reads the agent files of the person and the project if they have changed. Files that cannot be used are logged. */
export async function load(): Promise<void> {
  const own = ofInstance()
  const [reviewed, ...stamps] = await Promise.all([
    Reviewed.of(Instance.worktree),
    ...places().map(({ folder }) => stampOf(folder)),
  ])
  const stamp = [reviewed.stamp, ...places().map(({ folder }) => folder), ...stamps].join("\n")
  if (own.files?.stamp !== stamp) await reload(own, stamp, reviewed)
  const { a2a } = await Config.get()
  own.remote = a2a
    ? (await import("./remote-agents.ts")).remoteAgents(a2a, localAgents(own), own.said)
    : new Map()
}

async function reload(own: Known, stamp: string, reviewed: Reviewed.Reviewed): Promise<void> {
  own.loading ??= loadFolders(own, stamp, reviewed).finally(() => delete own.loading)
  await own.loading
}

/** Registers the agents of a folder: `.yaml` and `.md` files, and `.ts` files that are reviewed. */
export async function scanAndRegister(folder: string): Promise<Scanned> {
  if (!Instance.isProvided)
    return takeScan(await scanAgents(resolvePath(folder), undefined), defaults, defaults)
  // The usual folders first, so that the agents of this folder replace theirs.
  await load()
  const scan = await scanAgents(resolvePath(Instance.worktree, folder), Instance.worktree)
  return takeScan(scan, ofInstance().since, all())
}

async function loadFolders(own: Known, stamp: string, reviewed: Reviewed.Reviewed): Promise<void> {
  const files: Files = { stamp, agents: new Map(), unusable: new Map() }
  const { worktree } = Instance
  const kept: Record<string, Rule[]>[] = []
  const found = { trusted: [] as Ignored[], untrusted: [] as Ignored[] }
  for (const { folder, plugin } of places()) {
    const read = () => scanAgents(folder, plugin ? undefined : worktree, plugin?.reviewed ?? reviewed)
    const scanned = await reading.run(files.agents, read).catch(orNothing)
    const scan = plugin && scanned ? ofPlugin(plugin.name, scanned) : scanned
    kept.push(...(scan?.narrowing ?? narrowingWithout(folder, reviewed)))
    if (!scan) continue
    const present = new Map([...own.before, ...files.agents])
    const { problems, ignored, registered } = takeScan(scan, files.agents, present)
    for (const id of registered) files.unusable.delete(id)
    for (const problem of problems) leaveOut(problem, files, scan)
    found[scan.trusted ? "trusted" : "untrusted"].push(...ignored)
  }
  reportIgnored(found, own.said)
  for (const rules of kept) narrow(rules, files.agents, own.before)
  own.files = files
}

function orNothing(error: unknown): undefined {
  if (!(error instanceof FolderNotFound)) throw error
}

/** An agent whose file cannot be used must not be replaced by another one of that name with other rights. */
function leaveOut(problem: Problem, { unusable }: Files, { agents, trusted }: Scan): void {
  const { file, message } = problem
  for (const line of message.split("\n")) Log.warn(`an agent is left out: ${line}`, { file })
  const id = basename(file, extname(file))
  if (trusted && !agents.some(({ agent }) => agent.id === id)) unusable.set(id, problem)
}

function problemWith(id: string): Problem | undefined {
  return Instance.isProvided ? ofInstance().files?.unusable.get(id) : undefined
}

function places(): { folder: string; plugin?: Plugin }[] {
  const own = [ownFolder(), ...agentFolders.map((folder) => resolvePath(Instance.worktree, folder))]
  const plugins = installed().flatMap((plugin) =>
    plugin.parts.agents.map((path) => ({ folder: resolvePath(plugin.root, path), plugin })),
  )
  return [...own.map((folder) => ({ folder })), ...plugins]
}

/** The agents of a plugin are called `plugin:id`. One that is not as it was installed is not used. */
function ofPlugin(name: string, scan: Scan): Scan {
  const agents = scan.agents.flatMap((one) =>
    one.isTrusted ? [{ ...one, agent: Object.freeze({ ...one.agent, id: `${name}:${one.agent.id}` }) }] : [],
  )
  return { ...scan, agents }
}

function allIds(): string[] {
  return [...all().keys()].sort()
}

function all(): Entries {
  if (!Instance.isProvided) return defaults
  const own = ofInstance()
  return new Map([...own.remote, ...localAgents(own)])
}

function localAgents({ before, files, since }: Known): Entries {
  const found = new Map([...before, ...(files?.agents ?? [])])
  for (const id of files?.unusable.keys() ?? []) found.delete(id)
  for (const [id, entry] of since) found.set(id, entry)
  return found
}

function target(): Entries {
  if (!Instance.isProvided) return defaults
  const { before, files, since } = ofInstance()
  return reading.getStore() ?? (files ? since : before)
}
