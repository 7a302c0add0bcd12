// The adapter that puts an agent into a sandbox: its loop, tools, MCP servers and commands run in one isolated process; the
// records, keys, questions and grants stay outside.
import type { Policy, Status } from "#ability/sandbox/sandbox.ts"
import { createSandbox } from "#edge/sandbox/host/create-sandbox.ts"
import type { AgentAdapter } from "#engine/host/agent-adapter.ts"
import type { Agent, AgentInput } from "#engine/host/create-agent.ts"
import * as Env from "#kernel/process/env.ts"
import * as Log from "#kernel/process/log.ts"

export type SandboxConfig = {
  /** Default: only if NODE_ENV is "production". */
  enabled?: boolean | undefined
  security?:
    | {
        /** Folders that may be written, from the work tree. Default: `./output`. */
        allowWrite?: string[] | undefined
        /** Paths that cannot be read. Default: `~/.ssh`, `~/.aws`, `.env`. */
        denyRead?: string[] | undefined
        /** Hosts that may be reached without a question. Default: none. */
        allowedDomains?: string[] | undefined
      }
    | undefined
  limits?:
    | {
        /** Bytes; default: 512 MB. */
        memory?: number | undefined
        /** Milliseconds of one prompt; default: 300,000. `timeout` of the prompt comes before it. */
        timeout?: number | undefined
      }
    | undefined
}

export type SandboxedAgent = Agent &
  Readonly<{
    /** Whether the agent is isolated, and how. `isolated` is false until the first guest has started. */
    sandboxStatus(): Status
    /** Starts the process of the first session, so that its prompt need not wait. Throws if the machine cannot isolate. */
    ready(): Promise<void>
  }>

const megabyte = 1 << 20
const defaults = {
  allowWrite: ["./output"],
  denyRead: ["~/.ssh", "~/.aws", ".env"],
  memory: 512 * megabyte,
  /** With their threads. Enough for builds and tests, and far less than what stops a machine. */
  processes: 2_000,
  timeout: 300_000,
}
const unknown: Status = { isolated: false, missing: [] }

export const sandboxAdapter: AgentAdapter<SandboxConfig, SandboxedAgent> = Object.freeze({
  name: "sandbox",
  wrap(agent: Agent, config: SandboxConfig = {}): SandboxedAgent {
    if (config.enabled ?? Env.get("NODE_ENV") === "production") return putInside(agent, config)
    if (config.enabled === undefined)
      Log.warn('the agent runs without a sandbox: "enabled" is not set and NODE_ENV is not "production"')
    return around(agent, { sandboxStatus: () => unknown, ready: async () => {} })
  },
})

function putInside(agent: Agent, config: SandboxConfig): SandboxedAgent {
  const timeout = config.limits?.timeout ?? defaults.timeout
  const sandbox = createSandbox((worktree) => policyOf(config, worktree), {
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
    async stop() {
      await agent.stop()
      await sandbox.stop()
    },
    sandboxStatus: () => sandbox.status() ?? unknown,
  })
}

function policyOf({ security = {}, limits = {} }: SandboxConfig, worktree: string): Policy {
  const { allowWrite = defaults.allowWrite, denyRead = defaults.denyRead, allowedDomains = [] } = security
  const memory = Math.floor((limits.memory ?? defaults.memory) / megabyte)
  return { directory: worktree, allowWrite, denyRead, allowedDomains, memory, processes: defaults.processes }
}

type Changes = Partial<Pick<Agent, "process" | "start" | "stop">> &
  Pick<SandboxedAgent, "sandboxStatus" | "ready">

/** The agent with other functions. Not a spread, which would read `mcp`: it is there only after `start`. */
function around(agent: Agent, { sandboxStatus, ready, ...changes }: Changes): SandboxedAgent {
  const { directory, process, capabilities, start, stop } = { ...functionsOf(agent), ...changes }
  return Object.freeze({
    ...{ directory, process, capabilities, start, stop, sandboxStatus, ready },
    get mcp() {
      return agent.mcp
    },
  })
}

function functionsOf({ directory, process, capabilities, start, stop }: Agent): Omit<Agent, "mcp"> {
  return { directory, process, capabilities, start, stop }
}
