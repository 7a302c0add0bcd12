// Replays a stored history as updates.
import { setImmediate as nextTick } from "node:timers/promises"
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

/** Messages per tick. Between two batches the output stream can write. */
const batchSize = 50
export const maxTitle = 200

/** Sends the messages of the active branch, for `session/load`. Compactions are sent to clients that support them. */
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
    if (i % batchSize === batchSize - 1) await nextTick()
  }
  const isWorking = session.status === "busy" || session.status === "waiting"
  if (!isWorking) reporter.calls.giveUp("It was interrupted.")
  const todos = await TodoList.get(sessionId)
  if (todos.length) send({ sessionUpdate: "plan", entries: planEntries(todos) })
  if (session.title) send(infoUpdate(session))
  // Declared models have context windows of their own, so providers are loaded before the window is computed.
  await Provider.load()
  const last = messages.findLast(({ usage }) => usage)
  const window = last && windowAfter(last)
  if (window) send(usageUpdate(window, session.usage.cost))
}

export function infoUpdate({ title, time }: Session.Info): SessionUpdate {
  const updatedAt = new Date(time.updated).toISOString()
  return { sessionUpdate: "session_info_update", title: firstLine(title, maxTitle), updatedAt }
}
