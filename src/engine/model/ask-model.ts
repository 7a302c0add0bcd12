// Sends one request to a model and collects the answer. Aborts the request if the model sends nothing for too long, or
// if the prompt is aborted.
import type { LanguageModelV4Usage } from "@ai-sdk/provider"
import * as Provider from "#ability/provider/provider.ts"
import { streamModel } from "#ability/provider/stream-model.ts"
import * as Trace from "#kernel/trace.ts"
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import type { Chosen } from "./choose-model.ts"
import { type Answer, collect } from "./collect.ts"

export class Stalled extends NamedError {
  constructor(seconds: number) {
    super("Session.Stalled", `The model sent nothing for ${seconds} s.`, { seconds })
  }
}

/** `answer` grows as the model answers, also if the request fails. `stall`: milliseconds without any data. */
export async function askModel(options: {
  chosen: Chosen
  request: Omit<Parameters<typeof Provider.transform>[0], "providerId" | "modelId">
  answer: Answer
  signal: AbortSignal
  stall: number
  onText?: (kind: "text" | "reasoning", text: string) => void
}): Promise<void> {
  const { chosen, request, answer, signal, stall, onText = () => {} } = options
  const { providerId, modelId, model } = chosen
  const controller = new AbortController()
  const end = () => controller.abort(signal.reason)
  const timer = setTimeout(() => controller.abort(new Stalled(stall / 1000)), stall)
  // Not AbortSignal.any: its listeners on the signal of a long prompt would pile up turn by turn.
  signal.addEventListener("abort", end, { once: true })
  const { sessionId } = request
  const noted =
    sessionId && Trace.isOn()
      ? (await import("./note-request.ts")).noteRequest({ sessionId, providerId, modelId })
      : undefined
  try {
    const sent = Provider.transform({ providerId, modelId, ...request })
    const reader = await streamModel(model, { ...sent, ...noted?.headers, abortSignal: controller.signal })
    const onPart = (type: string) => {
      timer.refresh()
      noted?.part(type)
    }
    await collect({ reader, answer, signal: controller.signal, onPart, onText })
    noted?.end({ answer, usage: usageOf(answer.usage) })
  } catch (caught) {
    const error = controller.signal.aborted ? controller.signal.reason : caught
    noted?.end({ answer, usage: usageOf(answer.usage), error })
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", end)
  }
}

/** The tokens of an answer, and their cost if the price is known. */
export function usageOf(usage: LanguageModelV4Usage | undefined, facts?: Provider.ModelFacts): Message.Usage {
  const input = usage?.inputTokens.total ?? 0
  const output = usage?.outputTokens.total ?? 0
  const cacheRead = usage?.inputTokens.cacheRead ?? 0
  const cacheWrite = usage?.inputTokens.cacheWrite ?? 0
  const reasoning = usage?.outputTokens.reasoning ?? 0
  const price = facts?.cost
  const plain = Math.max(0, input - cacheRead - cacheWrite)
  const cost = price
    ? (plain * price.input +
        output * price.output +
        cacheRead * (price.cacheRead ?? price.input) +
        cacheWrite * (price.cacheWrite ?? price.input)) /
      1e6
    : undefined
  return {
    input,
    output,
    ...(reasoning ? { reasoning } : {}),
    ...(cacheRead ? { cacheRead } : {}),
    ...(cacheWrite ? { cacheWrite } : {}),
    ...(cost === undefined ? {} : { cost }),
  }
}
