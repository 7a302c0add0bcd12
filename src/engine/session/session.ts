// The entry file of this folder: create, list, prompt, fork, export, import and remove sessions.
import { rm } from "node:fs/promises"
import * as Browsers from "#ability/browser/browsers.ts"
import { outputFolder } from "#ability/call/output.ts"
import { setSessionServers } from "#ability/mcp/if-configured.ts"
import * as TodoList from "#ability/plan/todo-list.ts"
import * as Jobs from "#ability/shell/jobs.ts"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import * as Queue from "#engine/queue/queue.ts"
import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import { newestMessages } from "#engine/record/history.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { messagesOf } from "./branch.ts"
import type { ContextUsage } from "./context-usage.ts"
import type { Plan } from "./plan.ts"
import type { ShellResult } from "./run-shell.ts"
import type { SessionCost } from "./session-cost.ts"

export { InvalidModel, ModelChosen } from "#engine/model/choose-model.ts"
export { abort, Interrupted, runtimeStops } from "#engine/queue/queue.ts"
export {
  create as storePrompt,
  type Handle as PromptHandle,
  Info as WaitingPrompt,
  list as prompts,
  recover,
  release as releasePrompt,
  Skipped,
} from "#engine/queue/stored-prompt.ts"
export { AgentChosen, Blocked, Notice, Retry } from "#engine/record/notice.ts"
export { EmptyPrompt, PromptPart, type SkippedPrompt } from "#engine/record/prompt-part.ts"
export {
  Busy,
  Created,
  create,
  Failed,
  get,
  Idle,
  Info,
  Invalid,
  list,
  NotFound,
  Removed,
  Status,
  Updated,
} from "#engine/record/session-record.ts"
export { Compacted, ContextFull } from "#engine/run/budget.ts"
export type { Input } from "#engine/run/run.ts"
export { accept, prompt } from "#engine/turn/prompt.ts"
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
export { setAnswerer, setMode, setTitle } from "./settings.ts"

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

/** Run a command of the person; the model sees it and its output with the next prompt. */
export async function shell(
  sessionId: string,
  options: { command: string; timeout?: number },
): Promise<ShellResult> {
  const { runShell } = await import("./run-shell.ts")
  return runShell(sessionId, options)
}

/** The messages of a branch in order (default: the active one), or of all branches. `last`: only so many, the newest. */
export async function messages(
  sessionId: string,
  options: { branch?: string; all?: boolean; last?: number } = {},
): Promise<Message.Info[]> {
  const session = await SessionRecord.get(sessionId)
  const { branch = session.branch, all, last } = options
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
  await Queue.end(sessionId)
  await Jobs.end(sessionId)
  await Browsers.end(sessionId)
  Secret.endSession(sessionId)
  await SessionRecord.remove(sessionId)
  await StoredPrompt.removeAll(sessionId)
  await setSessionServers(sessionId, [])
  await TodoList.remove(sessionId)
  Memory.forget(sessionId)
  Snapshot.remove(sessionId)
  await Snapshot.forget(sessionId)
  await rm(outputFolder(sessionId), { recursive: true, force: true })
  const tasks = (await SessionRecord.list({ tasks: true })).filter(
    ({ taskOf }) => taskOf?.sessionId === sessionId,
  )
  for (const { id } of tasks) await remove(id)
}
