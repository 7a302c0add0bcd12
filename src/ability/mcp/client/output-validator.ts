// Checks structured results against the schema that the server declared, at limited cost: patterns and uniqueness
// checks are removed, because hostile ones could take forever. Large and recursive schemas are not used.
import type { JsonSchemaType, JsonSchemaValidator, jsonSchemaValidator } from "@modelcontextprotocol/client"
import type { SDK } from "#ability/mcp/server/sdk.ts"

const maxNodes = 2_000
const dropped = new Set([
  "pattern",
  "patternProperties",
  "format",
  "uniqueItems",
  "$async",
  "$id",
  "$anchor",
  "$dynamicAnchor",
])

export function createOutputValidator(sdk: SDK): jsonSchemaValidator {
  const ajv = new sdk.AjvJsonSchemaValidator()
  /** Undefined if the schema is invalid. Results are then not checked. */
  const compile = <T>(schema: JsonSchemaType) => {
    try {
      return ajv.getValidator<T>(withoutPatterns(schema) as JsonSchemaType)
    } catch {
      return undefined
    }
  }
  return {
    getValidator<T>(schema: JsonSchemaType) {
      const unchecked = (input: unknown) => ({
        valid: true as const,
        data: input as T,
        errorMessage: undefined,
      })
      if (!isSmall(schema)) return unchecked
      // The SDK requests the validators of all tools of a server at once, and each is slow to make.
      let check: JsonSchemaValidator<T> | undefined
      return (input: unknown) => {
        check ??= compile<T>(schema) ?? unchecked
        return check(input)
      }
    },
  }
}

function isSmall(schema: unknown): boolean {
  try {
    return countNodes(schema, schema, new Set()) <= maxNodes
  } catch {
    // One of its references cannot be decoded.
    return false
  }
}

/** The size of the schema with every reference expanded; stops at the limit. */
function countNodes(node: unknown, root: unknown, above: Set<unknown>): number {
  if (typeof node !== "object" || node === null) return 1
  if (above.has(node) || above.size > 64) return maxNodes + 1
  above.add(node)
  let nodes = 1
  for (const [name, child] of Object.entries(node)) {
    nodes += isReference(name)
      ? countNodes(follow(String(child), root), root, above)
      : countNodes(child, root, above)
    if (nodes > maxNodes) break
  }
  above.delete(node)
  return nodes
}

function isReference(name: string): boolean {
  return name === "$ref" || name === "$dynamicRef" || name === "$recursiveRef"
}

/** Resolves references within the document; the validator refuses all others and fetches nothing. */
function follow(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return undefined
  let node: unknown = root
  for (const step of reference.slice(1).split("/").filter(Boolean)) {
    if (typeof node !== "object" || node === null) return undefined
    node = (node as Record<string, unknown>)[decodeStep(step)]
  }
  return node
}

function decodeStep(step: string): string {
  return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")
}

/** Removes only keywords: a property may be called "pattern". */
function withoutPatterns(node: unknown, names = false): unknown {
  if (Array.isArray(node)) return node.map((item) => withoutPatterns(item))
  if (typeof node !== "object" || node === null) return node
  return Object.fromEntries(
    Object.entries(node)
      .filter(([name]) => names || !dropped.has(name))
      .map(([name, child]) => [name, withoutPatterns(child, !names && holdsNames(name))]),
  )
}

function holdsNames(word: string): boolean {
  return ["properties", "$defs", "definitions", "dependentSchemas"].includes(word)
}
