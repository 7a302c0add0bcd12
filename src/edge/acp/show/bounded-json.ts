// Bounds the size of a JSON value that is sent to an editor: long texts, long lists and deep levels are cut, and each cut
// is marked.
import { head } from "./markdown.ts"

const maxText = 4_000
const maxItems = 100
const maxDepth = 8
/** Limit of the whole value, in characters. */
const maxAll = 32_000

export function boundedJson(value: unknown): unknown {
  let budget = maxAll

  function bounded(value: unknown, depth: number): unknown {
    budget -= 8
    if (typeof value === "string") return text(value)
    if (typeof value !== "object" || value === null) return value
    if (depth >= maxDepth || budget <= 0) return "…"
    if (Array.isArray(value)) return list(value, depth)
    return object(value as Record<string, unknown>, depth)
  }

  function text(value: string): string {
    const max = Math.max(0, Math.min(maxText, budget))
    const shown = head(value, max)
    budget -= shown.length
    const left = value.length - shown.length
    return left ? `${shown}… (${left} more characters)` : shown
  }

  function list(values: unknown[], depth: number): unknown[] {
    const shown: unknown[] = []
    for (const value of values) {
      if (shown.length >= maxItems || budget <= 0) break
      shown.push(bounded(value, depth + 1))
    }
    const left = values.length - shown.length
    return left ? [...shown, `… (${left} more)`] : shown
  }

  function object(values: Record<string, unknown>, depth: number): Record<string, unknown> {
    const entries = Object.entries(values)
    const shown: [string, unknown][] = []
    for (const [name, value] of entries) {
      if (shown.length >= maxItems || budget <= 0) break
      shown.push([text(name), bounded(value, depth + 1)])
    }
    const left = entries.length - shown.length
    return Object.fromEntries(left ? [...shown, ["…", `${left} more`]] : shown)
  }

  return bounded(value, 0)
}
