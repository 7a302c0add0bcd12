// Sessions: made, listed, prompted, forked, carried away and brought back. The door of this folder.
import { rm } from "node:fs/promises"
import { outputFolder } from "#ability/tool/output.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { historyOf } from "./history.ts"
import * as Queue from "./queue.ts"
import * as SessionRecord from "./session-record.ts"

export { InvalidModel, NoModel } from "./choose-model.ts"
export {
  exportMarkdown,
  exportSession as export,
  InvalidImport,
  importSession as import,
} from "./exchange.ts"
export { fork, MessageNotFound } from "./fork.ts"
export { EmptyPrompt, type Input, Interrupted, prompt } from "./prompt.ts"
export { abort } from "./queue.ts"
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
} from "./session-record.ts"

/** The messages of a branch in order (the active one where none is named), or all of every branch. */
export async function messages(
  sessionId: string,
  options: { branch?: string; all?: boolean } = {},
): Promise<Message.Info[]> {
  const session = await SessionRecord.get(sessionId)
  return options.all ? MessageStore.list(sessionId) : historyOf(sessionId, options.branch ?? session.branch)
}

/** Take a session away with all that is kept of it. What it is doing here is stopped first. */
export async function remove(sessionId: string): Promise<void> {
  await Queue.end(sessionId)
  await SessionRecord.remove(sessionId)
  await rm(outputFolder(sessionId), { recursive: true, force: true })
}
