// Whether a stored record matches a query, and the text that shows why.
import * as Secret from "#kernel/process/secret.ts"

type Wish = { text?: string | undefined; where?: Record<string, string | number | boolean> | undefined }

const around = 120
const maxDepth = 20
/** What providers and snapshots keep for themselves says nothing to anybody else. */
const hidden = new Set(["providerMetadata", "snapshot"])

/** `kind` is the type of a message, `text` a part of what it says. Secrets are neither found nor shown. */
export function matchRecord(
  value: unknown,
  { text, where }: Wish,
): { kind?: string; text: string } | undefined {
  for (const [path, wanted] of Object.entries(where ?? {}))
    if (String(fieldOf(value, path)) !== String(wanted)) return undefined
  const words = excerpt(value, (text ?? "").toLowerCase())
  if (words === undefined) return undefined
  const kind = fieldOf(value, "type")
  return { ...(typeof kind === "string" ? { kind } : {}), text: words }
}

function excerpt(value: unknown, text: string): string | undefined {
  if (text === "") return cut(Secret.redact(JSON.stringify(value)), 0, 2 * around)
  for (const found of stringsIn(value)) {
    if (!found.toLowerCase().includes(text)) continue
    const shown = Secret.redact(found)
    const at = shown.toLowerCase().indexOf(text)
    if (at >= 0) return cut(shown, at - around, at + text.length + around)
  }
  return undefined
}

function* stringsIn(value: unknown, depth = 0): Generator<string> {
  if (typeof value === "string") yield value
  if (typeof value !== "object" || value === null || depth > maxDepth) return
  for (const [name, item] of Object.entries(value)) if (!hidden.has(name)) yield* stringsIn(item, depth + 1)
}

function fieldOf(value: unknown, path: string): unknown {
  let at = value
  for (const name of path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return at
}

/** On one line, between characters. */
function cut(text: string, from: number, to: number): string {
  const [start, end] = [Math.max(0, from), Math.min(text.length, to)]
  const middle = text.slice(start, end).toWellFormed().replaceAll(/\s+/g, " ").trim()
  return `${start > 0 ? "…" : ""}${middle}${end < text.length ? "…" : ""}`
}
