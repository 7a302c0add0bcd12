// Caches the conversion of a conversation's messages for when it comes again with more messages: the cost of a turn
// depends on what is new. Only frozen messages are cached, because they cannot change.
import { isDeepStrictEqual } from "node:util"
import type { LanguageModelV4Message } from "@ai-sdk/provider"

type Messages = readonly LanguageModelV4Message[]
type Kept<T, F> = { form: F; messages: LanguageModelV4Message[]; made: T[] }

/** `add` appends the conversion of one message to the earlier ones, in the format `form`. */
export function createContinued<T, F>(add: (made: T[], message: LanguageModelV4Message, form: F) => void) {
  // By the first message that is frozen; what stands before it, such as a system prompt, is made anew.
  const known = new WeakMap<LanguageModelV4Message, Kept<T, F>>()

  return function continued(messages: Messages, form: F): T[] {
    const start = messages.findIndex((message) => Object.isFrozen(message))
    const head: T[] = []
    for (const message of messages.slice(0, start < 0 ? messages.length : start)) add(head, message, form)
    if (start < 0) return head
    const kept = keptOf(messages, start, form)
    const made = head.concat(kept.made)
    for (let i = start + kept.messages.length; i < messages.length; i++) add(made, messages[i]!, form)
    return made
  }

  function keptOf(messages: Messages, start: number, form: F): Kept<T, F> {
    const first = messages[start]!
    const before = known.get(first)
    const isSame = before && isDeepStrictEqual(before.form, form) && goesOn(before, messages, start)
    const kept = isSame ? before : { form, messages: [], made: [] }
    known.set(first, kept)
    for (let i = start + kept.messages.length; i < messages.length; i++) {
      const message = messages[i]!
      if (!Object.isFrozen(message)) break
      add(kept.made, message, form)
      kept.messages.push(message)
    }
    return kept
  }
}

/** Without a function for each message: there are thousands, at every turn. */
function goesOn({ messages: before }: { messages: Messages }, messages: Messages, start: number): boolean {
  for (let i = 0; i < before.length; i++) if (before[i] !== messages[start + i]) return false
  return true
}
