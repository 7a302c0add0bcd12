// Where Anthropic's prompt cache may break: after the tools, after the system prompt, after the last message. Three of
// the four that a request may carry.
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider"

type Tools = NonNullable<LanguageModelV4CallOptions["tools"]>

export function markCache(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const prompt = [...options.prompt]
  const system = prompt.findLastIndex(({ role }) => role === "system")
  const last = prompt.findLastIndex(({ role }) => role === "user" || role === "tool")
  if (system >= 0) prompt[system] = mark(prompt[system]!)
  if (last >= 0) prompt[last] = markLastPart(prompt[last]!)
  return { ...options, prompt, ...(options.tools ? { tools: markLastTool(options.tools) } : {}) }
}

function markLastTool(tools: Tools): Tools {
  return tools.map((tool, i) => (i === tools.length - 1 && tool.type === "function" ? mark(tool) : tool))
}

/** A conversation grows behind its last part, so that is what the next request finds again. */
function markLastPart(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== "user" && message.role !== "tool") return message
  const content = [...message.content]
  const last = content.pop()
  return last ? ({ ...message, content: [...content, mark(last)] } as LanguageModelV4Message) : message
}

function mark<T extends { providerOptions?: SharedV4ProviderOptions }>(value: T): T {
  const { anthropic, ...others } = value.providerOptions ?? {}
  const marked = { ...anthropic, cacheControl: { type: "ephemeral" } }
  return { ...value, providerOptions: { ...others, anthropic: marked } }
}
