// A copy of a value as JSON text would carry it, without making the text.

type Rewrite = { text: (text: string) => string; name: (name: string) => string }

/** `undefined` and functions are left out, numbers that JSON does not have become null. */
export function copyJson(value: unknown, rewrite?: Rewrite): unknown {
  if (typeof value === "string") return rewrite ? rewrite.text(value) : value
  if (typeof value === "number") return Number.isFinite(value) ? value : null
  if (typeof value !== "object" || value === null) return typeof value === "function" ? undefined : value
  if (Array.isArray(value)) return value.map((item) => copyJson(item, rewrite) ?? null)
  if ("toJSON" in value && typeof value.toJSON === "function") return copyJson(value.toJSON(), rewrite)
  const entries = Object.entries(value).map(([name, item]) => [
    rewrite ? rewrite.name(name) : name,
    copyJson(item, rewrite),
  ])
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined))
}
