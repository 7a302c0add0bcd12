// The snapshots of a session, out of its messages. One that does not have the right shape counts as not covered.
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { Part } from "./part.ts"
import { lengthen } from "./part-list.ts"
import * as Shadow from "./shadow.ts"

/** A snapshot, and the message and call that it belongs to. */
export type Snapshot = { sessionId: string; messageId: string; callId?: string; part: Part }

/** In the order in which they were taken; from a message on where one is given. Within a message that is the order of
 * their ids: one process takes them. */
export async function list(sessionId: string, options: { since?: string } = {}): Promise<Snapshot[]> {
  const messages = await MessageStore.list(sessionId)
  const { since } = options
  const start = since === undefined ? 0 : messages.findIndex(({ id }) => id === since)
  const found: Snapshot[] = []
  for (const message of start < 0 ? [] : messages.slice(start)) {
    const parts: Snapshot[] = []
    for (const { callId, value } of partsIn(message)) {
      const part = await wholePart(value)
      parts.push({ sessionId, messageId: message.id, ...(callId ? { callId } : {}), part })
    }
    found.push(...parts.sort(byId))
  }
  return found
}

export function byId(a: Snapshot, b: Snapshot): number {
  return a.part.id < b.part.id ? -1 : 1
}

function partsIn(message: Message.Info): { callId?: string; value: unknown }[] {
  if (message.type === "system_control" && message.data.control === "revert")
    return [{ value: message.data.parameters.snapshot }]
  if (message.type !== "tool_request") return []
  return message.data.calls.flatMap(({ id, snapshot }) =>
    snapshot === undefined ? [] : [{ callId: id, value: snapshot }],
  )
}

async function wholePart(value: unknown): Promise<Part> {
  const parsed = Part.safeParse(value)
  if (!parsed.success) return broken("?", "its record in the session is broken")
  try {
    return await lengthen(Shadow.get(), parsed.data)
  } catch {
    return broken(parsed.data.tool, "the list of what it changed is no longer kept")
  }
}

function broken(tool: string, reason: string): Part {
  const uncovered = [{ path: `(what ${tool} changed)`, reason }]
  const { root } = Shadow.get()
  const nothing = { files: [], folders: [], changedFolders: [], links: [] }
  return { id: "", time: 0, tool, root, scope: "paths", done: true, ...nothing, uncovered }
}
