// Short-term memory: the messages on the active branch, the part that the model is sent, and its size. Nothing is
// counted twice: the cost of a turn depends on what is new, not on the length of the session.
import type * as Message from "#knowledge/message/message.ts"
import { charactersOf, tokensOf } from "./tokens.ts"
import { turnStarts } from "./turn-starts.ts"
import { createWindow } from "./window.ts"

export type ShortTerm = ReturnType<typeof createShortTerm>
/** `fixed`: tokens beside the messages. `model`: the model whose counts are used, as `provider/model`. */
export type Counting = { fixed?: number; model?: string }

/** No text has more characters per token. A count that is lower leaves out cached tokens, as some servers do. */
const mostCharacters = 6

export function createShortTerm() {
  let list: Message.Info[] = []
  let sent = createWindow(list)
  let count = beginCount()

  /** All messages, the oldest first. The list is live: messages that are pushed to it become part of the memory. */
  function messages(): Message.Info[] {
    return list
  }

  /** Starts again without messages. */
  function begin(): Message.Info[] {
    list = []
    sent = createWindow(list)
    count = beginCount()
    return list
  }

  /** Must be called after messages of the list were replaced. */
  function renew(): void {
    sent = createWindow(list)
    count = beginCount()
  }

  function append(message: Message.Info): void {
    list.push(message)
  }

  /** The messages that the model is sent. With a limit only the last ones, by number or by tokens, without cutting a
   * turn in two. */
  function window(limit?: number | { tokens: number }): readonly Message.Info[] {
    const all = sent.get().sent
    if (limit === undefined) return all
    const first = typeof limit === "number" ? all.length - limit : firstWithin(all, limit.tokens)
    const start = turnStarts(all).find(({ index }) => index >= first)
    return start ? all.slice(start.index) : []
  }

  /** Tokens of a request with the window: what the provider counted at the last answer, and what came since. */
  function tokenCount({ fixed = 0, model }: Counting = {}): number {
    const { end, sent: all } = sent.get()
    if (count.list !== all || count.model !== model) count = { ...beginCount(), list: all, model }
    const added = all.slice(count.seen)
    // Counts from before the compaction belong to another window.
    const valid = added.findLastIndex((message) => isCounted(message, model) && !isOlder(message, end))
    if (valid >= 0) {
      const { input, output } = added[valid]!.usage!
      Object.assign(count, { base: input + output, since: 0 })
    }
    count.since += sumOf(added.slice(valid + 1))
    for (const message of added) count.characters += charactersOf(message)
    count.seen = all.length
    const least = fixed / 2 + count.characters / mostCharacters
    return Math.ceil(Math.max((count.base ?? fixed) + count.since, least))
  }

  /** Whether what would be sent is more than `limit` tokens. */
  function shouldSummarize({ limit, ...counting }: Counting & { limit: number }): boolean {
    return tokenCount(counting) > limit
  }

  /** Whether a message of the window is before the compaction in the history. */
  function isOlder(message: Message.Info, end: number): boolean {
    return end >= 0 && list.lastIndexOf(message) < end
  }

  return Object.freeze({
    append,
    messages,
    window,
    tokenCount,
    shouldSummarize,
    begin,
    renew,
    shown: () => sent.get(),
  })
}

type Count = {
  list?: Message.Info[]
  model: string | undefined
  seen: number
  base?: number
  since: number
  characters: number
}

function beginCount(): Count {
  return { model: undefined, seen: 0, since: 0, characters: 0 }
}

function isCounted(message: Message.Info, model: string | undefined): boolean {
  if (message.type !== "text" && message.type !== "tool_request") return false
  return (message.usage?.input ?? 0) > 0 && (model === undefined || message.model === model)
}

/** The index of the first of the last messages that together have at most `tokens` tokens. */
function firstWithin(messages: readonly Message.Info[], tokens: number): number {
  let sum = 0
  const last = messages.findLastIndex((message) => {
    sum += tokensOf(message)
    return sum > tokens
  })
  return last + 1
}

function sumOf(messages: readonly Message.Info[]): number {
  return messages.reduce((sum, message) => sum + tokensOf(message), 0)
}
