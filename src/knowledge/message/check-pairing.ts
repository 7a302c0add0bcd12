// The rule that providers end a session for: each call is answered once, in the messages right behind it.
import type { LanguageModelV4Prompt } from "@ai-sdk/provider"
import { type Check, type Problem, toCheck } from "./schema.ts"

/** Whether a prompt can be sent. `path` is the place in the prompt, such as `3.content.0`. */
export function checkPairing(prompt: LanguageModelV4Prompt): Check {
  const problems: Problem[] = []
  const used = new Set<string>()
  const open = new Map<string, string>()
  const endOpen = () => {
    for (const [id, path] of open) problems.push({ path, message: `call ${id} has no result` })
    open.clear()
  }
  for (const [i, message] of prompt.entries()) {
    if (message.role !== "tool") endOpen()
    if (message.role === "assistant")
      for (const [j, part] of message.content.entries()) {
        if (part.type !== "tool-call") continue
        const path = `${i}.content.${j}`
        if (used.has(part.toolCallId))
          problems.push({ path, message: `call ${part.toolCallId} is there twice` })
        used.add(part.toolCallId)
        open.set(part.toolCallId, path)
      }
    else if (message.role === "tool")
      for (const [j, part] of message.content.entries())
        if (part.type === "tool-result" && !open.delete(part.toolCallId))
          problems.push({
            path: `${i}.content.${j}`,
            message: `result of ${part.toolCallId} has no open call before it`,
          })
  }
  endOpen()
  return toCheck(problems)
}
