// Converts a history into the prompt of a model, in one pass. Every call gets exactly one result right after it; if
// none was stored, the result says so. The same history gives the same bytes, so that
// providers find it in their caches.
import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider"
import {
  fileParts,
  imageParts,
  inputOf,
  outputOf,
  resourceParts,
  resultText,
  shownName,
  type UserPart,
  unanswered,
} from "./model-parts.ts"
import { assertNever, type Info, type Of, type Part } from "./schema.ts"

/** What a model accepts. `tools: false` turns calls and results into text, `reasoning: false` leaves out reasoning.
 * `imageBytes` finds the stored bytes of images. */
export type Facts = {
  input: readonly string[]
  tools?: boolean
  reasoning?: boolean
  providerId?: string
  imageBytes?: (hash: string) => Uint8Array | undefined
}

type Content<R extends string> = Extract<LanguageModelV4Message, { role: R }>["content"]
/** The position for the result of a call: the message of the prompt, and its part. */
type Slot = { request: Info; name: string; at: number; index: number }
type Making = {
  prompt: LanguageModelV4Prompt
  model: Facts
  open: Map<string, Slot>
  shownIds: Map<string, number>
}

export function toModel(messages: readonly Info[], model: Facts): LanguageModelV4Prompt {
  const making = begin(model)
  for (const message of messages) add(making, message)
  endTurn(making.prompt)
  return making.prompt
}

export function begin(model: Facts): Making {
  return { prompt: [], model, open: new Map(), shownIds: new Map() }
}

/** A copy that can be continued separately. The messages of its prompt must be frozen. */
export function copy({ prompt, model, open, shownIds }: Making): Making {
  return { prompt: [...prompt], model, open: new Map(open), shownIds: new Map(shownIds) }
}

/** Add one more message. Frozen parts of the prompt are replaced, never changed. */
export function add(making: Making, message: Info) {
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

/** Leaves out reasoning of another provider, which is useless to this one, and unfinished reasoning without a
 * signature, which is refused. Blank text is left out too, unless it has metadata of the provider. */
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
    parts.push(part)
    results.push({ type: "tool-result", toolCallId, toolName, output: unanswered(call) })
  }
  addAssistant(making, parts)
  making.prompt.push({ role: "tool", content: results })
  expect(making, message)
}

function addCallsAsText(making: Making, message: Of<"tool_request">) {
  const said: LanguageModelV4TextPart[] = []
  const results: LanguageModelV4TextPart[] = []
  for (const call of message.data.calls) {
    const given = call.invalid ?? JSON.stringify(call.arguments)
    said.push({ type: "text", text: `[called ${call.name} with ${given}]` })
    results.push({ type: "text", text: resultText(call.name, unanswered(call)) })
  }
  addAssistant(making, said)
  addUser(making, results)
  expect(making, message)
}

/** The results of a request are the last parts of the prompt. Some providers number calls anew in each turn: a result
 * belongs to the last call with its id, and is taken once. */
function expect({ open, prompt }: Making, request: Of<"tool_request">) {
  const { calls } = request.data
  const at = prompt.length - 1
  const first = prompt[at]!.content.length - calls.length
  for (const [i, { id, name }] of calls.entries())
    if (open.get(id)?.request !== request) open.set(id, { request, name, at, index: first + i })
}

function addResult({ open, prompt }: Making, { data }: Of<"tool_result">) {
  const slot = open.get(data.requestId)
  if (!slot) return
  open.delete(data.requestId)
  const { role, content } = changeable(prompt, slot.at)
  const output = outputOf(data)
  if (role === "user") content[slot.index] = { type: "text", text: resultText(slot.name, output) }
  if (role === "tool")
    content[slot.index] = { ...(content[slot.index] as LanguageModelV4ToolResultPart), output }
}

function addAssistant({ prompt }: Making, content: Content<"assistant">) {
  if (!content.length) return
  if (prompt.at(-1)?.role !== "assistant") return void prompt.push({ role: "assistant", content })
  const last = changeable(prompt, prompt.length - 1)
  if (last.role === "assistant") last.content.push(...content)
}

function addUser({ prompt }: Making, content: UserPart[]) {
  if (!content.length) return
  endTurn(prompt)
  if (prompt.at(-1)?.role !== "user") return void prompt.push({ role: "user", content })
  const last = changeable(prompt, prompt.length - 1)
  if (last.role === "user") last.content.push(...content)
}

/** The message itself, or a copy that replaces it if it is frozen. */
function changeable(prompt: LanguageModelV4Prompt, at: number): LanguageModelV4Message {
  const message = prompt[at]!
  if (!Object.isFrozen(message) || message.role === "system") return message
  const copy = { ...message, content: [...message.content] } as LanguageModelV4Message
  prompt[at] = copy
  return copy
}

/** Removes a last turn that was cut off while reasoning, because providers refuse reasoning without content. */
export function endTurn(prompt: LanguageModelV4Prompt): void {
  const last = prompt.at(-1)
  if (last?.role === "assistant" && last.content.every(({ type }) => type === "reasoning")) prompt.pop()
}

function isOwnOf({ providerId }: Facts, { model }: Info): boolean {
  return !providerId || !model || model.startsWith(`${providerId}/`)
}

function withOptions<P extends object>(part: P, metadata: Part["providerMetadata"]) {
  return metadata ? { ...part, providerOptions: metadata } : part
}

/** Makes an id unique in the prompt. */
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
