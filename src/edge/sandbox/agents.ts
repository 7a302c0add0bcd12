// Where commands get the agent of a folder from: in a sandbox if the person asked for one, with --sandbox or in the
// configuration. The code of the sandbox is loaded only then.
import { keepElsewhere } from "#ability/mcp/elsewhere.ts"
import { type Agent, createAgent } from "#engine/host/create-agent.ts"
import * as Config from "#kernel/config/config.ts"
import type { SandboxedAgent } from "./sandbox-adapter.ts"

/** `ready` resolves when the sandbox has started, and throws if the machine cannot isolate. */
type Opened = Agent & Partial<Pick<SandboxedAgent, "ready">>

/** Must be called inside the instance of the folder. The same folder has the same agent. */
export function createAgents({ sandbox = false }: { sandbox?: boolean | undefined }) {
  const known = new Map<string, Promise<Opened>>()
  return (directory: string): Promise<Opened> => {
    const agent = known.get(directory) ?? open(directory, sandbox)
    known.set(directory, agent)
    return agent
  }
}

async function open(directory: string, isAsked: boolean): Promise<Opened> {
  const agent = await createAgent({ directory })
  const { enabled = false, security, limits } = (await Config.get()).adapters?.sandbox ?? {}
  if (!isAsked && !enabled) return agent
  const { sandboxAdapter } = await import("./sandbox-adapter.ts")
  // --sandbox alone is for work in this folder; a configuration says itself what may be written.
  const own = security ?? (isAsked ? { allowWrite: ["."] } : undefined)
  // No server of the folder may start outside, for example to list its prompts.
  keepElsewhere()
  const sandboxed = sandboxAdapter.wrap(agent, { enabled: true, security: own, limits })
  // It starts beside the rest of the command. `ready` reports an error.
  sandboxed.ready().catch(() => {})
  return sandboxed
}
