// What a model said, as the parts of a stream: text as one part, then its calls.
import type { LanguageModelV4Prompt, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import type { OutputPart } from "./parse-function-calls.ts"

/** Calls are numbered on from those that the prompt has. */
export function createPartWriter(
  prompt: LanguageModelV4Prompt,
  emit: (part: LanguageModelV4StreamPart) => void,
) {
  const id = "text"
  const before = callsIn(prompt)
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
    emit({ type: "tool-call", toolCallId: `functiongemma_${before + calls}`, toolName, input })
  }

  /** How many calls there were. */
  function end(): number {
    if (isOpen) emit({ type: "text-end", id })
    return calls
  }

  return Object.freeze({ text, part, end })
}

function callsIn(prompt: LanguageModelV4Prompt): number {
  return prompt.reduce((sum, { role, content }) => {
    if (role !== "assistant" || typeof content === "string") return sum
    return sum + content.filter(({ type }) => type === "tool-call").length
  }, 0)
}
