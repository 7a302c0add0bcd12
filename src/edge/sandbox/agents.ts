// Where edges get the agent of a folder from: in a sandbox if the person asked for one, with --sandbox or in the
// configuration. The code of the sandbox is loaded only then.
import { keepElsewhere } from "#ability/mcp/elsewhere.ts"
import { type Agent, createAgent } from "#engine/host/create-agent.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { type SandboxConfig, settingsOf } from "./host/policy-of.ts"
import type { SandboxedAgent } from "./sandbox-adapter.ts"

/** `ready` resolves when the sandbox has started, and throws if the machine cannot isolate. */
type Opened = Agent & Partial<Pick<SandboxedAgent, "ready" | "retire">>

/** The agent of an instance, and the settings that it was made for. */
const known = Instance.state((): { settings?: string; agent?: Promise<Opened> } => ({}))

/** Returns the agent of the current instance. The same settings give the same agent; after a change of the configuration the
 * next prompt has a new sandbox. */
export function createAgents({ sandbox = false }: { sandbox?: boolean | undefined }) {
  return async (directory: string): Promise<Opened> => {
    const given = (await Config.get()).adapters?.sandbox
    const settings = JSON.stringify([sandbox, given])
    const own = known()
    if (!own.agent || own.settings !== settings) {
      // What runs with the old settings must not stay.
      void own.agent?.then(({ retire }) => retire?.()).catch(() => {})
      Object.assign(own, { settings, agent: open(directory, settingsOf(sandbox, given)) })
    }
    return own.agent!
  }
}

async function open(directory: string, config: SandboxConfig | undefined): Promise<Opened> {
  const agent = await createAgent({ directory })
  // No server of the folder may start outside, for example to list its prompts.
  keepElsewhere(config !== undefined)
  if (!config) return agent
  const { sandboxAdapter } = await import("./sandbox-adapter.ts")
  const sandboxed = sandboxAdapter.wrap(agent, config)
  // It starts beside the rest of the command. `ready` reports an error.
  sandboxed.ready().catch(() => {})
  return sandboxed
}
