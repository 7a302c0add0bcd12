// Plans what a compaction leaves out. Long results of older steps are cut first; if that is not enough, older turns are
// left out. The newest step, which the model has not answered yet, stays whole if it fits, and otherwise gets the rest
// of the budget.
import { shorten } from "#knowledge/memory/shorten.ts"
import { tokensOf } from "#knowledge/memory/tokens.ts"
import { turnStarts } from "#knowledge/memory/turn-starts.ts"
import { type Cut, limitsFor } from "#knowledge/memory/window.ts"
import type * as Message from "#knowledge/message/message.ts"

/** `start`: index of the first message that stays. `tokens`: the size of what stays, with the newest step cut to fit. */
export type Plan = { start: number; cuts: Cut[]; tokens: number }
type Messages = readonly Message.Info[]

/** In characters: what an older result keeps, the least that any result keeps, and the most that a tool returns. */
const older = 1_000
const least = 200
const longest = 50_000
// Shares of the budget:
/** Cutting results alone is enough if the older messages get below this. */
const enough = 0.5
/** Recent turns, whose results are cut less than those of older ones. */
const recent = 0.25
/** All turns that are kept. */
const kept = 0.4
/** The least that is kept of older turns if the newest step is long. */
const keptOlder = 0.1
/** The kept turns and the newest step, while the summary is not written yet. */
const keptWithNewest = 0.6

/** Cuts results only. Undefined if that would not save enough. `front`: tokens before the window. */
export function planCuts(options: {
  messages: Messages
  start: number
  budget: number
  front: number
}): Plan | undefined {
  const { messages, start, budget, front } = options
  const shown = messages.slice(start)
  const newest = newestStep(shown)
  const limit = recentLimit(budget)
  const first = fitting(shown.slice(0, newest), { limit, tokens: budget * recent }) ?? newest
  // Recent results are cut like older ones before the newest step is cut.
  for (const from of new Set([first, newest])) {
    const cuts = [cutBefore(shown, from, older), cutBefore(shown, newest, limit)]
    const fitted = fitNewest(shown, { cuts, budget: budget - front })
    if (from !== newest && fitted !== cuts) continue
    const tokens = tokensWith(shown, { cuts: fitted })
    if (front + tokensWith(shown, { cuts, end: newest }) <= budget * enough && front + tokens <= budget)
      return { start, cuts, tokens }
  }
  return undefined
}

/** Keeps the newest turns that fit, and at least the last step. */
export function planKept(options: {
  messages: Messages
  start: number
  budget: number
  /** Tokens to keep of the newest turns, if less than the budget. */
  wanted?: number
}): Plan | undefined {
  const { messages, start, budget, wanted } = options
  const shown = messages.slice(start)
  if (!turnStarts(shown).length) return undefined
  const plan = wanted === undefined ? planStep(shown, budget) : planWanted(shown, { budget, wanted })
  return { ...plan, start: start + plan.start }
}

/** If the messages have more than `budget` tokens, adds one more cut: the results of the newest step share what is
 * left. `files`: the folder that a cut names. */
export function fitNewest(
  messages: Messages,
  { cuts, budget, files }: { cuts: Cut[]; budget: number; files?: string },
): Cut[] {
  if (tokensWith(messages, { cuts, files }) <= budget) return cuts
  const cutTo = (limit: number) => [...cuts, { before: null, limit }]
  let [fits, tooLong] = [least, longest]
  while (tooLong - fits > 20) {
    const limit = Math.floor((fits + tooLong) / 2)
    if (tokensWith(messages, { cuts: cutTo(limit), files }) <= budget) fits = limit
    else tooLong = limit
  }
  return cutTo(fits)
}

function planStep(shown: Messages, budget: number): Plan {
  const newest = newestStep(shown)
  const starts = turnStarts(shown)
  const last = (starts.findLast(({ index }) => index <= newest) ?? starts[0]!).index
  const limit = recentLimit(budget)
  const tokens = Math.max(budget * keptOlder, budget * kept - tokensWith(shown.slice(newest), { cuts: [] }))
  const first = Math.min(last, fitting(shown.slice(0, newest), { limit, tokens }) ?? last)
  const stays = shown.slice(first)
  const cuts = [cutBefore(shown, newest, limit)]
  const fitted = fitNewest(stays, { cuts, budget: budget * keptWithNewest })
  return { start: first, cuts, tokens: tokensWith(stays, { cuts: fitted }) }
}

/** For a compaction on request, which keeps less than the budget. */
function planWanted(shown: Messages, { budget, wanted }: { budget: number; wanted: number }): Plan {
  const starts = turnStarts(shown)
  const last = starts.at(-1)!.index
  const plan = (index: number, limit: number): Plan => {
    const cuts = [{ before: null, limit }]
    return { start: index, cuts, tokens: tokensWith(shown.slice(index), { cuts }) }
  }
  const newest = recentLimit(budget)
  // The last exchange still stays whole if it fits.
  const exchange = starts.findLast(({ isPerson }) => isPerson)?.index ?? last
  const first = fitting(shown, { limit: newest, tokens: Math.min(budget * kept, wanted) }) ?? last
  const larger = plan(Math.min(first, exchange), newest)
  if (larger.tokens <= budget * kept) return larger
  for (let limit = newest; limit >= least; limit = Math.floor(limit / 2)) {
    const from = fitting(shown, { limit, tokens: budget * kept })
    if (from !== undefined) return plan(from, limit)
  }
  // The last turn is left out too if it is too large.
  if (plan(last, least).tokens > budget * enough) return { start: shown.length, cuts: [], tokens: 0 }
  return plan(last, least)
}

/** The index of the model's last request with its results, or of the prompt after its last answer. */
function newestStep(messages: Messages): number {
  const last = messages.findLastIndex(
    (message) =>
      message.type === "tool_request" || (message.type === "text" && message.data.role === "assistant"),
  )
  if (messages[last]?.type === "tool_request") return last
  const prompt = messages.findLastIndex((message) => message.type === "text" && message.data.role === "user")
  return Math.max(prompt, last + 1)
}

function cutBefore(messages: Messages, index: number, limit: number): Cut {
  return { before: messages[index]?.id ?? null, limit }
}

/** The index of the earliest turn from which on all turns have at most `tokens` tokens. It is a turn that begins with a
 * prompt of the person if at least half of the tokens stay. */
function fitting(
  messages: Messages,
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

/** About a tenth of the budget, in characters. */
function recentLimit(budget: number): number {
  return Math.min(longest, Math.max(older, Math.floor(budget * 0.3)))
}

/** Tokens of the messages before `end`, with these cuts. */
function tokensWith(
  messages: Messages,
  options: { cuts: readonly Cut[]; end?: number; files?: string | undefined },
): number {
  const { cuts, end = messages.length, files } = options
  const limits = limitsFor(messages, cuts)
  return messages
    .slice(0, end)
    .reduce((sum, message, i) => sum + tokensOf(shorten(message, limits[i]!, files)), 0)
}

export function sumOf(messages: Messages): number {
  return messages.reduce((sum, message) => sum + tokensOf(message), 0)
}
