// Every key of the configuration has an effect that the built command shows. The walk over the schema
// fails for a key without a proof, and a proof fails if its key has no reader (setting-proofs/proof.ts).
import assert from "node:assert/strict"
import { test } from "node:test"
import type { z } from "zod"
import { Info } from "#kernel/schema/schema.ts"
import { whyNot } from "../../ability/sandbox/world.ts"
import { agentProofs } from "./setting-proofs/agents.ts"
import { guardProofs } from "./setting-proofs/guards.ts"
import { hookProofs } from "./setting-proofs/hooks.ts"
import { languageProofs } from "./setting-proofs/languages.ts"
import { mcpProofs } from "./setting-proofs/mcp.ts"
import { modelProofs } from "./setting-proofs/models.ts"
import { otherProofs } from "./setting-proofs/others.ts"
import { prove } from "./setting-proofs/proof.ts"
import { sandboxProofs } from "./setting-proofs/sandbox.ts"

const proofs = {
  ...modelProofs,
  ...agentProofs,
  ...mcpProofs,
  ...guardProofs,
  ...languageProofs,
  ...hookProofs,
  ...sandboxProofs,
  ...otherProofs,
}
/** Names the JSON Schema of the file, for editors. */
const forEditors = "$schema"

test("every key of the configuration has a proof, and every proof has a key", () => {
  assert.deepEqual(
    Object.keys(proofs).sort(),
    leaves(Info, "")
      .filter((key) => key !== forEditors)
      .sort(),
  )
})

for (const [key, proof] of Object.entries(proofs))
  test(`${key} has an effect`, { concurrency: false, skip: skipped(key) }, () => prove(key, proof))

/** The reason, if this machine has no sandbox. */
function skipped(key: string): string | false {
  return (key in sandboxProofs && whyNot("user")) || false
}

type Definition = {
  type: string
  innerType?: z.ZodType
  shape?: Record<string, z.ZodType>
  catchall?: z.ZodType
  element?: z.ZodType
  valueType?: z.ZodType
  options?: z.ZodType[]
}

/** The keys of a schema that have a value: `*` means any name, `[]` any item. A list of plain values is one value. */
function leaves(schema: z.ZodType, path: string): string[] {
  const { innerType, shape, catchall, element, valueType, options } = schema.def as unknown as Definition
  const below = (name: string) => (path ? `${path}.${name}` : name)
  if (innerType) return leaves(innerType, path)
  // `false` or an object: each form has an effect.
  const forms = options?.filter((form) => isObject(form) || hasObjects(form)) ?? []
  if (forms.length) return [path, ...forms.flatMap((form) => leaves(form, path))]
  const named = Object.entries(shape ?? {}).flatMap(([name, inner]) => leaves(inner, below(name)))
  const others = catchall && (catchall.def as unknown as Definition).type !== "never" ? [catchall] : []
  const found = [...named, ...others.flatMap((inner) => leaves(inner, below("*")))]
  if (shape) return found
  // A record with free names and plain values, such as headers, is one value.
  if (valueType && (isObject(valueType) || hasForms(valueType))) return leaves(valueType, below("*"))
  if (element && isObject(element) && !proofs[path as keyof typeof proofs])
    return leaves(element, `${path}[]`)
  return [path]
}

/** A record of objects, or of `false` and objects. */
function hasObjects(schema: z.ZodType): boolean {
  const { valueType } = schema.def as unknown as Definition
  return valueType !== undefined && (isObject(valueType) || hasForms(valueType))
}

function hasForms(schema: z.ZodType): boolean {
  return (schema.def as unknown as Definition).options?.some(isObject) ?? false
}

function isObject(schema: z.ZodType): boolean {
  return (schema.def as unknown as Definition).type === "object"
}
