// The secrets that we hold, and their removal from text by value, as they are and as JSON inside JSON escapes them. Never by pattern: text that only looks like a
// secret must pass unchanged. Values shorter than eight characters would match ordinary words and are left alone.

const shortest = 8
const held = new Map<string, string>()
let longestFirst: [value: string, label: string][] = []

/** Remember a secret, so that it never leaves in a log, an event or a record. `label` takes its place. */
export function hold(value: string | undefined, label: string): void {
  if (!value || value.length < shortest) return
  for (let form = value, depth = 0; depth < 3; form = JSON.stringify(form).slice(1, -1), depth++)
    held.set(form, `[${label}]`)
  longestFirst = [...held].sort(([a], [b]) => b.length - a.length)
}

/** The text with every held secret replaced by its label. */
export function redact(text: string): string {
  for (const [value, label] of longestFirst)
    if (text.includes(value)) text = text.replaceAll(value, () => label)
  return text
}

/** The same for JSON text, inside its strings and names only: it stays JSON whatever the secret looks like. */
export function redactJson(json: string): string {
  return reveals(json) ? JSON.stringify(JSON.parse(json), (_, value) => withoutSecrets(value)) : json
}

/** Whether a value is one of the held secrets, or has one in it. */
export function reveals(text: string): boolean {
  for (const value of held.keys()) if (text.includes(value)) return true
  return false
}

function withoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return redact(value)
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [redact(name), item]))
}
