// What the status line shows beside the session itself: the git branch, and the share of the context window that is used.
// Both are read when a turn has ended.
import type { Client } from "#client/client.ts"

export function createUsage(client: Client, changed: () => void) {
  let branch: string | undefined
  let context: number | undefined

  async function read(sessionId: string | undefined): Promise<void> {
    const [info, usage] = await Promise.all([
      client.getInfo(),
      sessionId === undefined ? undefined : client.getContext({ id: sessionId }),
    ])
    branch = info.vcs?.branch
    context = usage && usage.window > 0 ? usage.used / usage.window : undefined
    changed()
  }

  return Object.freeze({
    get branch() {
      return branch
    },
    get context() {
      return context
    },
    /** What cannot be read is not shown. */
    refresh: (sessionId: string | undefined) => void read(sessionId).catch(() => {}),
  })
}
