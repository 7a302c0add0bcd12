// Undo: restores the files and the conversation to their state before a message. The undone messages stay in the session
// but no longer belong to the branch. The message that records the revert can itself be reverted: that is a redo.
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import { readArguments } from "#ability/tool/read-arguments.ts"
import type { Json } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import * as Queue from "#engine/queue/queue.ts"
import { historyOf, pathTo } from "#engine/record/history.ts"
import { keepCheckout, refreshCheckout } from "#engine/record/if-checkout.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { MessageNotFound } from "./fork.ts"
import { redoTarget } from "./redo-target.ts"

/** The session of a task, and the message whose call started it. */
type Task = { sessionId: string; at: string }

/** `messageId` is the message that records the revert; undefined if nothing changed. */
export type Reverted = Omit<Snapshot.Reverted, "part"> & { messageId?: string }

type Options = { force?: boolean | undefined; preview?: boolean | undefined }

/** Undo a message and everything after it. Throws `Session.Busy` if a prompt is running. */
export function revert(sessionId: string, messageId: string, options: Options = {}): Promise<Reverted> {
  return revertTo(sessionId, options, (messages, { branch }) => {
    const target = messages.find(({ id }) => id === messageId)
    if (target && isOn(branch, target, messages)) return target
    throw new MessageNotFound(sessionId, messageId)
  })
}

/** Redo what the last revert undid; several reverts are redone one after the other, the last one first. Throws
 * `Session.NothingToRedo`, also once a prompt has followed the revert, and `Session.Busy` if one is running. */
export function redo(sessionId: string, options: Options = {}): Promise<Reverted> {
  return revertTo(sessionId, options, redoTarget)
}

function revertTo(
  sessionId: string,
  options: Options,
  choose: (messages: Message.Info[], session: SessionRecord.Info) => Message.Info,
): Promise<Reverted> {
  return Queue.enter({ sessionId, whenBusy: "refuse" }, async () => {
    const messages = await MessageStore.list(sessionId)
    const session = await SessionRecord.get(sessionId)
    const target = choose(messages, session)
    const { id: messageId } = target
    const tasks = await tasksSince(session, messages, messageId)
    if (options.preview) {
      await recoverCalls(sessionId, tasks)
      return Snapshot.revert({ sessionId, messageId, tasks, preview: true })
    }
    let changed: string[] = []
    return Queue.whileBusy(
      { sessionId, after: () => ({ status: "idle", error: undefined, changed }) },
      async () => {
        await refreshCheckout()
        const begun = await finishBegun(session, options.force)
        for (const id of idsOf(sessionId, tasks)) await Snapshot.recover(id, contentAfter)
        const chosen = { sessionId, messageId, tasks }
        const isFinished =
          begun?.target === messageId && isDone(await Snapshot.revert({ ...chosen, preview: true }))
        const reverted = isFinished
          ? begun.reverted
          : await record(session, target, await Snapshot.revert({ ...chosen, force: options.force }))
        await keepCheckout()
        changed = await changedBy(session)
        return reverted
      },
    )
  })
}

/** The changes of a session and its tasks, or only those since a message. */
export async function diff(
  sessionId: string,
  options: { since?: string | undefined; stat?: boolean | undefined } = {},
): Promise<Snapshot.Diff> {
  const session = await SessionRecord.get(sessionId)
  const { since: messageId, stat } = options
  const messages = await MessageStore.list(sessionId)
  if (messageId !== undefined && !messages.some(({ id }) => id === messageId))
    throw new MessageNotFound(sessionId, messageId, "session")
  const tasks = await tasksSince(session, messages, messageId)
  // Enter the queue only if there is something to recover: meanwhile a prompt with "refuse" would be refused.
  if (idsOf(sessionId, tasks).some(Snapshot.hasPending))
    await Queue.enter({ sessionId, whenBusy: "refuse" }, () => recoverCalls(sessionId, tasks)).catch(ifBusy)
  return Snapshot.diff({ sessionId, messageId, tasks, stat })
}

/** The files whose content differs from before the session and its tasks. */
async function changedBy(session: SessionRecord.Info): Promise<string[]> {
  const tasks = await tasksSince(session, await MessageStore.list(session.id), undefined)
  const { files } = await Snapshot.diff({ sessionId: session.id, tasks, stat: true })
  return files.map(({ path }) => path)
}

/** Records the changes of calls that a crash interrupted. Skipped if the session is busy, because it does this itself. */
async function recoverCalls(sessionId: string, tasks: Task[]): Promise<void> {
  const ids = idsOf(sessionId, tasks).filter(Snapshot.hasPending)
  if (!ids.length) return
  await Queue.whileBusy({ sessionId }, async () => {
    for (const id of ids) await Snapshot.recover(id, contentAfter)
  }).catch(ifBusy)
}

