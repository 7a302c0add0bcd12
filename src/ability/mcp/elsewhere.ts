// Whether the servers of an instance run in another process, in a sandbox. Then this process starts none of them.
import { Instance } from "#kernel/instance.ts"
import { NamedError } from "#util/error.ts"
import type { Added } from "./load-servers.ts"

const state = Instance.state(() => ({ isElsewhere: false, ofSessions: new Map<string, readonly Added[]>() }))

/** From now on, all servers of this instance run elsewhere, or here again. */
export function keepElsewhere(isElsewhere: boolean): void {
  state().isElsewhere = isElsewhere
}

export function isElsewhere(): boolean {
  return state().isElsewhere
}

/** The servers that a client added to a session, for the process that runs them. */
export function serversOf(sessionId: string): readonly Added[] {
  return state().ofSessions.get(sessionId) ?? []
}

export function keepServersOf(sessionId: string, servers: readonly Added[]): void {
  state().ofSessions.set(sessionId, servers)
}

export function refuseElsewhere(): void {
  if (!isElsewhere()) return
  throw new NamedError(
    "MCP.Elsewhere",
    "The MCP servers run in the sandbox with the agent; they cannot be reached from outside of it.",
  )
}
