// Adapts the messages of a conversation to a provider. Earlier messages may come from another provider, whose call ids,
// reasoning and system messages this one refuses.
import { createHash } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider"
import type { Quirks, Wire } from "#ability/provider/reach/providers.ts"
import { insideTag } from "#util/parse/inside-tag.ts"

type Messages = readonly LanguageModelV4Message[]
type Kept<T, F> = { form: F; messages: LanguageModelV4Message[]; made: T[] }
type Target = { wire: Wire; quirks: Quirks }
type Content = Extract<LanguageModelV4Message["content"], unknown[]>[number]

const normalized = createIncrementalConverter((made: LanguageModelV4Message[], message, target: Target) => {
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

/** Removes empty text, which Anthropic and Gemini refuse, except parts with a signature. */
function withoutEmpty(message: LanguageModelV4Message): LanguageModelV4Message {
  return keepParts(message, (part) => {
    if (part.type !== "text" && part.type !== "reasoning") return true
    return part.text.trim() !== "" || (part.providerOptions !== undefined && message.role === "assistant")
  })
}

/** Removes reasoning for most chat servers, which refuse fields that they do not know. */
function withoutForeignReasoning(
  message: LanguageModelV4Message,
  { wire, quirks }: Target,
): LanguageModelV4Message {
  if (wire !== "chat" || quirks.echoReasoning || message.role !== "assistant") return message
  return keepParts(message, (part) => part.type !== "reasoning")
}

/** System messages are allowed only at the start; later ones become user messages. For chat templates, those at the
 * start are joined into one. */
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

/** A hash, so that a call and its result get the same id at every turn. */
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

/** Caches the conversion of a conversation for when it comes again with more messages: the cost of a turn depends on what is
 * new. Only frozen messages are cached, because they cannot change. `add` appends the conversion of one message to the
 * earlier ones, in the format `form`. */
export function createIncrementalConverter<T, F>(
  add: (made: T[], message: LanguageModelV4Message, form: F) => void,
) {
  // By the first frozen message. Messages before it, such as a system prompt, are converted every time.
  const known = new WeakMap<LanguageModelV4Message, Kept<T, F>>()

  return function convert(messages: Messages, form: F): T[] {
    const start = messages.findIndex((message) => Object.isFrozen(message))
    const head: T[] = []
    for (const message of messages.slice(0, start < 0 ? messages.length : start)) add(head, message, form)
    if (start < 0) return head
    const kept = keptOf(messages, start, form)
    const made = head.concat(kept.made)
    for (let i = start + kept.messages.length; i < messages.length; i++) add(made, messages[i]!, form)
    return made
  }

  function keptOf(messages: Messages, start: number, form: F): Kept<T, F> {
    const first = messages[start]!
    const before = known.get(first)
    const isSame = before && isDeepStrictEqual(before.form, form) && isContinuation(before, messages, start)
    const kept = isSame ? before : { form, messages: [], made: [] }
    known.set(first, kept)
    for (let i = start + kept.messages.length; i < messages.length; i++) {
      const message = messages[i]!
      if (!Object.isFrozen(message)) break
      add(kept.made, message, form)
      kept.messages.push(message)
    }
    return kept
  }
}

/** Whether the messages begin with the cached ones. A plain loop: there are thousands of messages at every turn. */
function isContinuation(
  { messages: before }: { messages: Messages },
  messages: Messages,
  start: number,
): boolean {
  for (let i = 0; i < before.length; i++) if (before[i] !== messages[start + i]) return false
  return true
}
