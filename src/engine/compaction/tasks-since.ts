// The sessions of the tasks that a session gave since one of its messages, each with the message whose call started
// it.

import * as SessionRecord from "#engine/record/session-record.ts"
import type * as Message from "#knowledge/message/message.ts"

export type Task = { sessionId: string; at: string }

/** `messages`: all messages of the session in order. Tasks of tasks belong to the same message. */
export async function tasksSince(
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

/** Some models reuse call ids: the last call before the task's session was created counts. */
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
