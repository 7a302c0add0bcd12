// The answer that is streaming. A delta does not say where in the text it belongs. If deltas may have been missed, only the
// stored part of the message is shown, which the server publishes every second; the finished message replaces it. The view
// changes once per frame, however many deltas come.
import { signal } from "@preact/signals"
import type { Message, MessageDeltaEvent } from "#client/client.ts"

export type Streamed = { id: string; text: string; reasoning: string }

export function createStreamedAnswer() {
  const shown = signal<Streamed | undefined>(undefined)
  let current: Streamed | undefined
  /** Deltas were missed: only what is stored is shown. */
  let isBehind = false
  /** The messages that were read last. An answer to one of them may have begun before the page listened. */
  let read: ReadonlySet<string> = new Set()
  /** The answer that was finished last. Deltas of another server may come after it. */
  let finished: string | undefined
  let frame = 0

  function draw(): void {
    if (frame) return
    frame = requestAnimationFrame(() => {
      frame = 0
      shown.value = current && { ...current }
    })
  }

  function add({ messageId, parentId, kind, text }: MessageDeltaEvent["payload"]): void {
    if (messageId === finished) return
    if (current?.id !== messageId) {
      current = { id: messageId, text: "", reasoning: "" }
      isBehind = read.has(parentId ?? "")
    }
    if (isBehind) return
    if (kind === "text") current.text += text
    else current.reasoning += text
    draw()
  }

  /** A stored message, finished or not. */
  function take(message: Message): void {
    if (message.type !== "text" || message.data.role !== "assistant") return
    if (message.data.finish) {
      finished = message.id
      if (current?.id === message.id) end()
      return
    }
    const stored = partsOf(message)
    if (current?.id === message.id && current.text.startsWith(stored.text) && !isBehind) return
    isBehind = current?.id !== message.id || isBehind || !current.text.startsWith(stored.text)
    current = stored
    draw()
  }

  function end(): void {
    current = undefined
    isBehind = false
    draw()
  }

  /** After messages were read: an answer that is under way continues with what is stored. */
  function reset(messages: readonly Message[], { isWorking }: { isWorking: boolean }): void {
    end()
    read = new Set(messages.map(({ id }) => id))
    const last = messages.at(-1)
    if (last && isWorking) take(last)
  }

  return Object.freeze({ shown, add, take, end, reset })
}

function partsOf(message: Extract<Message, { type: "text" }>): Streamed {
  const join = (type: "text" | "reasoning") =>
    message.data.parts
      .filter((part) => part.type === type)
      .map(({ text }) => text)
      .join("")
  return { id: message.id, text: join("text"), reasoning: join("reasoning") }
}
