// The entry file of this folder: create, list, prompt, fork, export, import and remove sessions.

import { rm } from "node:fs/promises"
import * as Browsers from "#ability/browser/browsers.ts"
import { outputFolder } from "#ability/call/output-folder.ts"
import { isAddress } from "#ability/checkout/address.ts"
import { hasHooks } from "#ability/hook/has-hooks.ts"
import { setSessionServers } from "#ability/mcp/if-configured.ts"
import * as TodoList from "#ability/plan/todo-list.ts"
import * as Jobs from "#ability/shell/jobs.ts"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import type { EndReason } from "#engine/hook/session-hooks.ts"
import * as Queue from "#engine/queue/queue.ts"
import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import { messagesBefore, newestMessages } from "#engine/record/history.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Objects from "#kernel/objects/objects.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { messagesOf } from "./branch.ts"
import type { ContextUsage } from "./context-usage.ts"
import type { Plan } from "./plan.ts"
import type { Pushed, push as pushSession } from "./push.ts"
import type { ShellResult } from "./run-shell.ts"
import type { SessionCost } from "./session-cost.ts"
import type { Stats, StatsQuery } from "./stats.ts"

export { InvalidModel, ModelChosen } from "#engine/model/choose-model.ts"
export { abort, elsewhere, Interrupted, runtimeStops } from "#engine/queue/queue.ts"
export { recoverPrompts as recover } from "#engine/queue/recover-prompts.ts"
export { Skipped } from "#engine/queue/skipped-prompts.ts"
export {
  create as storePrompt,
  type Handle as PromptHandle,
  Info as WaitingPrompt,
  list as prompts,
  release as releasePrompt,
  removeJobs,
} from "#engine/queue/stored-prompt.ts"
export { AgentChosen, Blocked, Notice, Retry } from "#engine/record/notice.ts"
export { EmptyPrompt, PromptPart, type SkippedPrompt } from "#engine/record/prompt-part.ts"
export {
  Busy,
  Created,
  create,
  Failed,
  find,
  get,
  getFor,
  Idle,
  Info,
  Invalid,
  list,
  NotFound,
  Removed,
  Status,
  tasks,
  Updated,
} from "#engine/record/session-record.ts"
export { Compacted, ContextFull } from "#engine/run/budget.ts"
export type { Input } from "#engine/run/run.ts"
export { accept, check as checkPrompt, prompt } from "#engine/turn/prompt.ts"
export { windowOf as window } from "#knowledge/memory/window.ts"
export { allowEdits } from "./allow-edits.ts"
export {
  Branch,
  BranchExists,
  BranchNotFound,
  branch,
  branches,
  InvalidBranch,
  switchBranch,
} from "./branch.ts"
export { exportSession as export, InvalidImport, importSession as import } from "./exchange.ts"
export { describeControl, exportMarkdown } from "./export-markdown.ts"
export { fork, MessageNotFound } from "./fork.ts"
export { getImage, ImageNotFound } from "./get-image.ts"
export { Plan } from "./plan.ts"
export { NothingToRedo } from "./redo-target.ts"
export { diff, type Reverted, redo, revert } from "./revert.ts"
export { setAnswerer, setMode, setTitle, share } from "./settings.ts"

/** What a session made in its checkout, pushed to a branch or as a patch. */
export async function push(sessionId: string, options: Parameters<typeof pushSession>[1]): Promise<Pushed> {
  return (await import("./push.ts")).push(sessionId, options)
}

/** Tells hooks that the person left a session, and why. Nothing else changes. */
export async function leave(sessionId: string, reason: EndReason): Promise<void> {
  if (!(await hasHooks())) return
  const { endSession } = await import("#engine/hook/session-hooks.ts")
  await endSession(sessionId, reason)
}

/** Compact the history: the model is sent a summary instead of the older messages. Does nothing if that would save
 * little. Throws `Session.Busy` if a prompt is running. */
export async function compact(sessionId: string): Promise<SessionRecord.Info> {
  const { compactByHand } = await import("./compact-by-hand.ts")
  return compactByHand(sessionId)
}

/** The plan of a session, with the files that it changed and the sessions of its tasks. */
export async function plan(sessionId: string): Promise<Plan> {
  const { relate } = await import("./relate.ts")
  return relate(sessionId)
}

/** What fills the window of the model that answers. */
export async function context(sessionId: string): Promise<ContextUsage> {
  const { contextUsage } = await import("./context-usage.ts")
  return contextUsage(sessionId)
}

/** What a session and its tasks have cost, by model and agent. */
export async function cost(sessionId: string): Promise<SessionCost> {
  const { sessionCost } = await import("./session-cost.ts")
  return sessionCost(sessionId)
}

/** What the sessions of this project, or of all, used since then: by day, model, agent and tool. */
export async function stats(query: StatsQuery): Promise<Stats> {
  return (await import("./stats.ts")).stats(query)
}

/** Run a command of the person; the model sees it and its output with the next prompt. */
export async function shell(
  sessionId: string,
  options: { command: string; timeout?: number },
): Promise<ShellResult> {
  const { runShell } = await import("./run-shell.ts")
  return runShell(sessionId, options)
}

/** The messages of a branch in order (default: the active one), or of all branches. `last`: only so many, the newest.
 * `before`: only those that lead to this message, without it. */
export async function messages(
  sessionId: string,
  options: { branch?: string; all?: boolean; last?: number; before?: string } = {},
): Promise<Message.Info[]> {
  const session = await SessionRecord.get(sessionId)
  const { branch = session.branch, all, last, before } = options
  if (before !== undefined) return messagesBefore(session, before, last)
  if (last !== undefined && !all && branch === session.branch) return newestMessages(session, last)
  const messages = await MessageStore.list(sessionId)
  const chosen = all ? messages : messagesOf(messages, session, branch)
  return last === undefined ? chosen : chosen.slice(-last)
}

/** Cancel a queued prompt, or forget a skipped one. */
export async function removePrompt(sessionId: string, promptId: string): Promise<void> {
  const session = await SessionRecord.get(sessionId)
  if (!Queue.abortWaiting(sessionId, promptId)) throw new StoredPrompt.Busy(sessionId, promptId)
  await StoredPrompt.discard(session, promptId)
}

/** Remove a session with all its data, and the sessions of its tasks. Running work is stopped first. */
export async function remove(sessionId: string): Promise<void> {
  await SessionRecord.getFor(sessionId, "owner")
  await Queue.end(sessionId)
  await Jobs.end(sessionId)
  await Browsers.end(sessionId)
  Secret.endSession(sessionId)
  const { metadata, directory, taskOf } = await SessionRecord.get(sessionId)
  await SessionRecord.remove(sessionId)
  // Only sessions of A2A tasks have a depth.
  if (metadata.a2aDepth !== undefined)
    await (await import("./remove-a2a-records.ts")).removeA2ARecords(sessionId)
  await StoredPrompt.removeAll(sessionId)
  await setSessionServers(sessionId, [])
  await TodoList.remove(sessionId)
  Memory.forget(sessionId)
  Snapshot.remove(sessionId)
  await Snapshot.forget(sessionId)
  await rm(outputFolder(sessionId), { recursive: true, force: true })
  await (await Objects.shared())?.remove(sessionId)
  if (isAddress(directory) && !taskOf)
    await (await import("#ability/checkout/checkout.ts")).remove(sessionId, directory)
  const tasks = (await SessionRecord.list({ tasks: true })).filter(
    ({ taskOf }) => taskOf?.sessionId === sessionId,
  )
  for (const { id } of tasks) await remove(id)
}
