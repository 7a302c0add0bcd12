// Replays a stored history as updates.
import { setImmediate as breathe } from "node:timers/promises"
import type { ClientCapabilities, SessionUpdate } from "@agentclientprotocol/sdk"
import * as TodoList from "#ability/plan/todo-list.ts"
import * as Provider from "#ability/provider/provider.ts"
import { firstLine } from "#edge/acp/show/markdown.ts"
import { planEntries } from "#edge/acp/show/plan-entries.ts"
import { usageUpdate, windowAfter } from "#edge/acp/show/usage.ts"
import { withoutSecrets } from "#edge/acp/show/without-secrets.ts"
import * as Session from "#engine/session/session.ts"
import { createMessageReporter } from "./report-messages.ts"
import type { Send } from "./updates.ts"

/** The writer needs its turn between them. */
const atOnce = 50
export const maxTitle = 200

/** The messages of the active branch as updates, for `session/load`. A client that supports compactions gets them
 * too. */
export async function replay(options: {
  sessionId: string
  send: Send
  client?: ClientCapabilities
}): Promise<void> {
  const { sessionId, client = {} } = options
  const send = (update: SessionUpdate) => options.send(withoutSecrets(update))
  const session = await Session.get(sessionId)
  const messages = await Session.messages(sessionId)
  const reporter = createMessageReporter({ directory: session.directory, client, send, isReplay: true })
  for (const [i, message] of messages.entries()) {
    reporter.report(message)
    if (i % atOnce === atOnce - 1) await breathe()
  }
  const isWorking = session.status === "busy" || session.status === "waiting"
  if (!isWorking) reporter.calls.giveUp("It was interrupted.")
  const todos = await TodoList.get(sessionId)
  if (todos.length) send({ sessionUpdate: "plan", entries: planEntries(todos) })
  if (session.title) send(infoUpdate(session))
  // Those that are declared have windows of their own.
  await Provider.load()
  const last = messages.findLast(({ usage }) => usage)
  const window = last && windowAfter(last)
  if (window) send(usageUpdate(window, session.usage.cost))
}

export function infoUpdate({ title, time }: Session.Info): SessionUpdate {
  const updatedAt = new Date(time.updated).toISOString()
  return { sessionUpdate: "session_info_update", title: firstLine(title, maxTitle), updatedAt }
}
