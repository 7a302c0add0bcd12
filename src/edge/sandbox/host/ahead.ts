// A guest that starts before the rest of its command is loaded. The sandbox that is made later takes it.
import { Instance } from "#kernel/instance.ts"
import type { Guest } from "./create-guest.ts"
import { startGuest } from "./guest-process.ts"
import { policyOf, type SandboxConfig } from "./policy-of.ts"

/** By policy. */
const started = Instance.state(
  () => new Map<string, Promise<Guest>>(),
  (all) => Promise.all(all.values().map(async (guest) => (await guest.catch(() => undefined))?.stop())),
)

/** Resolves when the process starts by itself. Its error is thrown to the sandbox that takes it. */
export async function startAhead(config: SandboxConfig, directory: string): Promise<void> {
  const { promise: spawned, resolve } = Promise.withResolvers<void>()
  const policy = policyOf(config, directory)
  const guest = startGuest(policy, resolve)
  guest.catch(() => resolve())
  started().set(JSON.stringify(policy), guest)
  await spawned
}

/** The guest that was started for such a sandbox, or a new one. */
export function takeGuest(config: SandboxConfig, directory: string): Promise<Guest> {
  const policy = policyOf(config, directory)
  const known = Instance.isProvided ? started() : undefined
  const name = JSON.stringify(policy)
  const guest = known?.get(name)
  known?.delete(name)
  return guest ?? startGuest(policy)
}
