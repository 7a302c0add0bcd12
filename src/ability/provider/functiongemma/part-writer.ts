// What a model said, as the parts of a stream: text as one part, then its calls.
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { createId } from "#util/id.ts"
import type { OutputPart } from "./parse-function-calls.ts"

/** The id of a call is no number of it: a prompt that was made shorter would begin to count again. */
export function createPartWriter(emit: (part: LanguageModelV4StreamPart) => void) {
  const id = "text"
  let isOpen = false
  let calls = 0

  function text(delta: string): void {
    if (!delta || (!isOpen && !delta.trim())) return
    if (!isOpen) emit({ type: "text-start", id })
    isOpen = true
    emit({ type: "text-delta", id, delta })
  }

  function part(part: OutputPart): void {
    if (part.type === "text") text(part.text)
    else if (part.type === "call") call(part.name, JSON.stringify(part.args))
    else if (part.problem.functionName === undefined) text(part.problem.source)
    // No JSON, so that it can never run; the gate shows it to the model.
    else call(part.problem.functionName, `${part.problem.message} ${part.problem.source}`)
  }

  function call(toolName: string, input: string): void {
    calls++
    emit({ type: "tool-call", toolCallId: createId("functiongemma"), toolName, input })
  }

  /** How many calls there were. */
  function end(): number {
    if (isOpen) emit({ type: "text-end", id })
    return calls
  }

  return Object.freeze({ text, part, end })
}
