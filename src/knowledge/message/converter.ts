// The prompt of a conversation that goes on: only what is new since the last time is converted. What is given out is
// frozen, so that others may keep what they make of it.
import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider"
import type { Info } from "./schema.ts"
import { add, begin, endTurn, type Facts } from "./to-model.ts"

/** Gives what `toModel` would, for a history whose messages are added and replaced, but not changed in place. */
export type Converter = { toModel(messages: readonly Info[]): LanguageModelV4Prompt }

export function createConverter(model: Facts): Converter {
  let making = begin(model)
  let seen: Info[] = []
  let given: LanguageModelV4Prompt = []

  function toModel(messages: readonly Info[]): LanguageModelV4Prompt {
    if (!goesOn(messages)) {
      making = begin(model)
      seen = []
    }
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

  // Without a function for each message: there are thousands, at every turn.
  function goesOn(messages: readonly Info[]): boolean {
    for (let i = 0; i < seen.length; i++) if (seen[i] !== messages[i]) return false
    return true
  }

  return Object.freeze({ toModel })
}

function freeze(message: LanguageModelV4Message) {
  if (message.role !== "system") {
    for (const part of message.content) Object.freeze(part)
    Object.freeze(message.content)
  }
  Object.freeze(message)
}
