// The parameters of a tool as words, by which it is found: their names and what is said of them.

const maxText = 4_000
const maxDepth = 3

export function describeParameters(schema: unknown): string {
  const words: string[] = []
  walk(schema, { words, depth: 0 })
  return words.join("\n").slice(0, maxText)
}

function walk(schema: unknown, { words, depth }: { words: string[]; depth: number }): void {
  if (!isNode(schema) || depth > maxDepth) return
  for (const [name, value] of Object.entries(isNode(schema.properties) ? schema.properties : {})) {
    if (!isNode(value)) continue
    words.push(typeof value.description === "string" ? `${name} ${value.description}` : name)
    walk(value, { words, depth: depth + 1 })
  }
  walk(schema.items, { words, depth: depth + 1 })
}

function isNode(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
