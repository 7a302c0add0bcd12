// Redacts secrets in updates for an editor, which writes logs of its own. Events are already redacted; older records and
// files are not. Only text is redacted: a weak password may equal a keyword of the protocol or a part of a path, which
// editors need unchanged.
import * as Secret from "#kernel/secret/secret.ts"

/** Fields with arbitrary JSON, which is redacted as a whole. */
const jsonFields = new Set(["rawInput", "rawOutput"])
/** Fields with text. `content` is a string only in plan entries; elsewhere it is an object or a list. */
const textFields = new Set(["text", "title", "description", "oldText", "newText", "content"])

export function withoutSecrets<T>(value: T): T {
  const json = JSON.stringify(value)
  return Secret.reveals(json) ? JSON.parse(json, redactField) : value
}

function redactField(name: string, value: unknown): unknown {
  if (jsonFields.has(name)) return JSON.parse(Secret.redactJson(JSON.stringify(value)))
  return typeof value === "string" && textFields.has(name) ? Secret.redact(value) : value
}
