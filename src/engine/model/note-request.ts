// Publishes the start and the end of a request to a model, for telemetry. Nothing else needs these events, so they are
// published, and this file is loaded, only while it is on.
import { z } from "zod"
import * as Bus from "#kernel/bus/bus.ts"
import * as Trace from "#kernel/trace.ts"
import * as Message from "#knowledge/message/message.ts"
import { about } from "#util/about.ts"
import { createId } from "#util/id.ts"
import type { Answer } from "./collect.ts"

const requestId = about("Id of the request.", z.string())

export const Started = Bus.define(
  "request.started",
  z.object({
    sessionId: z.string(),
    requestId,
    provider: about("Provider that is asked.", z.string()),
    model: about("Model that is asked.", z.string()),
  }),
  { live: true, when: "A request to a model begins. Only while telemetry is on." },
)

export const Ended = Bus.define(
  "request.ended",
  z.object({
    sessionId: z.string(),
    requestId,
    duration: about("Milliseconds that it took.", z.number()),
    firstChunk: about("Milliseconds until the first part of the answer.", z.number().optional()),
    model: about("Model that answered, as the provider names it.", z.string().optional()),
    finish: about("Why the answer ended.", z.string().optional()),
    usage: about("Tokens, if the provider reported them.", Message.Usage.optional()),
    error: about("Status code or name of the error, if it failed.", z.string().optional()),
  }),
  { live: true, when: "A request to a model has ended. Only while telemetry is on." },
)

export function noteRequest(asked: { sessionId: string; providerId: string; modelId: string }) {
  const { sessionId, providerId: provider, modelId: model } = asked
  const requestId = createId("req")
  const start = performance.now()
  let firstChunk: number | undefined
  Bus.publish(Started, { sessionId, requestId, provider, model })
  const traceparent = Trace.parentOf(sessionId, requestId)
  return Object.freeze({ headers: traceparent ? { headers: { traceparent } } : {}, part, end })

  function part(type: string): void {
    if (type !== "stream-start") firstChunk ??= performance.now() - start
  }

  function end({ answer, usage, error }: { answer: Answer; usage: Message.Usage; error?: unknown }): void {
    Bus.publish(Ended, {
      sessionId,
      requestId,
      duration: performance.now() - start,
      ...(firstChunk === undefined ? {} : { firstChunk }),
      ...(answer.model ? { model: answer.model } : {}),
      ...(answer.finish ? { finish: answer.finish } : {}),
      ...(answer.usage ? { usage } : {}),
      ...(error === undefined ? {} : { error: errorType(error) }),
    })
  }
}

function errorType(error: unknown): string {
  const { statusCode, name } = (error ?? {}) as { statusCode?: unknown; name?: unknown }
  if (typeof statusCode === "number" && statusCode >= 300) return String(statusCode)
  return typeof name === "string" && name ? name : "Error"
}
