// What a compaction leaves out. Long results are cut first: the older ones to little, the newer ones to what there is
// room for. Where that is not enough, the older turns go, and the newest that fit stay whole.
import type { Cut } from "#knowledge/memory/compaction.ts"
import { shorten } from "#knowledge/memory/shorten.ts"
import { tokensOf } from "#knowledge/memory/tokens-of.ts"
import { turnStarts } from "#knowledge/memory/turn-starts.ts"
import { withCuts } from "#knowledge/memory/window.ts"
import type * as Message from "#knowledge/message/message.ts"

/** `start` is the place of the first message that stays; `tokens` are those of what stays. */
export type Plan = { start: number; cuts: Cut[]; tokens: number }

/** Characters that an older result keeps, and the least that any does. */
const older = 1_000
const least = 200
/** Parts of the room: what is well below it, what the newest turns may have, and the newest results. */
const enough = 0.5
const recent = 0.25
const kept = 0.4

/** Only results are cut. Nothing where that would not save enough. `front`: tokens of what stands before the window. */
export function planCuts(options: {
  messages: readonly Message.Info[]
  start: number
  room: number
  front: number
}): Plan | undefined {
  const { messages, start, room, front } = options
  const shown = messages.slice(start)
  const limit = newestLimit(room)
  const newest = fitting(shown, { limit, tokens: room * recent })
  const before = newest === undefined ? null : shown[newest]!.id
  const cuts = [
    { before, limit: older },
    { before: null, limit },
  ]
  const after = withCuts(shown, { cuts })
  const tokens = sumOf(after)
  const isLess = tokens < sumOf(withCuts(shown, { cuts: [] }))
  return isLess && front + tokens <= room * enough ? { start, cuts, tokens } : undefined
}

/** The newest turns that fit, their results cut as far as it takes. At least the last turn stays, whatever it has. */
export function planKept(options: {
  messages: readonly Message.Info[]
  start: number
  room: number
  /** As much of the newest turns as is wanted, where that is less than there is room for. */
  wanted?: number
}): Plan | undefined {
  const { messages, start, room, wanted } = options
  const shown = messages.slice(start)
  const starts = turnStarts(shown)
  const last = starts.at(-1)?.index
  if (last === undefined) return undefined
  const plan = (index: number, limit: number): Plan => {
    const cuts = [{ before: null, limit }]
    return { start: start + index, cuts, tokens: sumOf(withCuts(shown.slice(index), { cuts })) }
  }
  const newest = newestLimit(room)
  if (wanted !== undefined) {
    // Less than there is room for is wanted: the last exchange stays as it is all the same, if it can.
    const exchange = starts.findLast(({ isPerson }) => isPerson)?.index ?? last
    const first = fitting(shown, { limit: newest, tokens: Math.min(room * kept, wanted) }) ?? last
    const wish = plan(Math.min(first, exchange), newest)
    if (wish.tokens <= room * kept) return wish
  }
  for (let limit = newest; limit >= least; limit = Math.floor(limit / 2)) {
    const first = fitting(shown, { limit, tokens: room * kept })
    if (first !== undefined) return plan(first, limit)
  }
  // Nobody waits for an answer: the last turn can go, too, if it is too much.
  if (wanted !== undefined && plan(last, least).tokens > room * enough)
    return { start: messages.length, cuts: [], tokens: 0 }
  return plan(last, least)
}

/** Of the turns at the end that have no more than so many tokens, the first; one of the person, where that costs little. */
function fitting(
  messages: readonly Message.Info[],
  { limit, tokens }: { limit: number; tokens: number },
): number | undefined {
  const sums: number[] = []
  let sum = 0
  for (let i = messages.length - 1; i >= 0; i--) {
    sum += sum > tokens ? 0 : tokensOf(shorten(messages[i]!, limit))
    sums[i] = sum
  }
  const starts = turnStarts(messages).filter(({ index }) => sums[index]! <= tokens)
  const first = starts[0]
  if (!first) return undefined
  const person = starts.find(({ isPerson }) => isPerson)
  return person && sums[person.index]! * 2 >= sums[first.index]! ? person.index : first.index
}

/** About as many characters as a tenth of the room has. */
function newestLimit(room: number): number {
  return Math.min(50_000, Math.max(older, Math.floor(room * 0.3)))
}

export function sumOf(messages: readonly Message.Info[]): number {
  return messages.reduce((sum, message) => sum + tokensOf(message), 0)
}
