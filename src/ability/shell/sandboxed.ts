// Commands of the model in a sandbox of their own (`bash.sandbox`): they write in the work tree and reach what
// `adapters.sandbox.security` allows.
import type { Policy } from "#ability/sandbox/sandbox.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { isGuest } from "#kernel/process/guest.ts"

/** Undefined if commands run without a sandbox. */
export async function commandPolicy(): Promise<Policy | undefined> {
  const { bash, adapters } = await Config.get()
  // In the sandbox of the whole agent, commands are in a sandbox already.
  if (!bash?.sandbox || isGuest()) return undefined
  const { security, limits } = adapters?.sandbox ?? {}
  const { allowWrite = [], denyRead = ["~/.ssh", "~/.aws", ".env"], allowedDomains = [] } = security ?? {}
  return {
    directory: Instance.directory,
    allowWrite: [Instance.worktree, ...allowWrite],
    ...{ denyRead, allowedDomains, processes: limits?.processes },
  }
}

/** For the end of a command: programs that end just after their shell, as in `> >(tee log)`, may finish. The first
 * process, the shell and perhaps the way to the proxy are always there. */
export function graceFor({ allowedDomains }: Policy): string {
  const always = allowedDomains.length ? 3 : 2
  const left = "[ended what the command left running; start such things with background: true]"
  return `for ((i = 0; i < 50; i++)); do set -- /proc/[0-9]*; (($# <= ${always})) && exit $code; sleep 0.01; done; echo "${left}" >&2`
}
