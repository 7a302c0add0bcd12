// The entry file of this folder. Snapshots store the state before each change, so that it can be shown and undone.
// They are in a shadow store outside the project; the person's index, branch, stash and history are never touched.

import * as Restore from "#ability/snapshot/restore/restore.ts"
import { type Diff, showDiff } from "#ability/snapshot/restore/show-diff.ts"
import { byId, list, type Snapshot, shorten } from "#ability/snapshot/store/list.ts"
import { removeSession } from "#ability/snapshot/store/session-log.ts"
import * as Shadow from "#ability/snapshot/store/shadow.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"

export { forget, type Reverted } from "#ability/snapshot/restore/restore.ts"
export type { Diff } from "#ability/snapshot/restore/show-diff.ts"
export { Conflict, InvalidRoot, Lost } from "#ability/snapshot/store/errors.ts"
export { list, type Snapshot } from "#ability/snapshot/store/list.ts"
export { Part, Uncovered } from "#ability/snapshot/store/part.ts"
export { offReason } from "#ability/snapshot/store/shadow.ts"
export { hasPending, recover } from "./recover.ts"
export { type Asked, Created, prepare, type Taken, take, useTaker } from "./take.ts"

/** `tasks` are the sessions of tasks, whose changes count too; `at` is the message whose call started the task. */
type Chosen = {
  sessionId: string
  messageId?: string | undefined
  tasks?: readonly { sessionId: string; at: string }[] | undefined
}

/** The changes since the first snapshot of a session, or since a message. */
export async function diff(options: Chosen & { stat?: boolean | undefined }): Promise<Diff> {
  return showDiff(Shadow.get(), await chosen(options), { stat: options.stat === true })
}

/** Undo the calls of a message and all later ones: restores every path that they changed, and removes what they created.
 * Without `force` it throws if somebody else has changed one of the paths since. `part` of the result is a snapshot of the
 * state right before; the caller stores it, then calls `forget`. */
export async function revert(
  options: Chosen & { messageId: string; force?: boolean | undefined; preview?: boolean | undefined },
): Promise<Restore.Reverted> {
  const { sessionId, messageId: target, force } = options
  const shadow = Shadow.get()
  if (options.preview) return Restore.preview(shadow, await chosen(options))
  return short(sessionId, await Restore.restore(shadow, await chosen(options), { sessionId, target, force }))
}

/** Finish a revert that was interrupted, if there is one. Call it before any other revert, which would otherwise take a
 * half-reverted file for a change by the person. The caller stores the result as with `revert`. */
export async function resume(options: {
  sessionId: string
  force?: boolean | undefined
}): Promise<{ target: string; reverted: Restore.Reverted } | undefined> {
  const begun = await Restore.begunRevert(options.sessionId)
  if (!begun) return undefined
  const reverted = await Restore.resume(Shadow.get(), begun, options)
  return { target: begun.target, reverted: short(options.sessionId, reverted) }
}

/** Delete the data of a session. */
export function remove(sessionId: string): void {
  removeSession(Shadow.get(), sessionId)
}

function short(sessionId: string, reverted: Restore.Reverted): Restore.Reverted {
  return reverted.part ? { ...reverted, part: shorten(Shadow.get(), sessionId, reverted.part) } : reverted
}

/** The snapshots in the order of the conversation. Those of one message and its tasks are in the order of their ids, which
 * is the order in which they were taken, because one process created them. */
async function chosen({ sessionId, messageId, tasks = [] }: Chosen): Promise<Snapshot[]> {
  const own = await list(sessionId, messageId === undefined ? {} : { since: messageId })
  if (!tasks.length) return own
  const places = new Map((await MessageStore.list(sessionId)).map(({ id }, place) => [id, place]))
  const taken = own.map((snapshot) => ({ snapshot, place: places.get(snapshot.messageId) ?? -1 }))
  for (const task of tasks)
    for (const snapshot of await list(task.sessionId))
      taken.push({ snapshot, place: places.get(task.at) ?? -1 })
  return taken
    .sort((a, b) => a.place - b.place || byId(a.snapshot, b.snapshot))
    .map(({ snapshot }) => snapshot)
}
