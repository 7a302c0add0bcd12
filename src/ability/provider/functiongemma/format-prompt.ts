// Formats a conversation for FunctionGemma: turns of developer, user and model. Tool results are in the model's own turn,
// after its calls, and the model continues from there. The library adds the start token.
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
} from "@ai-sdk/provider"
import { neutralize, tokens } from "./control-tokens.ts"
import { formatToolDeclarations } from "./format-tool-declarations.ts"
import { checkName, formatFunctionResponse, formatObject } from "./format-value.ts"

/** The model calls functions only if the prompt has this sentence. */
const trigger = "You are a model that can do function calling with the following functions"

export function formatPrompt({
  prompt,
  tools = [],
  toolChoice,
}: Pick<LanguageModelV4CallOptions, "prompt" | "tools" | "toolChoice">): string {
  const first = prompt.findIndex(({ role }) => role !== "system")
  const rules = prompt.slice(0, first < 0 ? prompt.length : first)
  const rest = prompt.slice(rules.length)
  const offered = toolChoice?.type === "none" ? [] : tools.filter((tool) => tool.type === "function")
  let text = developerTurn(rules, offered)
  let isOpen = false
  const close = () => {
    if (isOpen) text += `${tokens.endTurn}\n`
    isOpen = false
  }
  const open = () => {
    if (!isOpen) text += `${tokens.startTurn}model\n`
    isOpen = true
  }
  for (const message of rest) {
    if (message.role === "assistant" || message.role === "tool") {
      open()
      text += message.role === "tool" ? responses(message) : said(message, text)
    } else {
      close()
      text += turn(message.role === "system" ? "developer" : "user", plain(message.content))
    }
  }
  if (rest.at(-1)?.role !== "tool") close()
  open()
  return text
}

function developerTurn(
  rules: LanguageModelV4Message[],
  tools: Pick<LanguageModelV4FunctionTool, "name" | "description" | "inputSchema">[],
): string {
  const words = rules.map(({ content }) => plain(content)).filter(Boolean)
  const declared = tools.length ? `${trigger}${formatToolDeclarations(tools)}` : ""
  const body = [...words, ...(declared ? [declared] : [])].join("\n\n")
  return body ? turn("developer", body) : ""
}

function turn(role: string, body: string): string {
  return `${tokens.startTurn}${role}\n${body}${tokens.endTurn}\n`
}

function plain(content: LanguageModelV4Message["content"]): string {
  if (typeof content === "string") return neutralize(content.trim())
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []))
  return neutralize(texts.join("\n\n").trim())
}

/** Texts are separated, so that the end of one and the start of the next cannot form a control token. */
function said({ content }: Extract<LanguageModelV4Message, { role: "assistant" }>, before: string): string {
  let text = ""
  for (const part of content) {
    if (part.type === "tool-call") text += formatFunctionCall(nameOf(part), argumentsOf(part.input))
    if (part.type !== "text" || !part.text.trim()) continue
    const isAfterText = ![">", "\n"].includes((text || before).at(-1)!)
    text += `${isAfterText ? "\n\n" : ""}${neutralize(part.text.trim())}`
  }
  return text
}

/** Replaces characters that FunctionGemma does not allow in names: another model may have made the calls. */
function nameOf({ toolName }: { toolName: string }): string {
  return toolName.replaceAll(/[^\w.:/@$-]+/g, "_") || "_"
}

/** Arguments that could not be parsed are shown as they came. */
function argumentsOf(input: unknown): object {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? input : { value: input }
}

function responses({ content }: Extract<LanguageModelV4Message, { role: "tool" }>): string {
  return content
    .map((part) =>
      part.type === "tool-result" ? formatFunctionResponse(nameOf(part), resultOf(part.output)) : "",
    )
    .join("")
}

function resultOf(output: LanguageModelV4ToolResultOutput): unknown {
  switch (output.type) {
    case "text":
    case "json":
      return output.value
    case "error-text":
    case "error-json":
      return { error: output.value }
    case "execution-denied":
      return { error: output.reason ?? "not allowed" }
    case "content":
      return output.value.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
  }
}

/** An earlier call, in the form in which the model writes calls. */
export function formatFunctionCall(name: string, args: object): string {
  return `${tokens.startCall}call:${checkName(name)}${formatObject(args)}${tokens.endCall}`
}
