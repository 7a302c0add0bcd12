// OTLP in JSON, as its protobuf mapping asks: ids in lower-case hex, 64-bit integers as strings, enums as numbers.
import * as Secret from "#kernel/secret/secret.ts"
import { version } from "#util/version.ts"
import type { Signal } from "./settings.ts"

type Value = string | number | boolean | string[] | undefined
export type Attributes = Record<string, Value>
/** Numbers of the kinds that we use. */
export const kinds = { internal: 1, client: 3 }
export const severities = { debug: 5, info: 9, warn: 13, error: 17 }

/** A number that is to be sent as a double, also if it is whole. */
const doubles = new Set(["gen_ai.response.time_to_first_chunk"])

export function encodeSpan(span: {
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  name: string
  kind: number
  /** Milliseconds since 1970. */
  start: number
  end: number
  attributes: Attributes
  isError: boolean
}): string {
  const { traceId, spanId, parentSpanId, name, kind, start, end, attributes, isError } = span
  return withoutSecrets((text) => ({
    traceId,
    spanId,
    ...(parentSpanId ? { parentSpanId } : {}),
    flags: 1,
    name: text(name),
    kind,
    startTimeUnixNano: nano(start),
    endTimeUnixNano: nano(Math.max(start, end)),
    attributes: encodeAttributes(attributes, text),
    status: isError ? { code: 2 } : {},
  }))
}

export function encodeLog(log: {
  time: number
  severity: keyof typeof severities
  name: string
  body: string
  attributes: Attributes
  trace?: { traceId: string; spanId: string; sampled: boolean } | undefined
}): string {
  const { time, severity, name, body, attributes, trace } = log
  return withoutSecrets((text) => ({
    timeUnixNano: nano(time),
    observedTimeUnixNano: nano(Date.now()),
    severityNumber: severities[severity],
    severityText: severity.toUpperCase(),
    eventName: name,
    body: { stringValue: text(body) },
    attributes: encodeAttributes(attributes, text),
    ...(trace ? { traceId: trace.traceId, spanId: trace.spanId, flags: trace.sampled ? 1 : 0 } : {}),
  }))
}

type Text = (value: string) => string

/** The JSON of a record. If it has a secret, it is made again with each text redacted alone: a short secret must not change
 * an id or a time. */
export function withoutSecrets(make: (text: Text) => object): string {
  const json = JSON.stringify(make((value) => value))
  return Secret.redactForAll(json) === json ? json : JSON.stringify(make(Secret.redactForAll))
}

/** The first characters of a text. Redacted before the cut, which would leave the start of a secret. */
export function shorten(text: string, length: number): string {
  return text.length > length ? `${Secret.redactForAll(text).slice(0, length)}…` : text
}

export function encodeAttributes(attributes: Attributes, text: Text): object[] {
  const encoded: object[] = []
  for (const key in attributes) {
    const value = attributes[key]
    if (value !== undefined) encoded.push({ key, value: encodeValue(key, value, text) })
  }
  return encoded
}

function encodeValue(key: string, value: NonNullable<Value>, text: Text): object {
  if (typeof value === "string") return { stringValue: text(value) }
  if (typeof value === "boolean") return { boolValue: value }
  if (Array.isArray(value))
    return { arrayValue: { values: value.map((one) => ({ stringValue: text(one) })) } }
  return Number.isSafeInteger(value) && !doubles.has(key)
    ? { intValue: String(value) }
    : { doubleValue: value }
}

/** The body of a request: records that are encoded already, inside their resource. */
export function encodeBatch(signal: Signal, resource: Attributes, records: readonly string[]): string {
  const head = withoutSecrets((text) => ({ attributes: encodeAttributes(resource, text) }))
  const scope = JSON.stringify({ name: "vitamin", version })
  const [outer, inner, name] = {
    traces: ["resourceSpans", "scopeSpans", "spans"],
    metrics: ["resourceMetrics", "scopeMetrics", "metrics"],
    logs: ["resourceLogs", "scopeLogs", "logRecords"],
  }[signal]
  return `{"${outer}":[{"resource":${head},"${inner}":[{"scope":${scope},"${name}":[${records.join(",")}]}]}]}`
}

export function nano(milliseconds: number): string {
  const micros = Math.max(0, Math.round(milliseconds * 1_000))
  return `${micros}000`
}
