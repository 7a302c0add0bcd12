// Assembles tool calls from the pieces in which servers send them: with or without an index or an id, the name first or last.
// A call is complete only at the end of the answer: arguments that parse may still be the start of longer ones.
import { randomBytes } from "node:crypto"
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"

export type CallDelta = {
  index?: number | null
  id?: string | null
  function?: { name?: string | null; arguments?: unknown } | null
  /** Sent by Gemini over chat completions. */
  extra_content?: { google?: { thought_signature?: string | null } | null } | null
}
type Call = {
  index: number | undefined
  /** The server's id. Ours differs if two calls have the same one. */
  wireId: string | undefined
  id: string
  name: string
  input: string
  isShown: boolean
  signature: string | undefined
}

export function createCallReader(options: {
  push: (part: LanguageModelV4StreamPart) => void
  providerId: string
}): { take(delta: CallDelta): void; end(): void } {
  const { push, providerId } = options
  const calls: Call[] = []
  const used = new Set<string>()

  function take(delta: CallDelta) {
    const found = find(calls, delta)
    const call = found && !startsAnother(found, delta) ? found : begin(delta)
    const piece = argumentsOf(delta)
    call.wireId ??= word(delta.id)
    call.name ||= word(delta.function?.name) ?? ""
    call.signature ??= delta.extra_content?.google?.thought_signature ?? undefined
    call.input += piece
    // A call is shown once its name is known: from then on its id must not change.
    if (!call.isShown && call.name) show(call)
    else if (call.isShown && piece) push({ type: "tool-input-delta", id: call.id, delta: piece })
  }

  function begin({ index }: CallDelta): Call {
    const call: Call = {
      index: index ?? undefined,
      wireId: undefined,
      id: "",
      name: "",
      input: "",
      isShown: false,
      signature: undefined,
    }
    calls.push(call)
    return call
  }

  function show(call: Call) {
    call.isShown = true
    call.id = call.wireId && !used.has(call.wireId) ? call.wireId : `call_${randomBytes(12).toString("hex")}`
    used.add(call.id)
    push({ type: "tool-input-start", id: call.id, toolName: call.name })
    if (call.input) push({ type: "tool-input-delta", id: call.id, delta: call.input })
  }

  function end() {
    for (const call of inOrder(calls)) {
      if (!call.isShown) show(call)
      const { id, name, input, signature } = call
      push({ type: "tool-input-end", id })
      push({
        type: "tool-call",
        toolCallId: id,
        toolName: name,
        input,
        ...(signature ? { providerMetadata: { [providerId]: { thoughtSignature: signature } } } : {}),
      })
    }
  }

  return Object.freeze({ take, end })
}

/** The call that a piece may continue: by its index, else by its id, else the last one. */
function find(calls: Call[], { index, id, function: said }: CallDelta): Call | undefined {
  const wireId = word(id)
  const named = word(said?.name) !== undefined
  if (typeof index === "number") {
    const same = calls.findLast((call) => call.index === index)
    if (same || named || !wireId) return same
  }
  if (wireId) return calls.findLast((call) => call.wireId === wireId)
  return named ? undefined : calls.at(-1)
}

/** Whether a piece begins another call. Some servers repeat names and ids, others reuse indexes and ids. */
function startsAnother(call: Call, delta: CallDelta): boolean {
  const name = word(delta.function?.name)
  const wireId = word(delta.id)
  if (!name || !call.name) return false
  if (name !== call.name) return true
  const piece = argumentsOf(delta).trimStart()
  const isOther = wireId !== undefined && call.wireId !== undefined && wireId !== call.wireId
  if (isOther && piece.startsWith("{")) return true
  return (piece.startsWith("{") || (isOther && !piece)) && isComplete(call.input)
}

function inOrder(calls: Call[]): Call[] {
  if (calls.some(({ index }) => index === undefined)) return calls
  return calls.toSorted((a, b) => a.index! - b.index!)
}

function argumentsOf({ function: said }: CallDelta): string {
  const given = said?.arguments ?? ""
  return typeof given === "string" ? given : JSON.stringify(given)
}

function isComplete(input: string): boolean {
  try {
    JSON.parse(input)
    return true
  } catch {
    return false
  }
}

function word(text: string | null | undefined): string | undefined {
  return typeof text === "string" && text.trim() ? text : undefined
}
