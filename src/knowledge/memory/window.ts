// The part of a history that the model is sent: everything, or, after a compaction, its front and the kept messages.
// The objects stay the same from turn to turn, so that cached conversions are found again.
import type * as Message from "#knowledge/message/message.ts"
import { type Compaction, type Cut, compactionOf, frontOf } from "./compaction.ts"
import { shorten } from "./shorten.ts"

/** `start` is the place of the first message that was kept, `end` that of the compaction, -1 without one. */
export type Window = {
  sent: Message.Info[]
  start: number
  end: number
  compaction?: Compaction
}

export function windowOf(messages: readonly Message.Info[]): Window {
  const end = messages.findLastIndex((message) => compactionOf(message) !== undefined)
  if (end < 0) return { sent: messages.filter(isShown), start: 0, end }
  const place = messages[end]!
  const compaction = compactionOf(place)!
  const start = compaction.keptFrom === null ? end : firstOf(messages.slice(0, end), compaction)
  return {
    sent: keptBy(place, messages.slice(start, end)).concat(messages.slice(end + 1).filter(isShown)),
    start,
    end,
    compaction,
  }
}

/** By the message of the compaction. */
const known = new WeakMap<Message.Info, { from: readonly Message.Info[]; sent: Message.Info[] }>()

/** The front of a compaction, `from` the messages that it keeps: the same objects for each prompt. */
function keptBy(place: Message.Info, from: readonly Message.Info[]): Message.Info[] {
  const before = known.get(place)
  if (before?.from.length === from.length && before.from.every((message, i) => message === from[i]))
    return before.sent
  const compaction = compactionOf(place)!
  const front = frontOf(place, compaction)
  const sent = (front ? [front] : []).concat(withCuts(from, compaction))
  known.set(place, { from, sent })
  return sent
}

/** Where the first one is not there any more, all that is left of the history is newer than it. */
function firstOf(messages: readonly Message.Info[], { keptFrom }: Compaction): number {
  return Math.max(
    0,
    messages.findIndex(({ id }) => id === keptFrom),
  )
}

/** The messages as a compaction has them sent. */
export function withCuts(
  messages: readonly Message.Info[],
  { cuts, files }: Pick<Compaction, "cuts" | "files">,
): Message.Info[] {
  const limits = limitsFor(messages, cuts)
  return messages.flatMap((message, i) => {
    if (!isShown(message)) return []
    return limits[i] === Number.POSITIVE_INFINITY ? [message] : [shorten(message, limits[i]!, files)]
  })
}

/** What each of the messages is cut to. */
export function limitsFor(messages: readonly Message.Info[], cuts: readonly Cut[]): number[] {
  const limits = messages.map(() => Number.POSITIVE_INFINITY)
  for (const { before, limit } of cuts) {
    const end = before === null ? messages.length : messages.findIndex(({ id }) => id === before)
    for (let i = 0; i < end; i++) limits[i] = Math.min(limits[i]!, limit)
  }
  return limits
}

/** The window of a history that grows at its end. */
export function createWindow(messages: readonly Message.Info[]) {
  let known = windowOf(messages)
  let seen = messages.length

  function get(): Window {
    const added = messages.slice(seen)
    seen = messages.length
    if (added.some((message) => compactionOf(message))) known = windowOf(messages)
    else for (const message of added) if (isShown(message)) known.sent.push(message)
    return known
  }

  return Object.freeze({ get })
}

function isShown({ type }: Message.Info): boolean {
  return type !== "system_control" && type !== "unknown"
}
