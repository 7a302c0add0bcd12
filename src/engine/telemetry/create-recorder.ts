// Turns events into spans and measurements: a prompt (`invoke_agent`) has its requests (`chat`) and calls (`execute_tool`) below
// it, and a call the prompts of its tasks.
import type * as Tool from "#ability/tool/tool.ts"
import { Ended, Started } from "#engine/model/note-request.ts"
import type * as SessionRecord from "#engine/record/session-record.ts"
import type * as Bus from "#kernel/bus/bus.ts"
import * as Trace from "#kernel/trace.ts"
import * as Message from "#knowledge/message/message.ts"
import type { createMetrics } from "./create-metrics.ts"
import { histograms, providerName } from "./names.ts"
import { type Call, createPrompts, type Prompt } from "./open-prompts.ts"
import { type Attributes, encodeSpan, kinds, shorten } from "./otlp.ts"
import type { Settings } from "./settings.ts"

type PayloadOf<D> = D extends Bus.Definition<infer P> ? P : never
type Handlers = Record<string, (payload: never, event: Bus.Event) => void>

export function createRecorder(options: {
  settings: Pick<Settings, "sampler" | "contents" | "longest">
  metrics: ReturnType<typeof createMetrics>
  /** Takes an encoded span. */
  add(span: string): void
}) {
  const { settings, metrics, add } = options
  const prompts = createPrompts(settings.sampler)

  const handlers: Handlers = {
    "session.created"({ sessionId, session: { taskOf } }: PayloadOf<typeof SessionRecord.Created>) {
      const giver = taskOf && prompts.find(taskOf.sessionId)
      if (giver) giver.tasks.set(sessionId, callSpan(giver, taskOf.callId))
    },
    "session.updated"({ session }: PayloadOf<typeof SessionRecord.Updated>, { time }) {
      if (session.status !== "busy" && !prompts.find(session.id)) return
      const prompt = prompts.open(session.id, time)
      prompt.agent = session.agent
    },
    "agent.chosen"({ sessionId, agent }: { sessionId: string; agent: string }) {
      const prompt = prompts.find(sessionId)
      if (prompt) prompt.agent = agent
    },
    [Started.type](payload: PayloadOf<typeof Started>, { time }) {
      const { sessionId, requestId, provider, model } = payload
      const prompt = prompts.open(sessionId, time)
      prompt.requests.set(requestId, { start: time, provider, model })
      Object.assign(prompt, { provider, model })
    },
    [Ended.type](payload: PayloadOf<typeof Ended>) {
      const prompt = prompts.find(payload.sessionId)
      const request = prompt?.requests.get(payload.requestId)
      if (prompt && request) endRequest(prompt, request, payload)
    },
    "tool.started"({ sessionId, messageId, callId }: PayloadOf<typeof Tool.Started>, { time }) {
      const prompt = prompts.find(sessionId)
      if (prompt) callOf(prompt, messageId, callId).start = time
    },
    "message.created"({ sessionId, message }: { sessionId: string; message: Message.Info }, event) {
      const prompt = prompts.find(sessionId)
      if (prompt) readMessage(prompt, message, event.time)
    },
    "session.idle"({ sessionId }: { sessionId: string }, { time }) {
      endPrompt(sessionId, time)
    },
    "session.error"({ sessionId, error }: PayloadOf<typeof SessionRecord.Failed>, { time }) {
      endPrompt(sessionId, time, error.name)
    },
  }
  return Object.freeze({ take, traceOf, spanOf, receive: prompts.receive })

  function take(event: Bus.Event): void {
    if (Object.hasOwn(handlers, event.type)) handlers[event.type]!(event.payload as never, event)
  }

  /** Opens the prompt: a sandbox asks before the first event of its prompt. */
  function traceOf(sessionId: string): Trace.Trace {
    return prompts.open(sessionId).trace
  }

  function spanOf(sessionId: string) {
    const prompt = prompts.find(sessionId)
    return prompt && { traceId: prompt.trace.id, spanId: prompt.spanId, sampled: prompt.trace.sampled }
  }

  function callOf(prompt: Prompt, messageId: string, callId: string): Call {
    const known = prompt.calls.get(callId)
    if (known?.messageId === messageId) return known
    const call = { messageId }
    prompt.calls.set(callId, call)
    return call
  }

  function callSpan(prompt: Prompt, callId: string): string {
    const call = prompt.calls.get(callId)
    return call ? Trace.spanId(prompt.trace, call.messageId, callId) : prompt.spanId
  }

  function readMessage(prompt: Prompt, message: Message.Info, time: number): void {
    if (message.type === "tool_request")
      for (const { id, arguments: given, invalid } of message.data.calls) {
        const call = callOf(prompt, message.id, id)
        if (settings.contents) call.arguments = shortened(invalid ?? JSON.stringify(given))
      }
    if (message.type === "tool_result") endCall(prompt, message, time)
    if (message.type !== "text" || !settings.contents) return
    if (message.data.role === "user") prompt.input.push(shortened(Message.textOf(message)))
    else prompt.answer = message
  }

  function endCall(prompt: Prompt, { data }: Message.Of<"tool_result">, time: number): void {
    const { requestId: id, toolName, status, duration = 0, output } = data
    const call = prompt.calls.get(id)
    if (!call) return
    prompt.calls.delete(id)
    const start = call.start ?? time - duration
    const failed = status === "success" ? {} : { "error.type": status }
    const common = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": toolName, ...failed }
    metrics.record(histograms.tool, duration / 1_000, common)
    addSpan(prompt, {
      spanId: Trace.spanId(prompt.trace, call.messageId, id),
      parentSpanId: prompt.spanId,
      name: `execute_tool ${toolName}`,
      kind: kinds.internal,
      start,
      end: start + duration,
      attributes: {
        ...common,
        "gen_ai.tool.call.id": id,
        "gen_ai.tool.type": "function",
        "gen_ai.conversation.id": prompt.sessionId,
        "gen_ai.tool.call.arguments": call.arguments,
        "gen_ai.tool.call.result": settings.contents
          ? shortened(typeof output === "string" ? output : JSON.stringify(output))
          : undefined,
      },
    })
  }

  function endRequest(
    prompt: Prompt,
    { start, provider, model }: { start: number; provider: string; model: string },
    ended: PayloadOf<typeof Ended>,
  ): void {
    const { requestId, duration, firstChunk, usage, finish, error } = ended
    prompt.requests.delete(requestId)
    const common: Attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": providerName(provider),
      "gen_ai.request.model": model,
      "gen_ai.response.model": ended.model,
    }
    if (usage) {
      prompt.usage.input += usage.input
      prompt.usage.output += usage.output
      metrics.record(histograms.tokens, usage.input, { ...common, "gen_ai.token.type": "input" })
      metrics.record(histograms.tokens, usage.output, { ...common, "gen_ai.token.type": "output" })
    }
    metrics.record(histograms.request, duration / 1_000, { ...common, "error.type": error })
    if (firstChunk !== undefined) metrics.record(histograms.firstChunk, firstChunk / 1_000, common)
    addSpan(prompt, {
      spanId: Trace.spanId(prompt.trace, requestId),
      parentSpanId: prompt.spanId,
      name: `chat ${model}`,
      kind: kinds.client,
      start,
      end: start + duration,
      attributes: {
        ...common,
        "gen_ai.conversation.id": prompt.sessionId,
        "gen_ai.agent.name": prompt.agent,
        "gen_ai.request.stream": true,
        "gen_ai.response.finish_reasons": finish ? [finish] : undefined,
        "gen_ai.response.time_to_first_chunk": firstChunk === undefined ? undefined : firstChunk / 1_000,
        ...usageOf(usage),
        "error.type": error,
      },
    })
  }

  function endPrompt(sessionId: string, time: number, error?: string): void {
    const prompt = prompts.close(sessionId)
    if (!prompt) return
    const { agent, provider, model, usage, spanId, parentSpanId, start, input, answer } = prompt
    const common: Attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": agent,
      "gen_ai.provider.name": provider && providerName(provider),
      "gen_ai.request.model": model,
      "error.type": error,
    }
    metrics.record(histograms.agent, Math.max(0, time - start) / 1_000, common)
    addSpan(prompt, {
      spanId,
      parentSpanId,
      name: agent ? `invoke_agent ${agent}` : "invoke_agent",
      kind: kinds.internal,
      start,
      end: time,
      attributes: {
        ...common,
        "gen_ai.conversation.id": sessionId,
        ...usageOf(usage),
        "gen_ai.input.messages": input.length ? messages("user", input) : undefined,
        "gen_ai.output.messages": answer && messages("assistant", [shortened(Message.textOf(answer))]),
      },
    })
  }

  function addSpan(
    { trace }: Prompt,
    span: Omit<Parameters<typeof encodeSpan>[0], "traceId" | "isError">,
  ): void {
    const isError = span.attributes["error.type"] !== undefined
    if (trace.sampled) add(encodeSpan({ ...span, traceId: trace.id, isError }))
  }

  function shortened(text: string): string {
    return shorten(text, settings.longest)
  }
}

function usageOf(usage: Message.Usage | undefined): Attributes {
  return {
    "gen_ai.usage.input_tokens": usage?.input,
    "gen_ai.usage.output_tokens": usage?.output,
    "gen_ai.usage.cache_read.input_tokens": usage?.cacheRead,
    "gen_ai.usage.cache_creation.input_tokens": usage?.cacheWrite,
    "gen_ai.usage.reasoning.output_tokens": usage?.reasoning,
  }
}

/** In the conventions' form: a list of messages with parts, as JSON. */
function messages(role: string, texts: string[]): string {
  return JSON.stringify(texts.map((content) => ({ role, parts: [{ type: "text", content }] })))
}
