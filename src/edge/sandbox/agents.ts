// Where edges get the agent of a folder from: in a sandbox if the person asked for one, with --sandbox or in the
// configuration. The code of the sandbox is loaded only then.
import { keepElsewhere } from "#ability/mcp/elsewhere.ts"
import { type Agent, createAgent } from "#engine/host/create-agent.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import type { SandboxedAgent } from "./sandbox-adapter.ts"

/** `ready` resolves when the sandbox has started, and throws if the machine cannot isolate. */
type Opened = Agent & Partial<Pick<SandboxedAgent, "ready">>
type Settings = NonNullable<NonNullable<Config.Info["adapters"]>["sandbox"]>

/** The agent of an instance, and the settings that it was made for. */
const known = Instance.state((): { settings?: string; agent?: Promise<Opened> } => ({}))

/** Returns the agent of the current instance. The same settings give the same agent; after a change of the configuration the
 * next prompt has a new sandbox. */
export function createAgents({ sandbox = false }: { sandbox?: boolean | undefined }) {
  return async (directory: string): Promise<Opened> => {
    const given = (await Config.get()).adapters?.sandbox
    const settings = JSON.stringify([sandbox, given])
    const own = known()
    if (!own.agent || own.settings !== settings)
      Object.assign(own, { settings, agent: open(directory, { isAsked: sandbox, given }) })
    return own.agent!
  }
}

async function open(
  directory: string,
  { isAsked, given }: { isAsked: boolean; given: Settings | undefined },
): Promise<Opened> {
  const agent = await createAgent({ directory })
  const isInside = isAsked || given?.enabled === true
  // No server of the folder may start outside, for example to list its prompts.
  keepElsewhere(isInside)
  if (!isInside) return agent
  const { sandboxAdapter } = await import("./sandbox-adapter.ts")
  // --sandbox alone is for work in this folder; a configuration says itself what may be written.
  const security = given?.security ?? (isAsked ? { allowWrite: ["."] } : undefined)
  const sandboxed = sandboxAdapter.wrap(agent, { enabled: true, security, limits: given?.limits })
  // It starts beside the rest of the command. `ready` reports an error.
  sandboxed.ready().catch(() => {})
  return sandboxed
}
