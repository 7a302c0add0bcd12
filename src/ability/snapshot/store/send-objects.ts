// Copies the bytes that a session's snapshots need to the store that servers share, so that another server can undo and
// restore. Without such a store it does nothing.
import * as Objects from "#kernel/objects/objects.ts"
import type { Shadow } from "./shadow.ts"

const atOnce = 64

export async function sendObjects(shadow: Shadow, sessionId: string): Promise<void> {
  const objects = await Objects.shared()
  const named = shadow.unsent.get(sessionId)
  if (!objects || !named?.size) return
  shadow.unsent.delete(sessionId)
  try {
    const all = [...named]
    const sent = await objects.has(sessionId, all)
    const rest = all.filter((hash) => !sent.has(hash))
    for (let at = 0; at < rest.length; at += atOnce) {
      const found = await shadow.store.readSome(rest.slice(at, at + atOnce))
      await objects.put(
        sessionId,
        [...found].map(([name, bytes]) => ({ name, bytes })),
      )
    }
  } catch (error) {
    // The next call of the session sends them.
    const since = shadow.unsent.get(sessionId) ?? new Set()
    shadow.unsent.set(sessionId, since.union(named))
    throw error
  }
}
