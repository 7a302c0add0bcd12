// The secrets that we hold, and their removal from text by value, as they are and as JSON inside JSON escapes them.
// Never by pattern: text that only looks like a secret must pass unchanged. Values shorter than eight characters would
// match ordinary words and are left alone.

const shortest = 8
const longWord = 16
const held = new Map<string, string>()
// Sorted when it is next needed: a configuration may bring many secrets at once.
let longestFirst: [value: string, label: string][] | undefined

/** Remember a secret, so that it never leaves in a log, an event or a record. `label` takes its place. */
export function hold(value: string | undefined, label: string): void {
  if (!value || value.length < shortest) return
  const shown = `[${label}]`
  if (held.get(value) === shown) return
  for (let form = value, depth = 0; depth < 3; form = JSON.stringify(form).slice(1, -1), depth++)
    held.set(form, shown)
  longestFirst = undefined
}

/** All held values with their labels, the longest first. The same array until another one is held. */
export function entries(): readonly (readonly [value: string, label: string])[] {
  longestFirst ??= [...held].sort(([a], [b]) => b.length - a.length)
  return longestFirst
}

/** The text with every held secret replaced by its label. */
export function redact(text: string): string {
  for (const [value, label] of entries()) if (text.includes(value)) text = text.replaceAll(value, () => label)
  return text
}

/** The same for JSON text: it stays JSON, whatever the secret is. A name is rewritten only for a secret that is too long
 * to be an ordinary word, so that a poor key cannot change the shape of every record. */
export function redactJson(json: string): string {
  if (!reveals(json)) return json
  return JSON.stringify(JSON.parse(json), (_, value) => {
    if (typeof value === "string") return redact(value)
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [redactName(name), item]))
  })
}

function redactName(name: string): string {
  return name.length >= longWord ? redact(name) : name
}

/** Where the end of a text begins that may be the beginning of a held secret; its length if there is none. */
export function splitAt(text: string): number {
  let first = text.length
  for (const [value] of entries()) {
    const from = Math.max(0, text.length - value.length + 1)
    for (let i = text.indexOf(value[0]!, from); i >= 0 && i < first; i = text.indexOf(value[0]!, i + 1))
      if (value.startsWith(text.slice(i))) first = i
  }
  return first
}

/** The first `length` characters, without the part of a held secret that a cut would leave at their end. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const start = text.slice(0, length)
  return start.slice(0, splitAt(start))
}

/** Whether a value is one of the held secrets, or has one in it. */
export function reveals(text: string): boolean {
  for (const value of held.keys()) if (text.includes(value)) return true
  return false
}

/** Whether a value is one of the held secrets, nothing before or after it. */
export function isHeld(text: string): boolean {
  return held.has(text)
}
