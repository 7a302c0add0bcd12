// Takes one answer of the model: publishes its text as it arrives, retries transient provider failures, and continues an
// answer that the output token limit cut off. The caller gets one complete answer.

import { askModel, usageOf } from "#engine/model/ask-model.ts"
import { type Answer, Filtered, says } from "#engine/model/collect.ts"
import { type Fault, isTooLong, withRetry } from "#engine/model/retry.ts"
import { keep } from "#engine/record/append.ts"
import { Retry } from "#engine/record/notice.ts"
import { addUsage } from "#engine/record/session-record.ts"
import { type Run, refuseCost } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"

/** The streaming message, and the functions that publish and store it. */
type Growing = { text: Message.Of<"text">; streamed: ReturnType<typeof createStreamedText> }
export type Taken = Answer & { used: Message.Usage }

/** How often an answer is continued. */
const mostContinuations = 3
const goOn =
  "Your answer reached the limit of output tokens. Continue exactly where it ended, even in the middle of a word. " +
  "Repeat nothing, and say nothing about this."

export async function takeAnswer(run: Run, growing: Growing): Promise<Taken> {
  let answer = await answerTo(run, growing)
  for (let times = 1; times <= mostContinuations && isCut(answer); times++) {
    refuseCost(run)
    const longer = await answerTo(run, growing, answer).catch((error) => {
      // The answer so far and its continuation together do not fit the window.
      if (isTooLong(error)) return undefined
      throw error
    })
    if (!longer) break
    answer = longer
  }
  growing.text.data.parts = answer.parts
  return answer
}

/** Arguments of a call that were cut off cannot be continued: the call fails, and the model reads why. */
function isCut({ finish, calls }: Answer): boolean {
  return finish === "length" && !calls.length
}

/** `begun` is the answer so far, which this one continues. */
async function answerTo(run: Run, growing: Growing, begun?: Taken): Promise<Taken> {
  const { text, streamed } = growing
  let answer: Answer = { parts: [], calls: [] }
  const request = () => {
    answer = { parts: begun ? structuredClone(begun.parts) : [], calls: [] }
    text.data.parts = answer.parts
    return ask(run, { answer, streamed, begun: begun && partOf(text, begun) })
  }
  const seeing = await seeingOf(run)
  const began = performance.now()
  try {
    await withRetry({
      signal: run.signal,
      wait: run.timing.wait,
      attempt: seeing ? () => seeing.withImages(run, request) : request,
      async onRetry(fault) {
        await reportRetry(run, fault)
        await streamed.takeBack()
        for (const part of begun?.parts ?? []) streamed.add(part.type, part.text)
      },
    })
  } catch (error) {
    if (!(error instanceof Filtered && says(answer))) throw error
    // None of its calls runs.
    answer.calls = []
  }
  const duration = Math.round(performance.now() - began)
  const used = { ...usageOf(answer.usage, run.chosen.facts), duration }
  addUsage(run.progress.totals, used)
  return { ...answer, used: begun ? sum(begun.used, used) : used }
}

function partOf(text: Message.Of<"text">, { parts }: Answer): Message.Of<"text"> {
  return { ...text, data: { ...text.data, parts, finish: "length" } }
}

function sum(before: Message.Usage, more: Message.Usage): Message.Usage {
  const all = { ...before, ...more }
  for (const name of Object.keys(all) as (keyof Message.Usage)[])
    all[name] = (before[name] ?? 0) + (more[name] ?? 0)
  return all
}

type Asking = { answer: Answer; streamed: Growing["streamed"]; begun: Message.Info | undefined }

async function ask(run: Run, { answer, streamed, begun }: Asking): Promise<void> {
  const { chosen, signal, agent, offer, session, timing } = run
  const system: Message.ModelMessage[] = [{ role: "system", content: run.system }]
  const history = Memory.shortTerm(session.id).window()
  // `concat` instead of a spread: a spread copies element by element, and histories are long.
  const prompt = system.concat(run.converter.toModel(begun ? history.concat(begun) : history))
  if (begun) prompt.push({ role: "user", content: [{ type: "text", text: goOn }] })
  const { temperature, maxTokens: maxOutputTokens, metadata } = agent
  const settings = { temperature, maxOutputTokens, reasoning: metadata.reasoning, sessionId: session.id }
  const request = { prompt, tools: offer.tools, ...settings, ...formatOf(run) }
  try {
    await askModel({ chosen, request, answer, signal, stall: timing.stall, onText: streamed.add })
  } finally {
    streamed.rest()
  }
}

function formatOf({ outputSchema }: Run) {
  return outputSchema ? { responseFormat: { type: "json" as const, schema: outputSchema } } : {}
}

async function reportRetry({ session, chosen }: Run, { error, wait, next, limit }: Fault): Promise<void> {
  const { shortFailure } = await import("#engine/model/request-failed.ts")
  Bus.publish(Retry, {
    sessionId: session.id,
    provider: chosen.providerId,
    reason: shortFailure(error),
    wait,
    attempt: next,
    attempts: limit,
  })
}

/** Most sessions have no images. Each message is checked once. */
export async function seeingOf(run: Run) {
  const { history } = run.progress
  run.progress.images ??= { seen: 0, found: false }
  const { images } = run.progress
  while (!images.found && images.seen < history.length)
    images.found = history[images.seen++]!.type === "image"
  return images.found ? await import("#engine/attach/see-images.ts") : undefined
}

/** The text of a streaming answer: published as it arrives, stored about once a second, and withdrawn if the stream breaks
 * and the request is retried. */
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

  /** The text of one tick becomes one event. If its end may be the start of a secret, that end waits for more text: the
   * bus redacts each event alone. */
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

  /** A request has ended: publishes the rest of its text. */
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
