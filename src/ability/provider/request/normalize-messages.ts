// A conversation as a provider takes it. It may have been held with another one before: call ids, reasoning and system
// messages that were fine there are refused here.
import { createHash } from "node:crypto"
import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider"
import type { Quirks, Wire } from "#ability/provider/reach/providers.ts"
import { insideTag } from "#util/parse/inside-tag.ts"
import { createContinued } from "./continued.ts"

type Target = { wire: Wire; quirks: Quirks }
type Content = Extract<LanguageModelV4Message["content"], unknown[]>[number]

const normalized = createContinued((made: LanguageModelV4Message[], message, target: Target) => {
  const changed = withIds(withoutForeignReasoning(withoutEmpty(message), target), idRule(target))
  if (changed.content.length === 0) return
  if (changed !== message && Object.isFrozen(message)) Object.freeze(changed)
  made.push(changed)
})

export function normalizeMessages(prompt: LanguageModelV4Prompt, target: Target): LanguageModelV4Prompt {
  const { wire, quirks } = target
  const messages = normalized(prompt, { wire, quirks })
  const ordered = wire === "responses" ? messages : systemFirst(messages, wire)
  return quirks.mistral ? bridgeToUser(ordered) : ordered
}

/** Empty text is refused by Anthropic and Gemini; what carries a signature is kept. */
function withoutEmpty(message: LanguageModelV4Message): LanguageModelV4Message {
  return keepParts(message, (part) => {
    if (part.type !== "text" && part.type !== "reasoning") return true
    return part.text.trim() !== "" || (part.providerOptions !== undefined && message.role === "assistant")
  })
}

/** Most chat servers refuse a field that they do not know. */
function withoutForeignReasoning(
  message: LanguageModelV4Message,
  { wire, quirks }: Target,
): LanguageModelV4Message {
  if (wire !== "chat" || quirks.echoReasoning || message.role !== "assistant") return message
  return keepParts(message, (part) => part.type !== "reasoning")
}

/** Only the start of a conversation is the system's, in one message for chat templates; later ones speak as the user. */
function systemFirst(messages: LanguageModelV4Message[], wire: Wire): LanguageModelV4Message[] {
  const found = messages.findIndex(({ role }) => role !== "system")
  const start = found < 0 ? messages.length : found
  for (let i = start; i < messages.length; i++) {
    const message = messages[i]!
    if (message.role === "system") messages[i] = asUser(message)
  }
  if (wire !== "chat" || start < 2) return messages
  const head = messages.slice(0, start).map(({ content }) => content)
  return [{ role: "system", content: head.join("\n\n") }, ...messages.slice(start)]
}

function asUser(message: Extract<LanguageModelV4Message, { role: "system" }>): LanguageModelV4Message {
  return { role: "user", content: [{ type: "text", text: insideTag("system", message.content) }] }
}

const bridge: LanguageModelV4Message = { role: "assistant", content: [{ type: "text", text: "Done." }] }

/** Mistral wants the assistant to speak between a tool's result and the user. */
function bridgeToUser(messages: LanguageModelV4Message[]): LanguageModelV4Message[] {
  return messages.flatMap((message, i) =>
    message.role === "user" && messages[i - 1]?.role === "tool" ? [bridge, message] : message,
  )
}

type IdRule = { valid: RegExp; length: number }

const idRules = {
  mistral: { valid: /^[a-zA-Z0-9]{9}$/, length: 9 },
  messages: { valid: /^[a-zA-Z0-9_-]{1,64}$/, length: 24 },
  others: { valid: /^[\x21-\x7e]{1,40}$/, length: 24 },
}

function idRule({ wire, quirks }: Target): IdRule {
  if (quirks.mistral) return idRules.mistral
  return wire === "messages" ? idRules.messages : idRules.others
}

function withIds(message: LanguageModelV4Message, rule: IdRule): LanguageModelV4Message {
  if (message.role !== "assistant" && message.role !== "tool") return message
  const bad = (part: Content) => "toolCallId" in part && !rule.valid.test(part.toolCallId)
  if (!message.content.some(bad)) return message
  const content = message.content.map((part) =>
    "toolCallId" in part && bad(part) ? { ...part, toolCallId: shortId(part.toolCallId, rule.length) } : part,
  )
  return { ...message, content } as LanguageModelV4Message
}

/** The same for a call and its result, and at every turn. */
function shortId(id: string, length: number): string {
  return createHash("sha256").update(id).digest("hex").slice(0, length)
}

function keepParts(
  message: LanguageModelV4Message,
  keep: (part: Content) => boolean,
): LanguageModelV4Message {
  if (message.role === "system" || message.role === "tool") return message
  const parts: Content[] = message.content
  return parts.every(keep) ? message : ({ ...message, content: parts.filter(keep) } as LanguageModelV4Message)
}
