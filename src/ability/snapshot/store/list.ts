// Reads the snapshots of a session from its messages. An invalid one counts as not covered. A message has at most 500
// files of a snapshot; a longer list is in the store, and the message has its hash.

import { z } from "zod"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { Change, Part } from "./part.ts"
import { addHashes } from "./session-log.ts"
import * as Shadow from "./shadow.ts"

/** A snapshot, and the message and call that it belongs to. */
export type Snapshot = { sessionId: string; messageId: string; callId?: string; part: Part }

const many = 500

/** What an undo of commands does not cover. It is stored with the first command of a session. */
export const commandNote =
  "what git ignores, repositories inside of this one, owners, times, extended attributes and the mode of the top folder are not covered for commands"
const separator = "; "

/** In the order in which they were taken; with `since`, from that message on. Within a message they are sorted by id,
 * because one process took them. */
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

/** The snapshot as it is stored in a message. The hashes that it needs are recorded for its session. */
export function shorten(shadow: Shadow.Shadow, sessionId: string, part: Part): Part {
  const hashes = part.files.map(({ before }) => before?.hash)
  if (part.files.length <= many) {
    addHashes(shadow, sessionId, hashes)
    return part
  }
  const list = shadow.store.put(Buffer.from(JSON.stringify(part.files)))
  addHashes(shadow, sessionId, [list, ...hashes])
  return { ...part, files: [], list }
}

export function joinNotes(notes: (string | undefined)[]): string | undefined {
  return notes.filter((note) => note !== undefined).join(separator) || undefined
}

/** The notes for a person about an undo of these calls, each once. */
export function notesOf(snapshots: readonly Snapshot[]): string[] {
  const isConflict = (note: string) => note.startsWith("not covered")
  const notes = snapshots.flatMap(({ part: { note } }) =>
    note && !isConflict(note) ? note.split(separator) : [],
  )
  const hasCommand = snapshots.some(({ part }) => part.scope === "worktree")
  return [...new Set([...(hasCommand ? [commandNote] : []), ...notes])]
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
    return broken(parsed.data.tool, "the list of its changes is no longer stored")
  }
}

/** Adds the files of a list that is in the store. */
async function lengthen(shadow: Shadow.Shadow, { list, ...part }: Part): Promise<Part> {
  if (!list) return part
  const bytes = await shadow.store.read(list)
  return { ...part, files: z.array(Change).parse(JSON.parse(bytes.toString())) }
}

function broken(tool: string, reason: string): Part {
  const uncovered = [{ path: `(what ${tool} changed)`, reason }]
  const { place: root } = Shadow.get()
  const nothing = { files: [], folders: [], changedFolders: [], links: [] }
  return { id: "", time: 0, tool, root, scope: "paths", done: true, ...nothing, uncovered }
}
