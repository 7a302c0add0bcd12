// The browsers of an Instance, one for each session that uses one. They end with the session and with the Instance.
import { Instance } from "#kernel/instance.ts"
import type { BrowserSession } from "./browser-session.ts"

const ofSessions = Instance.state(
  () => new Map<string, BrowserSession>(),
  async (sessions) => {
    await Promise.all([...sessions.values()].map((session) => session.close()))
  },
)

export function get(sessionId: string): BrowserSession | undefined {
  return ofSessions().get(sessionId)
}

/** The session's browser; it starts with the first page. */
export async function create(sessionId: string): Promise<BrowserSession> {
  const { createBrowserSession } = await import("./browser-session.ts")
  const session = get(sessionId) ?? createBrowserSession(sessionId)
  ofSessions().set(sessionId, session)
  return session
}

export async function end(sessionId: string): Promise<void> {
  const session = get(sessionId)
  ofSessions().delete(sessionId)
  await session?.close()
}
