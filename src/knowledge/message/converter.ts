// Converts a growing conversation into a prompt: only new messages are converted. The result is frozen, so that
// callers may cache what they derive from it.
import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider"
import type { Info } from "./schema.ts"
import { add, begin, copy, endTurn, type Facts } from "./to-model.ts"

export type Converter = ReturnType<typeof createConverter>

/** For a history whose messages are added and replaced, but not changed in place. */
export function createConverter(model: Facts) {
  let making = begin(model)
  let seen: Info[] = []
  let given: LanguageModelV4Prompt = []
  let held = { making: begin(model), count: 0 }

  /** Returns the same as the plain `toModel`. */
  function toModel(messages: readonly Info[]): LanguageModelV4Prompt {
    goBack(messages)
    for (let i = seen.length; i < messages.length; i++) {
      add(making, messages[i]!)
      seen.push(messages[i]!)
    }
    const prompt = [...making.prompt]
    endTurn(prompt)
    for (let i = 0; i < prompt.length; i++) if (prompt[i] !== given[i]) freeze(prompt[i]!)
    given = prompt
    return [...prompt]
  }

  /** Convert messages that will stay as they are. If other messages follow them the next time, they are not converted
   * again. */
  function hold(messages: readonly Info[]): void {
    toModel(messages)
    for (const message of making.prompt) if (!Object.isFrozen(message)) freeze(message)
    held = { making: copy(making), count: seen.length }
  }

  /** Must be called after messages were changed in place. All are converted again. */
  function reset(): void {
    making = begin(model)
    held = { making: begin(model), count: 0 }
    seen = []
  }

  /** Undo the conversion of messages that are gone. */
  function goBack(messages: readonly Info[]): void {
    const same = sameAtStart(messages)
    if (same === seen.length) return
    if (same < held.count) reset()
    else making = copy(held.making)
    seen = seen.slice(0, held.count)
  }

  // A plain loop, because there are thousands of messages at every turn.
  function sameAtStart(messages: readonly Info[]): number {
    for (let i = 0; i < seen.length; i++) if (seen[i] !== messages[i]) return i
    return seen.length
  }

  return Object.freeze({ toModel, hold, reset })
}

function freeze(message: LanguageModelV4Message) {
  if (message.role !== "system") {
    for (const part of message.content) Object.freeze(part)
    Object.freeze(message.content)
  }
  Object.freeze(message)
}
