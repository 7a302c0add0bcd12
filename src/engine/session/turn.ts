// One turn: the history goes to the model, its answer comes back as parts and calls and is kept.
import * as ImageStore from "#ability/image/image-store.ts"
import * as Provider from "#ability/provider/provider.ts"
import * as Bus from "#kernel/bus.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import * as Message from "#knowledge/message/message.ts"
import { type Answer, collect } from "./collect.ts"
import { makeRoom } from "./make-room.ts"
import { Notice, Retry } from "./notice.ts"
import { type Fault, withRetry } from "./retry.ts"
import { append, lastId, type Run, throwIfLost } from "./run.ts"
import { addUsage } from "./session-record.ts"
import { createStreamedText } from "./streamed-text.ts"
import { isTooLong } from "./too-long.ts"
import { usageOf } from "./usage-of.ts"
import { createWatchdog } from "./watchdog.ts"

type Text = Message.Of<"text">
type Request = Message.Of<"tool_request">
type Streamed = ReturnType<typeof createStreamedText>
export type Turn = { answer: Message.Info; request?: Request }

/** By then a request has a small part of what was sent first. */
const mostRefusals = 6

/** A request that is too long for the model, whatever was known of its window, is made shorter until it is taken. */
export async function runTurn(run: Run): Promise<Turn> {
  throwIfLost(run.records)
  await makeRoom(run)
  for (let refusals = 1; ; refusals++)
    try {
      return await takeTurn(run)
    } catch (error) {
      if (run.signal.aborted) throw error
      if (!isTooLong(error)) throw await explained(run, error)
      if (refusals > mostRefusals) throw await tooLong(run, error)
      await makeRoom(run, { error })
    }
}

async function tooLong(run: Run, cause: unknown): Promise<Error> {
  const { refuseFull } = await import("./name-largest.ts")
  return refuseFull({ ...run.room!, sent: windowOf(run) }, cause)
}

async function explained({ chosen }: Run, error: unknown): Promise<unknown> {
  const { explainFailure } = await import("./request-failed.ts")
  return explainFailure(error, chosen)
}

async function takeTurn(run: Run): Promise<Turn> {
  const text = Message.make({ ...base(run), type: "text", data: { role: "assistant", parts: [] } })
  const streamed = createStreamedText(run, text)
  let answer: Answer = { parts: [], calls: [] }
  const request = () => {
    answer = { parts: [], calls: [] }
    text.data.parts = answer.parts
    return ask(run, answer, streamed)
  }
  try {
    const seeing = await seeingOf(run)
    await withRetry({
      signal: run.signal,
      wait: run.timing.wait,
      attempt: seeing ? () => seeing.withImages(run, request) : request,
      onRetry: async (fault) => {
        await reportRetry(run, fault)
        await streamed.takeBack()
      },
    })
  } catch (error) {
    keepCutOff(run, { text, streamed, error })
    throw error
  }
  return await keepAnswer(run, { text, streamed, answer })
}

async function ask(run: Run, answer: Answer, streamed: Streamed): Promise<void> {
  const { providerId, modelId, model, facts } = run.chosen
  const watch = createWatchdog(run.signal, run.timing.stall)
  try {
    run.converter ??= Message.createConverter({
      input: facts?.input ?? ["text"],
      providerId,
      imageBytes: (hash) => ImageStore.read(run.session.id, hash),
    })
    const system: Message.ModelMessage[] = [{ role: "system", content: run.system }]
    // A spread behind something else is a loop, and histories are long.
    const prompt = system.concat(run.converter.toModel(windowOf(run)))
    const { temperature, maxTokens: maxOutputTokens, metadata } = run.agent
    const wishes = { temperature, maxOutputTokens, reasoning: metadata.reasoning, sessionId: run.session.id }
    const options = Provider.transform({ providerId, modelId, prompt, tools: run.tools, ...wishes })
    const { stream } = await model.doStream({ ...options, abortSignal: watch.signal })
    await collect({ stream, answer, signal: watch.signal, onPart: watch.seen, onText: streamed.add })
  } catch (error) {
    throw watch.signal.aborted ? watch.signal.reason : error
  } finally {
    streamed.rest()
    watch.stop()
  }
}

/** An answer that is whole: its text, then its calls. Usage stands on the last of them. */
async function keepAnswer(
  run: Run,
  { text, streamed, answer }: { text: Text; streamed: Streamed; answer: Answer },
): Promise<Turn> {
  const usage = usageOf(answer.usage, run.chosen.facts)
  addUsage(run.totals, usage)
  const { parts, calls, finish = "other" } = answer
  Object.assign(text.data, { parts, finish })
  const seeing = await seeingOf(run)
  seeing?.noteSeen(run, parts)
  if (finish === "length") reportCut(run, text.id)
  if (!calls.length) {
    const message = { ...text, usage }
    append(run, message)
    return { answer: message }
  }
  if (parts.length) append(run, text)
  else streamed.forget()
  const real = run.more ? (await import("./more-tools.ts")).realCalls(run, calls) : calls
  const request = Message.make({ ...base(run), usage, type: "tool_request", data: requestOf(real) })
  await run.permits.judge(request)
  append(run, request)
  return { answer: request, request }
}

async function reportRetry({ session, chosen }: Run, { error, wait, next, limit }: Fault): Promise<void> {
  const { shortFailure } = await import("./request-failed.ts")
  Bus.publish(Retry, {
    sessionId: session.id,
    provider: chosen.providerId,
    reason: shortFailure(error),
    wait,
    attempt: next,
    attempts: limit,
  })
}

/** A cut answer reads like a complete one, so the person is told. */
function reportCut({ session }: Run, messageId: string): void {
  const text = "the answer was cut off at the model's limit of output tokens; it is not complete"
  Bus.publish(Notice, { sessionId: session.id, messageId, text })
}

/** Most sessions have no images. A message that was looked at once stays what it is. */
async function seeingOf(run: Run) {
  const { history } = run
  run.images ??= { seen: 0, found: false }
  const { images } = run
  while (!images.found && images.seen < history.length)
    images.found = history[images.seen++]!.type === "image"
  return images.found ? await import("./see-images.ts") : undefined
}

function requestOf(calls: Answer["calls"]): Request["data"] {
  return Message.fromToolCalls(
    calls.map(({ id, name, input, providerMetadata }) => ({
      id,
      type: "function",
      function: { name, arguments: input },
      providerMetadata,
    })),
  )
}

/** What had come of an answer that will not be finished. A call that had begun is not in it, and never runs. */
function keepCutOff(
  run: Run,
  { text, streamed, error }: { text: Text; streamed: Streamed; error: unknown },
): void {
  text.data.parts = text.data.parts.filter((part) => part.text)
  if (!text.data.parts.length) {
    streamed.forget()
    return
  }
  text.data.finish = run.signal.aborted ? "interrupted" : "error"
  if (!run.signal.aborted && error instanceof Error)
    text.data.error = { name: error.name, message: error.message }
  append(run, text)
}

/** What of the history the model is sent. */
function windowOf({ session }: Run): readonly Message.Info[] {
  return Memory.shortTerm(session.id).window()
}

function base(run: Run) {
  const { id: sessionId, branch, agent } = run.session
  const model = `${run.chosen.providerId}/${run.chosen.modelId}`
  return { sessionId, parentId: lastId(run), branch, agent, model }
}
