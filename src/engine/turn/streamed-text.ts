// The text of a streaming answer: published as it arrives, stored about once a second, and withdrawn if the stream breaks
// and the request is retried.

import { keep } from "#engine/record/append.ts"
import type { Run } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Secret from "#kernel/process/secret.ts"
import * as Storage from "#kernel/storage/storage.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"

export function createStreamedText(run: Run, message: Message.Of<"text">) {
  const { sessionId, id: messageId, parentId } = message
  let kind: "text" | "reasoning" = "text"
  let waiting = ""
  let soon: NodeJS.Immediate | undefined
  let later: NodeJS.Timeout | undefined
  let isShown = false
  let isKept = false
  return Object.freeze({ add, rest, takeBack, forget })

  function add(next: "text" | "reasoning", delta: string): void {
    if (next !== kind) flush({ isEnd: true })
    kind = next
    waiting += delta
    soon ??= setImmediate(flush, { isEnd: false })
  }

  /** The text of one tick becomes one event. An end that may begin a secret waits for more: the bus redacts each event
   * alone. */
  function flush({ isEnd }: { isEnd: boolean }): void {
    clearImmediate(soon)
    soon = undefined
    const upTo = isEnd ? waiting.length : Secret.splitAt(waiting)
    if (upTo === 0) return
    Bus.publish(MessageStore.Delta, { sessionId, messageId, parentId, kind, text: waiting.slice(0, upTo) })
    waiting = waiting.slice(upTo)
    isShown = true
    later ??= setTimeout(store, run.timing.keepEvery)
  }

  function store(): Promise<void> {
    later = undefined
    isKept = true
    const written = MessageStore.write(message)
    keep(run.progress.records, written)
    return written
  }

  /** Nothing more comes for now. */
  function rest(): void {
    flush({ isEnd: true })
    clearTimeout(later)
    later = undefined
  }

  /** Tells clients that the message is empty again, before new text arrives. */
  async function takeBack(): Promise<void> {
    message.data.parts = []
    if (!isShown) return
    isShown = false
    // `settle` throws the error of a failed write.
    if (isKept) await store().catch(() => {})
    else Bus.publish(MessageStore.Updated, { sessionId, message: structuredClone(message) })
  }

  /** Withdraw the message: it is not part of the history. */
  function forget(): void {
    if (isKept) keep(run.progress.records, Storage.remove(["message", sessionId, messageId]))
  }
}
