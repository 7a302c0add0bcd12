// How much of an earlier session is shown when it is opened: its last messages, up to some text.
import type { Message, Session } from "#client/client.ts"
import type { Todo } from "./plan-lines.ts"

/** `tasks`: the sessions that do tasks for it now. */
export type Working = { isWorking: boolean; tasks: readonly Session[]; plan: readonly Todo[] }
export const idle: Working = { isWorking: false, tasks: [], plan: [] }

/** So many messages are read. */
export const maxLoaded = 200
/** Of an answer that is shown afterwards, at most so many characters. */
export const maxAnswer = 40_000
/** Characters of all messages together. */
const maxText = 120_000
/** A prompt or an output is folded; a line about something else is short. */
const maxFolded = 2_000
const short = 100

/** The place of the first message to show, and what to say about the others. The last one is always shown. */
export function firstShown(messages: readonly Message[]): { from: number; leftOut: string | undefined } {
  let from = messages.length
  for (let left = maxText; from > 0 && messages.length - from < maxLoaded; from--) {
    left -= sizeOf(messages[from - 1]!)
    if (left < 0 && from < messages.length) break
  }
  const shown = messages.length - from
  const isAll = !messages[from]?.parentId
  return {
    from,
    leftOut: isAll ? undefined : `only the last ${shown} messages are shown; /export writes all`,
  }
}

function sizeOf({ type, data }: Message): number {
  if (type === "tool_result") return Math.min(maxFolded, String(data.output ?? "").length)
  if (type !== "text") return short
  const length = data.parts.reduce((sum, { text }) => sum + text.length, 0)
  return Math.min(length, data.role === "assistant" ? maxAnswer : maxFolded)
}
