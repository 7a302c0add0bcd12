// Version 0 is the snake_case shape of document 002: `{ "type": "FileReference", "data": { "start_line": 1 } }`, names
// of variants as words or in PascalCase, absent values left out or null, no envelope but what was added by hand.
// Missing fields get defaults; what version 1 does not have is ignored.
import { createId } from "#util/id.ts"
import { fromToolCalls } from "./from-tool-calls.ts"
import { isObject, type Json, type JsonObject } from "./json.ts"
import type { Type } from "./schema.ts"

type Maybe = Json | undefined

/** The same message as version 1. A type that version 0 does not have is left as it is. */
export function fromVersion0(value: JsonObject): JsonObject {
  const type = word(value.type)
  if (!Object.hasOwn(converters, type)) return value
  const time = toTime(pick(value, "time", "timestamp", "created_at"))
  const data = isObject(value.data) ? value.data : value
  return withoutEmpty({
    id: pick(value, "id", "message_id") ?? createId("msg"),
    sessionId: pick(value, "sessionId", "session_id", "context_id") ?? "",
    parentId: pick(value, "parentId", "parent_id"),
    branch: pick(value, "branch", "branch_name"),
    time,
    schema: 1,
    agent: pick(value, "agent", "agent_name"),
    model: pick(value, "model"),
    usage: pick(value, "usage"),
    type,
    data: withoutEmpty(converters[type as keyof typeof converters](data, time)),
  })
}

const converters: Record<Exclude<Type, "unknown">, (data: JsonObject, time: number) => JsonObject> = {
  text(data) {
    const role = word(pick(data, "role") ?? "user")
    const finish = pick(data, "finish") ?? (role === "assistant" ? "stop" : undefined)
    const parts = toParts(pick(data, "parts", "content_parts", "content", "text"))
    return { role, parts, finish, error: pick(data, "error") }
  },

  image(data) {
    const error = pick(data, "error")
    const [recognizedText, visionAnalysis] = [
      pick(data, "recognizedText", "recognized_text"),
      pick(data, "visionAnalysis", "vision_analysis"),
    ]
    const reached = error ? "failed" : (recognizedText ?? visionAnalysis) ? "done" : "pending"
    const state = word(pick(data, "state", "status") ?? reached)
    const used = pick(data, "usedMode", "used_mode", "actual_mode")
    return {
      source: toSource(data),
      mode: word(pick(data, "mode", "recognition_mode") ?? "auto"),
      usedMode: used === undefined ? undefined : word(used),
      state: state === "completed" || state === "success" ? "done" : state,
      recognizedText,
      visionAnalysis,
      metadata: pick(data, "metadata"),
      error: error === undefined ? undefined : toText(error),
    }
  },

  file_reference(data) {
    const range = pick(data, "line_range")
    const [start, end] = Array.isArray(range)
      ? range
      : isObject(range)
        ? [pick(range, "start", "start_line"), pick(range, "end", "end_line")]
        : []
    const content = pick(data, "content", "resolved_content")
    const error = pick(data, "error")
    const reached = error ? "failed" : content === undefined ? "pending" : "resolved"
    return {
      path: pick(data, "path", "file_path") ?? "",
      startLine: pick(data, "startLine", "start_line") ?? start,
      endLine: pick(data, "endLine", "end_line") ?? end,
      status: word(pick(data, "status", "resolution_status") ?? reached),
      content,
      error: error === undefined ? undefined : toText(error),
    }
  },

  tool_request(data) {
    const all = pick(data, "approval", "approval_status")
    const given = pick(data, "calls", "tool_calls")
    const before = Array.isArray(given) ? (given as readonly Json[]).filter(isObject) : []
    const named = before.map((call) => ({ ...call, name: pick(call, "name", "tool_name") }))
    return {
      calls: fromToolCalls(named).calls.map((call, i) => {
        const approval = word(pick(before[i]!, "approval", "approval_status") ?? all ?? "pending")
        return { ...call, approval } as JsonObject
      }),
    }
  },

  tool_result(data, time) {
    const execution = pick(data, "execution_metadata", "metadata")
    const { duration, duration_ms, timestamp, ...metadata } = isObject(execution) ? execution : {}
    const error = pick(data, "error", "error_message")
    const output = pick(data, "output", "content", "result")
    const took = pick(data, "duration", "duration_ms", "execution_time_ms") ?? duration ?? duration_ms
    return {
      requestId: pick(data, "requestId", "request_id", "tool_request_id", "tool_call_id") ?? "",
      toolName: pick(data, "toolName", "tool_name", "name") ?? "",
      status: word(pick(data, "status") ?? (error === undefined ? "success" : "error")),
      output: output ?? null,
      error: error === undefined ? undefined : toError(error, data),
      duration: took ?? 0,
      timestamp: toTime(pick(data, "timestamp") ?? timestamp ?? time),
      metadata: Object.keys(metadata).length ? metadata : undefined,
    }
  },

  system_control(data) {
    const control = pick(data, "control", "control_type")
    const parameters = pick(data, "parameters", "params") ?? {}
    if (!isObject(control)) return { control: word(control), parameters }
    const [name, inner] = Object.entries(control)[0] ?? []
    return { control: word(name), parameters: inner ?? parameters }
  },

  mcp_resource(data, time) {
    return {
      serverName: pick(data, "serverName", "server_name") ?? "",
      resourceUri: pick(data, "resourceUri", "resource_uri", "uri") ?? "",
      content: toText(pick(data, "content") ?? ""),
      mimeType: pick(data, "mimeType", "mime_type"),
      retrievedAt: toTime(pick(data, "retrievedAt", "retrieved_at") ?? time),
    }
  },
}

