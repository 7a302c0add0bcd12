// Wraps agents with the adapter of a file. The adapter gives either a server of its own, or agents that the command then
// serves, one for each folder.
import type { AgentAdapter, AgentSource } from "#engine/host/agent-adapter.ts"
import type { Agent, AgentConfig, Processing } from "#engine/host/create-agent.ts"
import * as Session from "#engine/session/session.ts"
import { realDirectory } from "#kernel/real-directory.ts"
import { errorText, NamedError } from "#util/error.ts"
import { waitAtMost } from "#util/wait.ts"
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

/** Milliseconds for `wrap`, and for `start` and `stop` of the wrapped agent. */
const wrapLimit = 10_000
const startLimit = 30_000
const stopLimit = 10_000

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
  agents.set(directory, started(adapter, first))
  await agents.get(directory)

  async function wrapNext(folder: string): Promise<Agent> {
    const wrapped = await wrapOne(adapter, await plain(folder), config)
    if (isAgent(wrapped)) return started(adapter, wrapped)
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
    const stopped = [...agents.values()].map((agent) => agent.then(({ stop }) => stop()).catch(() => {}))
    await waitAtMost(stopLimit, Promise.all(stopped))
  }

  return { agentFor, stop }
}

async function started(adapter: AgentAdapter, agent: Agent): Promise<Agent> {
  const missed = `has not started its agent within ${startLimit / 1000} s`
  await inTime(() => agent.start(), startLimit, new Failed(adapter, missed))
  return agent
}

async function wrapOne(adapter: AgentAdapter, agent: Agent, config: unknown): Promise<Agent | AdapterServer> {
  const missed = new Failed(adapter, `has not wrapped the agent within ${wrapLimit / 1000} s`)
  const wrapped = await inTime(async () => adapter.wrap(agent, config), wrapLimit, missed).catch((error) => {
    if (error === missed) throw error
    throw new Failed(adapter, `failed in wrap: ${errorText(error)}`, { cause: error })
  })
  const { process, start, stop } = (wrapped ?? {}) as Partial<Agent>
  if (typeof start !== "function" || typeof stop !== "function")
    throw new Failed(adapter, "gives neither an agent nor a server: wrap must return start() and stop()")
  return typeof process === "function" ? checked(adapter, wrapped as Agent) : (wrapped as AdapterServer)
}

async function inTime<T>(work: () => Promise<T>, limit: number, missed: Failed): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(missed), limit)
  try {
    return await Promise.race([work(), late])
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

/** Names the adapter in its own errors. Those of the wrapped agent have names and stay as they are. */
function checked(adapter: AgentAdapter, agent: Agent): Agent {
  const failed = (error: unknown) => {
    const isOwn = error instanceof Error && !(error instanceof NamedError)
    return isOwn ? new Failed(adapter, `failed: ${errorText(error)}`, { cause: error }) : error
  }
  const given = async <T>(work: () => Promise<T | undefined>, what: string): Promise<T> => {
    const result = await work().catch((error) => Promise.reject(failed(error)))
    if (result) return result
    throw new Failed(adapter, `is wrong: it gave no ${what}`)
  }
  return around(agent, (input) => {
    const processing = processingOf(adapter, () => agent.process(input), failed)
    const { sessionId } = input
    const until = <T>(work: () => Promise<T>) =>
      sessionId === undefined ? work() : Session.elsewhere(sessionId, work)
    return {
      answer: () => given(() => until(() => processing.answer()), "message"),
      accept: () => given(() => until(() => processing.accept()), "message"),
      [Symbol.asyncIterator]: () => processing[Symbol.asyncIterator](),
    }
  })
}

/** A generator function as `process` gives events, but no answer: that is said in words, not by a TypeError. */
function processingOf(
  adapter: AgentAdapter,
  process: () => Partial<Processing> | undefined,
  failed: (error: unknown) => unknown,
): Processing {
  let processing: Partial<Processing> | undefined
  try {
    processing = process()
  } catch (error) {
    throw failed(error)
  }
  if (typeof processing?.answer === "function" && typeof processing.accept === "function")
    return processing as Processing
  throw new Failed(adapter, "is wrong: process() must return what process() of the wrapped agent returns")
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
