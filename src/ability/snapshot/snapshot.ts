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
export { isChanged, Part, Uncovered } from "#ability/snapshot/store/part.ts"
export { offReason } from "#ability/snapshot/store/shadow.ts"
export { hasPending, recover } from "./recover.ts"
export { type Asked, Created, type Taken, take } from "./take.ts"

/** `tasks` are sessions whose work counts as this one's, each `at` the message whose call it worked for. */
type Chosen = {
  sessionId: string
  messageId?: string | undefined
  tasks?: readonly { sessionId: string; at: string }[] | undefined
}

/** The changes of a session: its files before its first snapshot, or before a message, and now. */
export async function diff(options: Chosen & { stat?: boolean | undefined }): Promise<Diff> {
  return showDiff(Shadow.get(), await chosen(options), { stat: options.stat === true })
}

/** Undo a message's calls and all later ones: restores every path that they changed, removes what they created, and
 * touches nothing else. Refused without `force` if somebody else changed something since. The result's snapshot has
 * the state right before; the caller stores it and then calls `forget`. */
export async function revert(
  options: Chosen & { messageId: string; force?: boolean | undefined; preview?: boolean | undefined },
): Promise<Restore.Reverted> {
  const { sessionId, messageId: target, force } = options
  const shadow = Shadow.get()
  if (options.preview) return Restore.preview(shadow, await chosen(options))
  return short(sessionId, await Restore.restore(shadow, await chosen(options), { sessionId, target, force }))
}

/** Finish a revert that was cut off, if there is one. It comes before any other revert: until then a half-reverted file looks
 * like a change of the person. The caller stores its result like that of `revert`. */
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

/** In the order of the conversation. The calls of one message and their tasks, which may have run in parallel, are in the
 * order of their ids: one process made them. */
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
