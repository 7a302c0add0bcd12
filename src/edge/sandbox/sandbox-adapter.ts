// The adapter that puts an agent into a sandbox: its loop, tools, MCP servers and commands run in one isolated process; the
// records, keys, questions and grants stay outside.
import type { Status } from "#ability/sandbox/sandbox.ts"
import { createSandbox } from "#edge/sandbox/host/create-sandbox.ts"
import { defaultTimeout, type SandboxConfig } from "#edge/sandbox/host/policy-of.ts"
import type { AgentAdapter } from "#engine/host/agent-adapter.ts"
import type { Agent, AgentInput } from "#engine/host/create-agent.ts"
import * as Env from "#kernel/process/env.ts"
import * as Log from "#kernel/process/log.ts"

export type { SandboxConfig }

export type SandboxedAgent = Agent &
  Readonly<{
    /** Whether the agent is isolated, and how. `isolated` is false until the first guest has started. */
    sandboxStatus(): Status
    /** Starts the process of the first session, so that its prompt need not wait. Throws if the machine cannot isolate. */
    ready(): Promise<void>
    /** Ends its processes, those that run a prompt after it: another sandbox takes the next prompts. */
    retire(): Promise<void>
  }>

const unknown: Status = { isolated: false, missing: [] }

export const sandboxAdapter: AgentAdapter<SandboxConfig, SandboxedAgent> = Object.freeze({
  name: "sandbox",
  wrap(agent: Agent, config: SandboxConfig = {}): SandboxedAgent {
    if (config.enabled ?? Env.get("NODE_ENV") === "production") return putInside(agent, config)
    if (config.enabled === undefined)
      Log.warn('the agent runs without a sandbox: "enabled" is not set and NODE_ENV is not "production"')
    return around(agent, { sandboxStatus: () => unknown, ready: async () => {}, retire: async () => {} })
  },
})

function putInside(agent: Agent, config: SandboxConfig): SandboxedAgent {
  const timeout = config.limits?.timeout ?? defaultTimeout
  const sandbox = createSandbox(config, {
    directory: agent.directory,
    timeout,
  })
  return around(agent, {
    process: (input: AgentInput) => agent.process({ preset: "sandboxed", ...input, runner: sandbox.run }),
    async start() {
      await sandbox.ready()
      await agent.start()
    },
    ready: sandbox.ready,
    retire: sandbox.retire,
    async stop() {
      await agent.stop()
      await sandbox.stop()
    },
    sandboxStatus: () => sandbox.status() ?? unknown,
  })
}

type Changes = Partial<Pick<Agent, "process" | "start" | "stop">> &
  Pick<SandboxedAgent, "sandboxStatus" | "ready" | "retire">

/** The agent with other functions. Not a spread, which would read `mcp`: it is there only after `start`. */
function around(agent: Agent, { sandboxStatus, ready, retire, ...changes }: Changes): SandboxedAgent {
  const { directory, process, capabilities, start, stop } = { ...functionsOf(agent), ...changes }
  return Object.freeze({
    ...{ directory, process, capabilities, start, stop, sandboxStatus, ready, retire },
    get mcp() {
      return agent.mcp
    },
  })
}

function functionsOf({ directory, process, capabilities, start, stop }: Agent): Omit<Agent, "mcp"> {
  return { directory, process, capabilities, start, stop }
}
