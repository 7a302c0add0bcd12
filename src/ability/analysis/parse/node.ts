// Nodes of a syntax tree, as far as we look into them.

export type Node = { type: string; start: number; end: number; [key: string]: unknown }

const leftOut = new Set([
  "loc",
  "errors",
  "comments",
  "leadingComments",
  "trailingComments",
  "innerComments",
  "extra",
])

export function childrenOf(node: Node): Node[] {
  const found: Node[] = []
  for (const key in node) {
    const value = node[key]
    if (typeof value !== "object" || value === null || leftOut.has(key)) continue
    if (!Array.isArray(value)) {
      if (isNode(value)) found.push(value)
    } else for (const one of value) if (isNode(one)) found.push(one)
  }
  return found
}

/** The text of a string, or of a template literal without expressions. */
export function stringOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  if (node.type === "StringLiteral") return node.value as string
  const [first, more] = node.type === "TemplateLiteral" ? (node.quasis as Node[]) : []
  return first && !more ? (first.value as { raw: string }).raw : undefined
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string"
}

export function nameOf(node: unknown): string {
  if (!isNode(node)) return ""
  return typeof node.name === "string" ? node.name : (stringOf(node) ?? "")
}
