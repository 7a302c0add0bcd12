// Redacts secrets before something is sent to an editor, which keeps logs of its own. Events are redacted already;
// older records and files are not. Only text is redacted: a poor password may be a word of the protocol or of a path,
// which editors need unchanged.
import * as Secret from "#kernel/process/secret.ts"

/** Of these everything is words, whatever it is made of. */
const free = new Set(["rawInput", "rawOutput"])
/** `content` is words only in an entry of a plan; elsewhere it has parts. */
const words = new Set(["text", "title", "description", "oldText", "newText", "content"])

export function withoutSecrets<T>(value: T): T {
  const json = JSON.stringify(value)
  return Secret.reveals(json) ? JSON.parse(json, redactWords) : value
}

function redactWords(name: string, value: unknown): unknown {
  if (free.has(name)) return JSON.parse(Secret.redactJson(JSON.stringify(value)))
  return typeof value === "string" && words.has(name) ? Secret.redact(value) : value
}
