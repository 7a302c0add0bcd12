// The prompts that run, as telemetry sees them: a trace each, or a place in the trace of the prompt that gave the task.
import * as Env from "#kernel/process/env.ts"
import * as Trace from "#kernel/trace.ts"
import type * as Message from "#knowledge/message/message.ts"
import { randomBytes } from "#util/id.ts"
import type { Sampler } from "./sampler.ts"

export type Prompt = {
  sessionId: string
  trace: Trace.Trace
  spanId: string
  parentSpanId: string | undefined
  start: number
  agent?: string
  provider?: string
  model?: string
  usage: { input: number; output: number }
  requests: Map<string, { start: number; provider: string; model: string }>
  calls: Map<string, Call>
  /** Sessions of tasks, with the span of the call that gave them. */
  tasks: Map<string, string>
  input: string[]
  answer?: Message.Info
}
export type Call = { messageId: string; start?: number; arguments?: string }

/** Prompts whose end was never published, such as those of a guest that died, must not pile up. */
const mostOpen = 1_000

export function createPrompts(sampler: Sampler) {
  const open = new Map<string, Prompt>()
  /** The callers' traces of prompts that begin, by session. */
  const callers = new Map<string, Trace.Outer>()
  /** The trace that this process was started in. */
  const ownOuter = Trace.readTraceparent(Env.get("TRACEPARENT"))
  return Object.freeze({ open: openPrompt, find: (id: string) => open.get(id), close, receive })

  /** A prompt without a caller must not take over that of one that failed before it began. */
  function receive(sessionId: string, outer: Trace.Outer | undefined): void {
    if (!outer) callers.delete(sessionId)
    else if (callers.size < mostOpen) callers.set(sessionId, outer)
  }

  function openPrompt(sessionId: string, time = Date.now()): Prompt {
    const known = open.get(sessionId)
    if (known) return known
    const outer = callers.get(sessionId) ?? ownOuter
    callers.delete(sessionId)
    const giver = open.values().find(({ tasks }) => tasks.has(sessionId))
    const prompt: Prompt = {
      sessionId,
      trace: giver?.trace ?? newTrace(outer, sampler),
      spanId: randomBytes(8).toString("hex"),
      parentSpanId: giver ? giver.tasks.get(sessionId) : outer?.spanId,
      start: time,
      usage: { input: 0, output: 0 },
      requests: new Map(),
      calls: new Map(),
      tasks: new Map(),
      input: [],
    }
    const [oldest] = open.keys()
    if (open.size >= mostOpen && oldest !== undefined) open.delete(oldest)
    open.set(sessionId, prompt)
    return prompt
  }

  function close(sessionId: string): Prompt | undefined {
    const prompt = open.get(sessionId)
    open.delete(sessionId)
    for (const { tasks } of open.values()) tasks.delete(sessionId)
    return prompt
  }
}

function newTrace(outer: Trace.Outer | undefined, sampler: Sampler): Trace.Trace {
  const id = outer?.traceId ?? randomBytes(16).toString("hex")
  return { id, sampled: sampler(id, outer) }
}