/** The first of these fields that is there. */
function pick(from: JsonObject, ...names: string[]): Maybe {
  const found = names.find((name) => Object.hasOwn(from, name) && (from[name] ?? undefined) !== undefined)
  return found === undefined ? undefined : from[found]
}

/** `FileReference`, `MCPResource` and `OCR` are `file_reference`, `mcp_resource` and `ocr` here. */
function word(name: Maybe): string {
  return String(name)
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
}

function toParts(content: Maybe): JsonObject[] {
  const list = Array.isArray(content) ? (content as readonly Json[]) : content === undefined ? [] : [content]
  return list.map((part) => {
    if (!isObject(part)) return { type: "text", text: toText(part) }
    const text = toText(pick(part, "text", "content") ?? "")
    const providerMetadata = pick(part, "providerMetadata", "provider_metadata")
    return withoutEmpty({ type: word(pick(part, "type") ?? "text"), text, providerMetadata })
  })
}

/** `{ "Url": "…" }`, `{ "kind": "Url", "value": "…" }`, or the fields `url`, `base64`, `file_path` themselves. */
function toSource(data: JsonObject): JsonObject {
  const given = pick(data, "source", "image_data", "data")
  const from = isObject(given) ? given : data
  const mimeType = pick(from, "mimeType", "mime_type") ?? pick(data, "mimeType", "mime_type")
  const kind = pick(from, "kind", "type")
  if (kind !== undefined) {
    const value = pick(from, "value", "data", "url", "path")
    return withoutEmpty({ kind: toKind(kind), value: value ?? "", mimeType })
  }
  for (const [name, value] of Object.entries(from)) {
    if (!["url", "base64", "file"].includes(toKind(name)) || (value ?? undefined) === undefined) continue
    if (!isObject(value)) return withoutEmpty({ kind: toKind(name), value, mimeType })
    const inner = pick(value, "data", "value", "url", "path")
    return withoutEmpty({
      kind: toKind(name),
      value: inner ?? "",
      mimeType: pick(value, "mime_type") ?? mimeType,
    })
  }
  return { kind: "file", value: "" }
}

function toKind(name: Maybe): string {
  const kind = word(name)
  return kind === "file_path" || kind === "path" ? "file" : kind === "base_64" ? "base64" : kind
}

function toError(error: Json, data: JsonObject): JsonObject {
  const from = isObject(error) ? error : data
  const recoverable = pick(from, "recoverable", "is_recoverable") ?? true
  const message = isObject(error) ? (pick(error, "message") ?? "") : toText(error)
  return withoutEmpty({ message, stack: pick(from, "stack", "stack_trace"), recoverable })
}

/** Milliseconds from a date, from seconds or from milliseconds; 0 for what is none of them. */
function toTime(value: Maybe): number {
  if (typeof value === "number") return value < 1e11 ? value * 1_000 : value
  const time = typeof value === "string" ? Date.parse(value) : 0
  return Number.isNaN(time) ? 0 : time
}

function toText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value)
}

function withoutEmpty(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined))
}
