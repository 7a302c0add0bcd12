// Checks a JSON Schema from an MCP server before it goes to a provider: it must be an object, bounded in size even
// with its references expanded, and refer only to itself.
import { plainText } from "#util/plain-text.ts"

const maxSize = 64_000
const maxDepth = 40
const maxNodes = 20_000
const references = ["$ref", "$dynamicRef", "$recursiveRef"]
const notPlain = /[^\x20-\x7e]/

type Node = { [key: string]: unknown }
type Seen = { size: number; nodes: number; refers: boolean }

/** What is wrong with it; undefined if nothing is. */
export function checkSchema(schema: unknown): string | undefined {
  if (!isNode(schema) || schema.type !== "object") return "its schema does not describe an object"
  const seen: Seen = { size: 0, nodes: 0, refers: false }
  return walk(schema, 0, seen) ?? (seen.refers ? tooManyNodes(schema) : undefined)
}

/** A single pass, because it runs at every start. Neither we nor a provider fetch anything for a schema. */
function walk(node: object, depth: number, seen: Seen): string | undefined {
  if (depth > maxDepth) return `its schema is nested deeper than ${maxDepth} levels`
  if (++seen.nodes > maxNodes) return `its schema has more than ${maxNodes} parts`
  for (const key in node) {
    const value = (node as Node)[key]
    if (notPlain.test(key) && plainText(key, key.length) !== key)
      return `its schema has hidden characters in the name ${JSON.stringify(plainText(key, 100))}`
    seen.size += key.length + (typeof value === "string" ? value.length : 8)
    if (seen.size > maxSize) return `its schema has more than ${maxSize} characters`
    if (references.includes(key)) {
      seen.refers = true
      if (typeof value === "string" && !value.startsWith("#"))
        return `its schema refers to ${JSON.stringify(value.slice(0, 100))}, and only references into itself are followed`
    }
    const problem = isObject(value) ? walk(value, depth + 1, seen) : undefined
    if (problem) return problem
  }
  return undefined
}

/** The size with each reference expanded; a recursive reference counts once. */
function tooManyNodes(schema: Node): string | undefined {
  const sizes = new Map<object, number>()
  const sizeOf = (node: unknown): number => {
    if (!isObject(node)) return 0
    const known = sizes.get(node)
    if (known !== undefined) return known
    sizes.set(node, 1)
    let size = 1
    for (const word of isNode(node) ? references : []) {
      const reference = (node as Node)[word]
      if (typeof reference === "string") size += sizeOf(find(schema, reference))
    }
    for (const value of Object.values(node)) size += sizeOf(value)
    sizes.set(node, size)
    return size
  }
  return sizeOf(schema) > maxNodes
    ? `its schema has more than ${maxNodes} parts when its references are expanded`
    : undefined
}

function find(schema: Node, pointer: string): object | undefined {
  let at: unknown = schema
  for (const step of pointer.slice(1).split("/").filter(Boolean)) {
    const key = decode(step).replaceAll("~1", "/").replaceAll("~0", "~")
    if (!isObject(at) || !Object.hasOwn(at, key)) return undefined
    at = (at as Node)[key]
  }
  return isObject(at) ? at : undefined
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}

function isNode(value: unknown): value is Node {
  return isObject(value) && !Array.isArray(value)
}
