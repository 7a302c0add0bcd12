// The known secrets, and their redaction in text: by value, plain or JSON-escaped. Never by pattern: text that only
// looks like a secret must pass unchanged. Values shorter than eight characters would match ordinary words and are
// not redacted.
import { copyJson } from "#util/parse/copy-json.ts"

const shortest = 8
const longWord = 16
const known = new Map<string, string>()
// Sorted when it is next needed: a configuration may register many secrets at once.
let longestFirst: [value: string, label: string][] | undefined

/** Redacts a secret from now on in logs, events and records: `label` replaces it. */
export function register(value: string | undefined, label: string): void {
  if (!value || value.length < shortest) return
  const shown = `[${label}]`
  if (known.get(value) === shown) return
  for (const form of escapedForms(value)) known.set(form, shown)
  longestFirst = undefined
}

/** Like `register`, also for the value in base64 (at any offset), in hex and in a URL, for the lines of base64 and hex that
 * are wrapped, and for each long line of a value with several: a program that has the value may print it like this. */
export function registerEncoded(value: string, label: string): void {
  for (const form of encodedForms(value)) register(form, label)
}

/** Redacts the value no longer, unless it is registered under another label. */
export function forget(value: string, label: string): void {
  for (const form of encodedForms(value).flatMap(escapedForms))
    if (known.get(form) === `[${label}]`) known.delete(form)
  longestFirst = undefined
}

/** All known values with their labels, the longest first. Returns the same array until another secret is registered. */
export function entries(): readonly (readonly [value: string, label: string])[] {
  longestFirst ??= [...known].sort(([a], [b]) => b.length - a.length)
  return longestFirst
}

/** The text with every known secret replaced by its label. */
export function redact(text: string): string {
  for (const [value, label] of entries()) if (text.includes(value)) text = text.replaceAll(value, () => label)
  return text
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

function escapedForms(value: string): string[] {
  const once = JSON.stringify(value).slice(1, -1)
  return [value, once, JSON.stringify(once).slice(1, -1)]
}

function encodedForms(value: string): string[] {
  const bytes = Buffer.from(value)
  const hex = bytes.toString("hex")
  const lines = value.split("\n").map((line) => line.trim())
  return [
    value,
    ...(lines.length > 1 ? lines.filter((line) => line.length >= longWord && !line.startsWith("-----")) : []),
    ...[0, 1, 2].flatMap((offset) => [
      base64At(bytes, offset, "base64"),
      base64At(bytes, offset, "base64url"),
    ]),
    hex,
    hex.toUpperCase(),
    ...[hex, hex.toUpperCase(), base64At(bytes, 0, "base64"), base64At(bytes, 0, "base64url")].flatMap(
      wrappedLines,
    ),
    encodeURIComponent(value),
    new URLSearchParams({ v: value }).toString().slice(2),
  ]
}

/** The lines that programs make of a long encoded value: `xxd -p` (60), `openssl base64` (64), `base64` (76). */
function wrappedLines(text: string): string[] {
  return [60, 64, 76]
    .filter((width) => text.length > width)
    .flatMap((width) => text.match(new RegExp(`.{1,${width}}`, "g"))!)
}

/** The characters that depend on the value alone, if it begins `offset` bytes after a multiple of three. */
function base64At(bytes: Buffer, offset: number, encoding: "base64" | "base64url"): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString(encoding)
    .replace(/=+$/, "")
  const rest = (offset + bytes.length) % 3
  return text.slice(offset === 0 ? 0 : offset + 1, rest === 0 ? undefined : -1)
}

function redactName(name: string): string {
  return name.length >= longWord ? redact(name) : name
}

/** The offset from which the end of the text may be the start of a secret; the length of the text if it is not. */
export function splitAt(text: string): number {
  let first = text.length
  for (const [value] of entries()) {
    const from = Math.max(0, text.length - value.length + 1)
    for (let i = text.indexOf(value[0]!, from); i >= 0 && i < first; i = text.indexOf(value[0]!, i + 1))
      if (value.startsWith(text.slice(i))) first = i
  }
  return first
}

/** The first `length` characters, without a part of a secret at their end. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const start = text.slice(0, length)
  return start.slice(0, splitAt(start))
}

/** Whether a value contains a known secret. */
export function reveals(text: string): boolean {
  for (const value of known.keys()) if (text.includes(value)) return true
  return false
}

/** Whether a value is exactly a known secret. */
export function isKnown(text: string): boolean {
  return known.has(text)
}
