// Reads a prompt for the rules: the current request, the calls that were made for it, and the file of earlier requests.
import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider"
import { opening } from "#knowledge/memory/window.ts"
import type { Call, Result } from "./skill/proposal.ts"

export type Conversation = {
  request: string
  /** The text of its images. */
  texts: string[]
  made: Result[]
  subject?: string
  calls: number
}

/** Texts of attachments and of commands that the person ran, which contain no request. */
const attached =
  /^(?:<file path="|<resource server="|\[(?:file |image|text of image|what a model said of image)|I ran this command in the project:[^\n]*\n<command>\n)/
const readInImage = /^\[text of image/
/** Attachments, and summaries that replace earlier messages. */
const isContext = (text: string) => attached.test(text) || text.startsWith(opening)
/** The sign before the name of an attachment. */
const pointer = /(?<![\w.+\-/\\@:=])@(?=[^\s@])/g

export function readConversation(prompt: LanguageModelV4Prompt): Conversation {
  const start = prompt.findLastIndex(isRequest)
  const results = new Map<string, LanguageModelV4ToolResultPart["output"]>()
  const made: Result[] = []
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
  const asked = prompt[start]
  return {
    request: asked ? words(asked) : "",
    texts: asked ? imageTexts(asked) : [],
    made,
    calls,
    ...(subject ? { subject } : {}),
  }
}

/** False for a later system message, which is a user message with tags here. */
function isRequest(message: LanguageModelV4Message): boolean {
  if (message.role !== "user" || words(message).startsWith("<system>")) return false
  return words(message).trim() !== "" || imageTexts(message).length > 0
}

function imageTexts(message: LanguageModelV4Message): string[] {
  return textsOf(message).filter((text) => readInImage.test(text))
}

function words(message: LanguageModelV4Message): string {
  if (typeof message.content === "string") return message.content
  const texts = textsOf(message)
  const said = texts.filter((text) => !isContext(text))
  const joined = said.join("\n")
  return said.length < texts.length ? joined.replace(pointer, "") : joined
}

function textsOf({ content }: LanguageModelV4Message): string[] {
  return typeof content === "string"
    ? []
    : content.flatMap((part) => (part.type === "text" ? [part.text] : []))
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
