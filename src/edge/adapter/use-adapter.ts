// Wraps agents with the adapter of a file. The adapter gives either a server of its own, or agents that the command then
// serves, one for each folder.
import type { AgentAdapter, AgentSource } from "#engine/host/agent-adapter.ts"
import type { Agent, AgentConfig, Processing } from "#engine/host/create-agent.ts"
import { realDirectory } from "#kernel/real-directory.ts"
import { errorText, NamedError } from "#util/error.ts"
import { loadAdapter } from "./load-adapter.ts"

/** What an adapter gives that serves the agent itself. */
export type AdapterServer = {
  start(): Promise<unknown>
  stop(): Promise<unknown>
  /** Where clients connect, known after `start`. */
  url?: string | undefined
  /** Resolves when it has nothing more to serve. */
  ended?: Promise<unknown> | undefined
}
type Settings = Omit<AgentConfig, "directory">
export type WrappedAgents = { agentFor: AgentSource; stop(): Promise<void> }

const timeLimit = 10_000

class Failed extends NamedError {
  constructor({ name }: AgentAdapter, reason: string, options?: ErrorOptions) {
    super("Adapter.Failed", `The adapter ${JSON.stringify(name)} ${reason}`, { adapter: name }, options)
  }
}

/** The agent of `directory` is wrapped at once, so that a mistake stops the command. `config` is given to `wrap`, with an
 * agent of `agents`, whose prompts have these settings unless they have their own. */
export async function useAdapter(
  path: string,
  options: {
    directory: string
    trust?: boolean | undefined
    config: unknown
    agents: AgentSource
    settings?: Settings
  },
): Promise<{ server: AdapterServer } | WrappedAgents> {
  const { config, settings = {} } = options
  const directory = realDirectory(options.directory)
  const adapter = await loadAdapter(path, options)
  const plain = async (folder: string) => withSettings(await options.agents(folder), settings)
  const agents = new Map<string, Promise<Agent>>()
  const first = await wrapOne(adapter, await plain(directory), config)
  if (!isAgent(first)) return { server: first }
  agents.set(directory, started(first))
  await agents.get(directory)

  async function wrapNext(folder: string): Promise<Agent> {
    const wrapped = await wrapOne(adapter, await plain(folder), config)
    if (isAgent(wrapped)) return started(wrapped)
    throw new Failed(adapter, `gives an agent for ${directory}, but a server for ${folder}`)
  }

  async function agentFor(given: string): Promise<Agent> {
    const folder = realDirectory(given)
    const known = agents.get(folder)
    if (known) return known
    const next = wrapNext(folder)
    agents.set(folder, next)
    next.catch(() => agents.delete(folder))
    return next
  }

  async function stop(): Promise<void> {
    await Promise.all([...agents.values()].map((agent) => agent.then(({ stop }) => stop()).catch(() => {})))
  }

  return { agentFor, stop }
}

async function started(agent: Agent): Promise<Agent> {
  await agent.start()
  return agent
}

async function wrapOne(adapter: AgentAdapter, agent: Agent, config: unknown): Promise<Agent | AdapterServer> {
  const wrapped = await inTime(adapter, async () => adapter.wrap(agent, config))
  const { process, start, stop } = (wrapped ?? {}) as Partial<Agent>
  if (typeof start !== "function" || typeof stop !== "function")
    throw new Failed(adapter, "gives neither an agent nor a server: wrap must return start() and stop()")
  return typeof process === "function" ? checked(adapter, wrapped as Agent) : (wrapped as AdapterServer)
}

async function inTime<T>(adapter: AgentAdapter, wrap: () => Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const limit = `has not wrapped the agent within ${timeLimit / 1000} s`
  const timer = setTimeout(() => reject(new Failed(adapter, limit)), timeLimit)
  try {
    return await Promise.race([wrap(), late])
  } catch (error) {
    if (error instanceof Failed) throw error
    throw new Failed(adapter, `failed in wrap: ${errorText(error)}`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

function isAgent(wrapped: Agent | AdapterServer): wrapped is Agent {
  return "process" in wrapped
}

function withSettings(agent: Agent, settings: Settings): Agent {
  return around(agent, (input) => agent.process({ ...settings, ...input }))
}

/** A generator function as `process` gives events, but no answer: that is said in words, not by a TypeError. */
function checked(adapter: AgentAdapter, agent: Agent): Agent {
  return around(agent, (input) => {
    const processing: Partial<Processing> = agent.process(input)
    if (typeof processing?.answer === "function" && typeof processing.accept === "function")
      return processing as Processing
    throw new Failed(adapter, "is wrong: process() must return what process() of the wrapped agent returns")
  })
}

/** Not a spread, which would read `mcp`: it is there only after `start`. */
function around(agent: Agent, process: Agent["process"]): Agent {
  return {
    directory: agent.directory,
    process,
    capabilities: () => agent.capabilities(),
    get mcp() {
      return agent.mcp
    },
    start: () => agent.start(),
    stop: () => agent.stop(),
  }
}
