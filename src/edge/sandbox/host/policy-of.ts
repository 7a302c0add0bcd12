// What a sandbox around an agent lets through, from the settings of a person or a program.
import { realpathSync } from "node:fs"
import type { Policy } from "#ability/sandbox/sandbox.ts"
import type * as Config from "#kernel/config/config.ts"
import * as Vcs from "#kernel/vcs.ts"

type Settings = NonNullable<NonNullable<Config.Info["adapters"]>["sandbox"]>

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
        /** With threads; default: 2,000. */
        processes?: number | undefined
        /** Milliseconds of one prompt; default: 300,000. `timeout` of the prompt comes before it. */
        timeout?: number | undefined
      }
    | undefined
}

const megabyte = 1 << 20
const defaults = {
  allowWrite: ["./output"],
  denyRead: ["~/.ssh", "~/.aws", ".env"],
  memory: 512 * megabyte,
}
export const defaultTimeout = 300_000

/** The settings of a command: undefined if it works without a sandbox. --sandbox alone is for work in this folder; a
 * configuration says itself what may be written. */
export function settingsOf(isAsked: boolean, given: Settings | undefined): SandboxConfig | undefined {
  if (!isAsked && given?.enabled !== true) return undefined
  const security = given?.security ?? (isAsked ? { allowWrite: ["."] } : undefined)
  return { enabled: true, security, limits: given?.limits }
}

export function policyOf({ security = {}, limits = {} }: SandboxConfig, directory: string): Policy {
  const folder = realpathSync.native(directory)
  const { allowWrite = defaults.allowWrite, denyRead = defaults.denyRead, allowedDomains = [] } = security
  const memory = Math.floor((limits.memory ?? defaults.memory) / megabyte)
  return {
    directory: Vcs.find(folder)?.worktree ?? folder,
    ...{ allowWrite, denyRead, allowedDomains, memory, processes: limits.processes },
  }
}
