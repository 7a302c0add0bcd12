// A history as a model's prompt, in one pass. Whatever happened to the session, every call has exactly one result
// right behind it: where none was written, one that says so. The same history gives the same bytes, so that
// providers find it in their caches.
import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider"
import { fileParts, imageParts, resourceParts, type UserPart } from "./render.ts"
import { assertNever, type Call, type Info, type Of, type Part } from "./schema.ts"
import { inputOf, outputOf, resultText, shownName, unanswered } from "./tool-parts.ts"

/** What a model takes. `tools: false` turns calls and results into text, `reasoning: false` leaves thoughts out. */
export type Facts = { input: readonly string[]; tools?: boolean; reasoning?: boolean; providerId?: string }

type Content<R extends string> = Extract<LanguageModelV4Message, { role: R }>["content"]
/** Where the result of a call goes, when it comes. */
type Slot = { request: Info; name: string; part: LanguageModelV4ToolResultPart | LanguageModelV4TextPart }
type Making = {
  prompt: LanguageModelV4Prompt
  model: Facts
  open: Map<string, Slot>
  shownIds: Map<string, number>
}

export function toModel(messages: readonly Info[], model: Facts): LanguageModelV4Prompt {
  const making: Making = { prompt: [], model, open: new Map(), shownIds: new Map() }
  for (const message of messages) add(making, message)
  endTurn(making.prompt)
  return making.prompt
}

function add(making: Making, message: Info) {
  switch (message.type) {
    case "text":
      return addText(making, message)
    case "image":
      return addUser(making, imageParts(message.data, making.model))
    case "file_reference":
      return addUser(making, fileParts(message.data))
    case "mcp_resource":
      return addUser(making, resourceParts(message.data, making.model))
    case "tool_request":
      return addCalls(making, message)
    case "tool_result":
      return addResult(making, message)
    case "system_control":
    case "unknown":
      return
    default:
      return assertNever(message)
  }
}

function addText(making: Making, message: Of<"text">) {
  const { role, parts } = message.data
  if (role === "assistant") return addAssistant(making, answerParts(making.model, message))
  const said = parts.filter((part) => part.type === "text" && /\S/.test(part.text))
  if (role === "user")
    return addUser(
      making,
      said.map(({ text, providerMetadata }) => withOptions({ type: "text", text }, providerMetadata)),
    )
  if (!said.length) return
  endTurn(making.prompt)
  making.prompt.push({ role, content: said.map(({ text }) => text).join("\n\n") })
}

/** The thoughts of another provider are worth nothing to this one, and an unfinished one without its signature is
 * refused. Blank text is refused too, unless the provider hung something on it. */
function answerParts(model: Facts, message: Of<"text">): Content<"assistant"> {
  const { finish, parts } = message.data
  const isWhole = finish !== undefined && finish !== "interrupted" && finish !== "error"
  const isOwn = isOwnOf(model, message)
  const content: Content<"assistant"> = []
  for (const { type, text, providerMetadata } of parts) {
    const metadata = isOwn ? providerMetadata : undefined
    if (type === "reasoning" && (model.reasoning === false || !isOwn || !(isWhole || metadata))) continue
    if (metadata || /\S/.test(text)) content.push(withOptions({ type, text }, metadata))
  }
  return content
}

function addCalls(making: Making, message: Of<"tool_request">) {
  const { calls } = message.data
  if (!calls.length) return
  if (making.model.tools === false) return addCallsAsText(making, message)
  const isOwn = isOwnOf(making.model, message)
  const parts: LanguageModelV4ToolCallPart[] = []
  const results: LanguageModelV4ToolResultPart[] = []
  for (const call of calls) {
    const toolCallId = uniqueId(making, call.id)
    const toolName = shownName(call.name)
    const part: LanguageModelV4ToolCallPart = {
      type: "tool-call",
      toolCallId,
      toolName,
      input: inputOf(call),
    }
    if (isOwn && call.providerMetadata) part.providerOptions = call.providerMetadata
    const result = { type: "tool-result" as const, toolCallId, toolName, output: unanswered(call) }
    parts.push(part)
    results.push(result)
    expect(making, call, { request: message, name: call.name, part: result })
  }
  addAssistant(making, parts)
  making.prompt.push({ role: "tool", content: results })
}

function addCallsAsText(making: Making, message: Of<"tool_request">) {
  const said: LanguageModelV4TextPart[] = []
  const results: LanguageModelV4TextPart[] = []
  for (const call of message.data.calls) {
    const given = call.invalid ?? JSON.stringify(call.arguments)
    const part = { type: "text" as const, text: resultText(call.name, unanswered(call)) }
    said.push({ type: "text", text: `[called ${call.name} with ${given}]` })
    results.push(part)
    expect(making, call, { request: message, name: call.name, part })
  }
  addAssistant(making, said)
  addUser(making, results)
}

/** Some providers number calls anew in each turn: a result belongs to the last call with its id, and is taken once. */
function expect({ open }: Making, call: Call, slot: Slot) {
  if (open.get(call.id)?.request !== slot.request) open.set(call.id, slot)
}

function addResult({ open }: Making, { data }: Of<"tool_result">) {
  const slot = open.get(data.requestId)
  if (!slot) return
  open.delete(data.requestId)
  if (slot.part.type === "text") slot.part.text = resultText(slot.name, outputOf(data))
  else slot.part.output = outputOf(data)
}

function addAssistant({ prompt }: Making, content: Content<"assistant">) {
  if (!content.length) return
  const last = prompt.at(-1)
  if (last?.role === "assistant") last.content.push(...content)
  else prompt.push({ role: "assistant", content })
}

function addUser({ prompt }: Making, content: UserPart[]) {
  if (!content.length) return
  endTurn(prompt)
  const last = prompt.at(-1)
  if (last?.role === "user") last.content.push(...content)
  else prompt.push({ role: "user", content })
}

/** A turn that was cut off while thinking said nothing, and thoughts alone are refused. */
function endTurn(prompt: LanguageModelV4Prompt) {
  const last = prompt.at(-1)
  if (last?.role === "assistant" && last.content.every(({ type }) => type === "reasoning")) prompt.pop()
}

function isOwnOf({ providerId }: Facts, { model }: Info): boolean {
  return !providerId || !model || model.startsWith(`${providerId}/`)
}

function withOptions<P extends object>(part: P, metadata: Part["providerMetadata"]) {
  return metadata ? { ...part, providerOptions: metadata } : part
}

/** No id twice in one prompt. */
function uniqueId({ shownIds }: Making, id: string): string {
  const wanted = id || "call"
  let shown = wanted
  for (let n = shownIds.get(wanted) ?? 0; shownIds.has(shown); n++) {
    shown = `${wanted}_${n + 1}`
    shownIds.set(wanted, n + 1)
  }
  shownIds.set(shown, shownIds.get(shown) ?? 0)
  return shown
}
