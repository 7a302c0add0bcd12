// Bounds a JSON value for an editor: long texts are cut, long lists and deep levels end early, and each omission is
// marked.
import { head } from "./markdown.ts"

const maxText = 4_000
const maxItems = 100
const maxDepth = 8
/** Of everything together, in characters. */
const maxAll = 32_000

export function boundedJson(value: unknown): unknown {
  let room = maxAll

  function bounded(value: unknown, depth: number): unknown {
    room -= 8
    if (typeof value === "string") return text(value)
    if (typeof value !== "object" || value === null) return value
    if (depth >= maxDepth || room <= 0) return "…"
    if (Array.isArray(value)) return list(value, depth)
    return object(value as Record<string, unknown>, depth)
  }

  function text(value: string): string {
    const max = Math.max(0, Math.min(maxText, room))
    const shown = head(value, max)
    room -= shown.length
    const left = value.length - shown.length
    return left ? `${shown}… (${left} more characters)` : shown
  }

  function list(values: unknown[], depth: number): unknown[] {
    const shown: unknown[] = []
    for (const value of values) {
      if (shown.length >= maxItems || room <= 0) break
      shown.push(bounded(value, depth + 1))
    }
    const left = values.length - shown.length
    return left ? [...shown, `… (${left} more)`] : shown
  }

  function object(values: Record<string, unknown>, depth: number): Record<string, unknown> {
    const entries = Object.entries(values)
    const shown: [string, unknown][] = []
    for (const [name, value] of entries) {
      if (shown.length >= maxItems || room <= 0) break
      shown.push([text(name), bounded(value, depth + 1)])
    }
    const left = entries.length - shown.length
    return Object.fromEntries(left ? [...shown, ["…", `${left} more`]] : shown)
  }

  return bounded(value, 0)
}
