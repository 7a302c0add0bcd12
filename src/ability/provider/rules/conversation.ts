// A prompt as the rules need it: what is asked now, what was done for it so far, and what was spoken of before.
import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider"
import type { Made } from "./results.ts"
import type { Call } from "./skill.ts"

export type Conversation = { request: string; made: Made[]; subject?: string; calls: number }

/** What a person attached says nothing of what is to be done with it. */
const attached = /^(?:<file path="|<resource server="|\[(?:file |image|text of image))/
/** The sign before the name of one. */
const pointer = /(?<![\w.+\-/\\@:=])@(?=[^\s@])/g

export function readConversation(prompt: LanguageModelV4Prompt): Conversation {
  const start = prompt.findLastIndex(isRequest)
  const results = new Map<string, LanguageModelV4ToolResultPart["output"]>()
  const made: Made[] = []
  let subject: string | undefined
  let calls = 0
  for (const { role, content } of prompt)
    if (role === "tool")
      for (const part of content) if (part.type === "tool-result") results.set(part.toolCallId, part.output)
  for (const [i, message] of prompt.entries()) {
    if (message.role !== "assistant") continue
    for (const part of message.content) {
      if (part.type !== "tool-call") continue
      calls++
      const call: Call = { tool: part.toolName, args: (part.input ?? {}) as Call["args"] }
      if (i > start) made.push({ ...call, ...textOf(results.get(part.toolCallId)) })
      else if (typeof call.args.path === "string" && /^(?:read|write|edit)$/.test(call.tool))
        subject = call.args.path
    }
  }
  return { request: start < 0 ? "" : words(prompt[start]!), made, calls, ...(subject ? { subject } : {}) }
}

/** Later system messages speak as the user, in tags. */
function isRequest(message: LanguageModelV4Message): boolean {
  return message.role === "user" && words(message).trim() !== "" && !words(message).startsWith("<system>")
}

function words({ content }: LanguageModelV4Message): string {
  if (typeof content === "string") return content
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []))
  const said = texts.filter((text) => !attached.test(text))
  const joined = said.join("\n")
  return said.length < texts.length ? joined.replace(pointer, "") : joined
}

function textOf(output: LanguageModelV4ToolResultPart["output"] | undefined): {
  output: string
  isError: boolean
} {
  if (!output) return { output: "there is no result", isError: true }
  switch (output.type) {
    case "text":
    case "error-text":
      return { output: output.value, isError: output.type === "error-text" }
    case "json":
    case "error-json":
      return { output: JSON.stringify(output.value), isError: output.type === "error-json" }
    case "execution-denied":
      return { output: output.reason ?? "it was denied", isError: true }
    default:
      return {
        output: output.value.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"),
        isError: false,
      }
  }
}
