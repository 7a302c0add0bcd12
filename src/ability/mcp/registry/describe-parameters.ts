// The parameters of a tool as words, by which it is found: their names, what is said of them, and the values that
// they take.

type Node = Record<string, unknown>

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
    words.push(
      [name, value.description, ...valuesOf(value)].filter((word) => typeof word === "string").join(" "),
    )
    walk(value, { words, depth: depth + 1 })
  }
  walk(schema.items, { words, depth: depth + 1 })
}

/** Of the parameter itself, of the entries of a list, or of any of its forms. */
function valuesOf(schema: Node): unknown[] {
  const forms = [schema, schema.items, ...listOf(schema.anyOf), ...listOf(schema.oneOf)].filter(isNode)
  return forms.flatMap((form) => [...listOf(form.enum), form.const])
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
