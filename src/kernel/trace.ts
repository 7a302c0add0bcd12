// The traces that the work of an instance belongs to, while telemetry is on. The id of a span follows from its trace and its
// work, so a request or a call can pass on its `traceparent` without asking the exporter.
import { hash } from "node:crypto"
import { Instance } from "./instance.ts"

export type Trace = { id: string; sampled: boolean }
/** A trace of the caller: its id and the span inside it that asks. */
export type Outer = { traceId: string; spanId: string; sampled: boolean }
type Find = (sessionId: string) => Trace | undefined
type Receive = (sessionId: string, outer: Outer | undefined) => void

const state = Instance.state((): { find?: Find; receive?: Receive | undefined } => ({}))
const form = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-.*)?$/

/** Turns traces on: `find` returns the trace of a session whose prompt runs, `receive` gets the caller's trace of the next one. */
export function use(find: Find, receive?: Receive): void {
  Object.assign(state(), { find, receive })
}

/** Called when a prompt begins. If its caller belongs to a trace, the prompt continues it. Ignored while telemetry is off. */
export function receive(sessionId: string, traceparent: string | undefined): void {
  state().receive?.(sessionId, readTraceparent(traceparent))
}

/** Undefined if it is not a header in the form of W3C. */
export function readTraceparent(text: string | undefined): Outer | undefined {
  const [, traceId = "", spanId = "", flags = ""] = form.exec(text?.trim() ?? "") ?? []
  if (!/[^0]/.test(traceId) || !/[^0]/.test(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

export function isOn(): boolean {
  return Instance.isProvided && state().find !== undefined
}

export function of(sessionId: string): Trace | undefined {
  return Instance.isProvided ? state().find?.(sessionId) : undefined
}

/** The W3C header for a request or a call, whose span gets the same id; undefined while telemetry is off. */
export function parentOf(sessionId: string, ...work: string[]): string | undefined {
  const trace = of(sessionId)
  return trace && `00-${trace.id}-${spanId(trace, ...work)}-0${trace.sampled ? 1 : 0}`
}

export function spanId({ id }: Trace, ...work: string[]): string {
  return hash("sha256", [id, ...work].join("\n")).slice(0, 16)
}
