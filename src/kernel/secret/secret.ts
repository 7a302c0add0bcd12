// The known secrets, and their redaction in text: by value, plain, JSON-escaped or in URL encoding. Never by pattern: text that
// only looks like a secret must pass unchanged. Values shorter than eight characters would match ordinary words and are
// not redacted.
import { AsyncLocalStorage } from "node:async_hooks"
import { copyJson } from "#util/parse/copy-json.ts"
import { createFinder, type Finder, type Found } from "./find-secrets.ts"

const shortest = 8
const longWord = 16
/** Labels: `known` by the exact text that is redacted, `encoded` by the value that is also redacted in base64 and hex. */
const known = new Map<string, string>()
const encoded = new Map<string, string>()
// Made when it is next needed: a configuration may register many secrets at once.
let finder: Finder | undefined
/** The session whose work this is, and by session the labels that it may see. Made when it is first needed: an old Node, which
 * has to say that it is too old, loads this file without Node's modules. */
let session: AsyncLocalStorage<string> | undefined
const shown = new Map<string, Set<string>>()

/** Redacts a secret from now on in logs, events and records: `label` replaces it. */
export function register(value: string | undefined, label: string): void {
  if (!value || value.length < shortest) return
  const shown = `[${label}]`
  if (known.get(value) === shown) return
  for (const form of formsOf(value)) known.set(form, shown)
  finder = undefined
}

/** Like `register`, also for the value in base64 and hex, wrapped or not, and for each long line of a value with several: a
 * program that has the value may print it like this. */
export function registerEncoded(value: string, label: string): void {
  if (value.length < shortest || encoded.get(value) === `[${label}]`) return
  for (const form of [value, ...linesOf(value)]) register(form, label)
  encoded.set(value, `[${label}]`)
  finder = undefined
}

/** Runs the work of a session: in it, what `show` names for the session is not redacted. */
export function inSession<T>(sessionId: string, work: () => T): T {
  session ??= new AsyncLocalStorage()
  return session.run(sessionId, work)
}

/** The session may see the secrets with this label, because a rule allows it. Other sessions and logs may not. */
export function show(sessionId: string, label: string): void {
  const labels = shown.get(sessionId) ?? new Set()
  shown.set(sessionId, labels.add(`[${label}]`))
}

/** No session may see the secrets with this label any more. */
export function hide(label: string): void {
  for (const labels of shown.values()) labels.delete(`[${label}]`)
}

/** The session has ended. */
export function endSession(sessionId: string): void {
  shown.delete(sessionId)
}

/** Where the known secrets are in a text. With `hasMore`, also whether its end may be the start of one. */
export function find(text: string, hasMore = false): Found {
  finder ??= createFinder(known, encoded)
  const sessionId = shown.size ? session?.getStore() : undefined
  return finder(text, { hasMore, shown: sessionId === undefined ? undefined : shown.get(sessionId) })
}

/** The text with every known secret replaced by its label. */
export function redact(text: string): string {
  const { spans } = find(text)
  if (spans.length === 0) return text
  const pieces = spans.map(({ start, label }, i) => text.slice(spans[i - 1]?.end ?? 0, start) + label)
  return pieces.join("") + text.slice(spans.at(-1)!.end)
}

/** Like `redact`, also for what the session may see. */
export function redactForAll(text: string): string {
  return session ? session.exit(() => redact(text)) : redact(text)
}

/** Like `redact`, for JSON text: the result is valid JSON. Names of fields are redacted only if they have 16 characters
 * or more, so that a secret that is an ordinary word does not rename the fields of every record. */
export function redactJson(json: string): string {
  return reveals(json) ? JSON.stringify(redactCopy(JSON.parse(json))) : json
}

/** A copy of a value as JSON text would carry it, with every known secret redacted. */
export function redactCopy(value: unknown): unknown {
  return copyJson(value, { text: redact, name: redactName })
}

/** Also as JSON, and JSON inside of JSON, has it; with a plus for each blank, as forms have it; and in bytes that are read as
 * latin1. */
function formsOf(value: string): string[] {
  const once = JSON.stringify(value).slice(1, -1)
  const forms = [value, once, JSON.stringify(once).slice(1, -1), value.replaceAll(" ", "+")]
  return [...forms, ...forms.map((form) => Buffer.from(form).toString("latin1"))]
}

/** A program may print each with something in front. The first and last line of a key are no secret. */
function linesOf(value: string): string[] {
  const lines = value.split("\n").map((line) => line.trim())
  if (lines.length === 1) return []
  return lines.filter((line) => line.length >= longWord && !line.startsWith("-----"))
}

function redactName(name: string): string {
  return name.length >= longWord ? redact(name) : name
}

/** The offset from which the end of the text may be the start of a secret; the length of the text if it is not. */
export function splitAt(text: string): number {
  return find(text, true).open
}

/** The first `length` characters, without a part of a secret at their end. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const start = text.slice(0, length)
  return start.slice(0, splitAt(start))
}

/** Whether a value contains a known secret. */
export function reveals(text: string): boolean {
  return find(text).spans.length > 0
}

/** Whether a value is exactly a known secret. */
export function isKnown(text: string): boolean {
  return known.has(text)
}

/** The label that replaces exactly this value. */
export function labelOf(value: string): string | undefined {
  return known.get(value)
}
