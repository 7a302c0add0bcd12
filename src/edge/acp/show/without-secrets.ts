// The last look before something leaves for an editor, which keeps logs of its own. Events have had theirs; records of
// earlier times and files have not. Only words are looked at: a poor password may be a word of the protocol, or of the
// path of a folder, and what an editor does with those must go on.
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
