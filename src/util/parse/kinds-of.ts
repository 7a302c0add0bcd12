// Which kinds of values a schema may accept, by its note (`lazy-zod.ts`). If only one option of a union accepts the kind of a
// value, all others are invalid for it, and this one decides.
import type { Note } from "./quick-parse.ts"

const plain: Record<string, string> = {
  ...{ string: "string", number: "number", int: "number", boolean: "boolean", enum: "string" },
  ...{ object: "object", strictObject: "object", looseObject: "object", record: "object" },
  ...{ discriminatedUnion: "object", array: "array" },
}
/** Methods that accept no other kinds. */
const keeps = new Set(
  "describe meta min max length int positive regex startsWith strict loose extend".split(" "),
)
const adds: Record<string, string[]> = {
  optional: ["undefined"],
  nullable: ["null"],
  nullish: ["undefined", "null"],
}

export function kindOf(value: unknown): string {
  if (value === null) return "null"
  return Array.isArray(value) ? "array" : typeof value
}

/** Undefined if it is not known. */
export function kindsOf(schema: object, noteOf: (schema: object) => Note | undefined): string[] | undefined {
  const { name, args, from } = noteOf(schema) ?? { name: "", args: [], from: undefined }
  if (from) {
    const kinds = name === "array" ? ["array"] : kindsOf(from, noteOf)
    if (name === "array" || keeps.has(name)) return kinds
    return Object.hasOwn(adds, name) && kinds ? [...kinds, ...adds[name]!] : undefined
  }
  if (name === "literal") return [args[0]].flat().map(kindOf)
  return Object.hasOwn(plain, name) ? [plain[name]!] : undefined
}