function idsOf(sessionId: string, tasks: Task[]): string[] {
  return [sessionId, ...tasks.map((task) => task.sessionId)]
}

function ifBusy(error: unknown): void {
  if (!(error instanceof SessionRecord.Busy)) throw error
}

/** Whether a message belongs to a branch; messages that were undone in it count. Reverting a message of another branch
 * would continue this branch from there. */
function isOn(branch: string, target: Message.Info, messages: Message.Info[]): boolean {
  return target.branch === branch || pathTo(messages, branch).includes(target)
}

/** Finishes a revert that was interrupted, for example by a crash. */
async function finishBegun(
  session: SessionRecord.Info,
  force: boolean | undefined,
): Promise<{ target: string; reverted: Reverted } | undefined> {
  const begun = await Snapshot.resume({ sessionId: session.id, force })
  if (!begun) return undefined
  const target = (await MessageStore.list(session.id)).find(({ id }) => id === begun.target)
  if (target) return { target: begun.target, reverted: await record(session, target, begun.reverted) }
  await Snapshot.forget(session.id)
  return undefined
}

function isDone({ restored, removed, conflicts }: Snapshot.Reverted): boolean {
  return !restored.length && !removed.length && !conflicts.length
}

async function record(
  { id: sessionId, branch }: SessionRecord.Info,
  target: Message.Info,
  reverted: Snapshot.Reverted,
): Promise<Reverted> {
  const history = await historyOf(sessionId, branch)
  const { part, ...result } = reverted
  const message = Message.make({
    sessionId,
    parentId: headBefore(target),
    branch,
    type: "system_control",
    data: {
      control: "revert",
      parameters: {
        to: target.id,
        from: history.at(-1)?.id ?? null,
        ...(isRevert(target) ? { isRedo: true } : {}),
        ...(part ? { snapshot: part as Message.Json } : {}),
      },
    },
  })
  await MessageStore.write(message)
  const { restorePlan } = await import("#engine/record/plan-nodes.ts")
  await restorePlan(sessionId, branch)
  await Snapshot.forget(sessionId)
  return { ...result, messageId: message.id }
}

/** The last message of the conversation before the target. If the target is itself a revert, the message that was the last
 * one before that revert. */
function headBefore(target: Message.Info): string | null {
  if (!isRevert(target)) return target.parentId
  const { from } = target.data.parameters
  return typeof from === "string" ? from : null
}

function isRevert(message: Message.Info): message is Extract<Message.Info, { type: "system_control" }> {
  return message.type === "system_control" && message.data.control === "revert"
}

/** The tasks that a session started since one of its messages, and the tasks of those tasks. `messages` are all messages of
 * the session in order. */
async function tasksSince(
  { id }: Pick<SessionRecord.Info, "id">,
  messages: readonly Message.Info[],
  since: string | undefined,
): Promise<Task[]> {
  const all = await SessionRecord.list({ tasks: true })
  const start = since === undefined ? 0 : messages.findIndex((message) => message.id === since)
  const found: Task[] = []
  const add = (sessionId: string, at: string) => {
    found.push({ sessionId, at })
    for (const task of all) if (task.taskOf?.sessionId === sessionId) add(task.id, at)
  }
  for (const task of all) {
    if (task.taskOf?.sessionId !== id) continue
    const place = placeOf(messages, { id: task.id, callId: task.taskOf.callId })
    if (place >= start && messages[place]) add(task.id, messages[place].id)
  }
  return found
}

/** The index of the message whose call started a task. Some models reuse call ids, so it is the last such call before the
 * session of the task was created. */
function placeOf(messages: readonly Message.Info[], task: { id: string; callId: string }): number {
  const places = messages.flatMap((message, place) =>
    message.type === "tool_request" && message.data.calls.some(({ id }) => id === task.callId) ? [place] : [],
  )
  const isEarlier = (place: number) => ordinal(messages[place]!.id) < ordinal(task.id)
  return places.findLast(isEarlier) ?? places[0] ?? [...messages.keys()].findLast(isEarlier) ?? -1
}

/** Ids sort by the part after their prefix. */
function ordinal(id: string): string {
  return id.slice(id.indexOf("_") + 1)
}

/** The content that a call would have written. After a crash it is compared with the file on disk, to tell whether the call
 * wrote it. Undefined for tools without `contentAfter`, and if the arguments do not fit the bytes. */
export async function contentAfter(
  call: Message.Call,
  before: Buffer | undefined,
): Promise<Buffer | undefined> {
  const tool = ToolRegistry.find(call.name)
  if (!tool?.contentAfter) return undefined
  try {
    return tool.contentAfter(await readArguments(tool, { arguments: call.arguments as Json }), before)
  } catch {
    return undefined
  }
}
