// Takes one answer of the model: retries transient provider failures, and continues an answer that the output token limit
// cut off. The caller gets one complete answer.
import * as Provider from "#ability/provider/provider.ts"
import { type Answer, collect, Filtered, says } from "#engine/ask/collect.ts"
import { type Fault, withRetry } from "#engine/ask/retry.ts"
import { isTooLong } from "#engine/ask/too-long.ts"
import { usageOf } from "#engine/ask/usage-of.ts"
import { createWatchdog } from "#engine/ask/watchdog.ts"
import { Retry } from "#engine/record/notice.ts"
import { addUsage } from "#engine/record/session-record.ts"
import { type Run, refuseCost } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import type * as Message from "#knowledge/message/message.ts"
import type { createStreamedText } from "./streamed-text.ts"

/** The streaming message, and the functions that follow it. */
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
    answer = { parts: structuredClone(begun?.parts ?? []), calls: [] }
    text.data.parts = answer.parts
    return ask(run, { answer, streamed, begun: begun && partOf(text, begun) })
  }
  const seeing = await seeingOf(run)
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
  const used = usageOf(answer.usage, run.chosen.facts)
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
  const { providerId, modelId, model } = run.chosen
  const watch = createWatchdog(run.signal, run.timing.stall)
  try {
    const system: Message.ModelMessage[] = [{ role: "system", content: run.system }]
    const history = Memory.shortTerm(run.session.id).window()
    // `concat` instead of a spread: a spread copies element by element, and histories are long.
    const prompt = system.concat(run.converter.toModel(begun ? history.concat(begun) : history))
    if (begun) prompt.push({ role: "user", content: [{ type: "text", text: goOn }] })
    const { temperature, maxTokens: maxOutputTokens, metadata } = run.agent
    const wishes = { temperature, maxOutputTokens, reasoning: metadata.reasoning, sessionId: run.session.id }
    const options = Provider.transform({ providerId, modelId, prompt, tools: run.offer.tools, ...wishes })
    const reader = await Provider.stream(model, { ...options, abortSignal: watch.signal })
    await collect({ reader, answer, signal: watch.signal, onPart: watch.seen, onText: streamed.add })
  } catch (error) {
    throw watch.signal.aborted ? watch.signal.reason : error
  } finally {
    streamed.rest()
    watch.stop()
  }
}

async function reportRetry({ session, chosen }: Run, { error, wait, next, limit }: Fault): Promise<void> {
  const { shortFailure } = await import("#engine/ask/request-failed.ts")
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
