// The browsers of an Instance: a page for each session that uses one, all in one Chromium. It starts with the first page and ends
// with the last one. The pages end with their session and with the Instance.
import type { Checked } from "#ability/web/check-url.ts"
import { Instance } from "#kernel/instance.ts"
import type { BrowserSession } from "./browser-session.ts"
import type { Found } from "./find-browser.ts"
import type { Browser, Chromium } from "./start-browser.ts"

const ofSessions = Instance.state(
  () => new Map<string, BrowserSession>(),
  async (sessions) => {
    await Promise.all([...sessions.values()].map((session) => session.close()))
  },
)

/** The running Chromium, and how many pages it has or will have. */
type Shared = { chromium: Promise<Chromium>; pages: number }
const running = Instance.state(() => ({ shared: undefined as Shared | undefined }))

export function get(sessionId: string): BrowserSession | undefined {
  return ofSessions().get(sessionId)
}

/** The session's browser; it starts with the first page. */
export async function create(sessionId: string): Promise<BrowserSession> {
  const { createBrowserSession } = await import("./browser-session.ts")
  const session = get(sessionId) ?? createBrowserSession(sessionId, { open: openPage })
  ofSessions().set(sessionId, session)
  return session
}

export async function end(sessionId: string): Promise<void> {
  const session = get(sessionId)
  ofSessions().delete(sessionId)
  await session?.close()
}

/** A page of its own in the Chromium of the Instance. After a crash the next page starts a new one. */
export async function openPage(found: Found, check: (url: string) => Promise<Checked>): Promise<Browser> {
  const state = running()
  state.shared ??= start(found)
  const { shared } = state
  shared.pages++
  try {
    const browser = await (await shared.chromium).open(check)
    let closed: Promise<void> | undefined
    const close = () => (closed ??= browser.close().then(leave))
    return Object.freeze({ ...browser, close })
  } catch (error) {
    await leave()
    throw error
  }

  async function leave(): Promise<void> {
    if (--shared.pages > 0) return
    if (state.shared === shared) state.shared = undefined
    const chromium = await shared.chromium.catch(() => undefined)
    await chromium?.close()
  }

  function start(found: Found): Shared {
    const made: Shared = {
      chromium: import("./start-browser.ts").then(({ startChromium }) => startChromium(found)),
      pages: 0,
    }
    const drop = () => {
      if (state.shared === made) state.shared = undefined
    }
    made.chromium.then(({ browser }) => browser.once("disconnected", drop), drop)
    return made
  }
}
