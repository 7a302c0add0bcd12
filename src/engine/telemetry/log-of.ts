// The events that become log records. Without `contents` a record has no text that a person, a model or a tool wrote.
import type * as Bus from "#kernel/bus/bus.ts"
import { type Attributes, type severities, shorten } from "./otlp.ts"

type Payload = Readonly<Record<string, unknown>>
type Kind = {
  severity: keyof typeof severities
  name?: string
  body: string
  /** Fields that are no content. */
  fields?: (payload: Payload) => Attributes
  /** The field with text. */
  text?: string
  /** Events that are left out. */
  isIn?: (payload: Payload) => boolean
}
export type LogRecord = {
  severity: keyof typeof severities
  name: string
  body: string
  attributes: Attributes
}

const kinds: Record<string, Kind> = {
  "request.ended": {
    severity: "warn",
    name: "gen_ai.client.operation.exception",
    body: "A request to a model failed.",
    isIn: ({ error }) => error !== undefined,
    fields: ({ error }) => ({ "exception.type": text(error) }),
  },
  "session.error": {
    severity: "error",
    body: "A prompt ended with an error.",
    fields: ({ error }) => ({ "exception.type": text((error as Payload).name) }),
    text: "error",
  },
  "session.retry": {
    severity: "warn",
    body: "A request to a provider failed and will be retried.",
    fields: ({ provider, attempt, wait }) => ({
      "vitamin.provider": text(provider),
      "vitamin.retry.attempt": Number(attempt),
      "vitamin.retry.wait": Number(wait),
    }),
    text: "reason",
  },
  "session.notice": { severity: "info", body: "A notice to the person.", text: "text" },
  "session.compacted": { severity: "info", body: "The history of a session was compacted." },
  "guard.blocked": {
    severity: "warn",
    body: "A guard blocked an action.",
    fields: ({ guard, action }) => ({ "vitamin.guard": text(guard), "vitamin.action": text(action) }),
    text: "reason",
  },
  "permission.requested": {
    severity: "info",
    body: "A person is asked for permission.",
    fields: ({ tool }) => ({ "gen_ai.tool.name": text(tool) }),
    text: "title",
  },
  "permission.replied": {
    severity: "info",
    body: "A question for permission was answered.",
    fields: ({ reply }) => ({ "vitamin.permission.reply": text(reply) }),
  },
  "permission.denied": { severity: "warn", body: "The rules denied a call." },
  "mcp.changed": {
    severity: "warn",
    body: "An MCP server failed.",
    isIn: ({ state }) => state === "failed",
    fields: ({ id }) => ({ "vitamin.mcp.server": text(id) }),
    text: "error",
  },
}

export function logOf(
  { type, payload }: Bus.Event,
  { contents, longest }: { contents: boolean; longest: number },
): LogRecord | undefined {
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined
  const given = payload as Payload
  if (!kind || kind.isIn?.(given) === false) return undefined
  const said = contents && kind.text ? wordsOf(given[kind.text]) : undefined
  return {
    severity: kind.severity,
    name: kind.name ?? `vitamin.${type}`,
    body: said ? shorten(said, longest) : kind.body,
    attributes: { "gen_ai.conversation.id": text(given.sessionId), ...kind.fields?.(given) },
  }
}

function wordsOf(value: unknown): string | undefined {
  return typeof value === "object" ? text((value as { message?: unknown } | null)?.message) : text(value)
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}
