// The records of one signal on their way to the collector: a bounded queue that is sent in batches, in the background. What
// does not fit, or cannot be delivered, is dropped and counted; nothing waits for the collector.
import { setTimeout as sleep } from "node:timers/promises"
import { type Outcome, sendBatch } from "./send-batch.ts"
import type { Limits, Target } from "./settings.ts"

export type Reason = "queue_full" | "export_failed" | "rejected"
export type Queue = Readonly<{
  add(record: string): void
  /** Sends what waits. Resolves when the queue is empty, or at the abort. */
  close(signal: AbortSignal): Promise<void>
}>

/** Characters of all waiting records together. */
const mostCharacters = 16 << 20
const mostAttempts = 5
const firstPause = 1_000
const longestPause = 60_000
const shortPause = 250

export function createQueue(options: {
  target: Target
  limits: Limits
  encode(records: string[]): string
  onDrop(reason: Reason, count: number, why: string): void
}): Queue {
  const { target, limits, encode, onDrop } = options
  const closing = new AbortController()
  const stopped = new AbortController()
  let waiting: string[] = []
  let size = 0
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined

  return Object.freeze({ add, close })

  function add(record: string): void {
    if (waiting.length >= limits.most || size + record.length > mostCharacters) {
      onDrop("queue_full", 1, "the queue is full")
      return
    }
    waiting.push(record)
    size += record.length
    if (waiting.length >= limits.batch) void send()
    else timer ??= setTimeout(send, limits.delay).unref()
  }

  function send(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    sending ??= sendAll().finally(() => {
      sending = undefined
      // A record may have come after the last look at the queue.
      if (waiting.length && !stopped.signal.aborted) timer ??= setTimeout(send, limits.delay).unref()
    })
    return sending
  }

  /** A batch that is being sent still counts as waiting, so that a slow collector cannot hold more than the queue. Records that
   * come meanwhile wait for a full batch or for their time: otherwise each would cost a request. */
  async function sendAll(): Promise<void> {
    for (let due = waiting.length; due > 0 && !stopped.signal.aborted; ) {
      const batch = waiting.slice(0, limits.batch)
      const outcome = await deliver(encode(batch))
      waiting = waiting.slice(batch.length)
      size = waiting.reduce((sum, { length }) => sum + length, 0)
      due = waiting.length >= limits.batch ? limits.batch : due - batch.length
      if (!outcome.isTaken) onDrop("export_failed", batch.length, outcome.reason)
      else if (outcome.rejected)
        onDrop("rejected", Math.min(outcome.rejected, batch.length), outcome.reason ?? "it refused records")
    }
  }

  async function deliver(body: string): Promise<Outcome> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await sendBatch(target, body, stopped.signal)
      if (outcome.isTaken || !outcome.canRetry || attempt >= mostAttempts) return outcome
      const own = firstPause * 2 ** (attempt - 1) * (0.5 + Math.random() / 2)
      const pause = Math.min(outcome.retryAfter ?? own, longestPause)
      // The end of the program waits for no collector, unless it asks for a moment.
      if (closing.signal.aborted && pause > shortPause) return outcome
      await sleep(pause, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  async function close(signal: AbortSignal): Promise<void> {
    closing.abort()
    const stop = () => stopped.abort()
    if (signal.aborted) stop()
    signal.addEventListener("abort", stop, { once: true })
    while (waiting.length && !stopped.signal.aborted) await send()
    if (waiting.length) onDrop("export_failed", waiting.length, "the program ended first")
    waiting = []
    clearTimeout(timer)
  }
}
