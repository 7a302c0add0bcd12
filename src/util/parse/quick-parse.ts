// Parses valid values without Zod. The note of a schema (`lazy-zod.ts`) becomes a function with the same result: a copy,
// with defaults filled in and unknown keys dropped. If a value is invalid, or a kind of schema is not known here, the result
// is `unsure`, and Zod decides. Recursion is bounded by the depth of the schema, not of the value.
import { checks } from "./checks.ts"
import { kindOf, kindsOf } from "./kinds-of.ts"

/** How a schema is created: by a function of Zod, or by a method of another schema, with these arguments. */
export type Note = { name: string; args: unknown[]; from: object | undefined }
/** Returns the parsed value, or `unsure`. */
type Take = (value: unknown) => unknown
type Fields = { [name: string]: object }
type Shape = { fields: Fields; extra: object | "drop" | "keep" | "refuse" }
/** What happens with a missing key. */
type Absent = "skip" | "fill" | "unsure"

export const unsure = Symbol("unsure")

const refuse: Take = () => unsure
const plain: Record<string, Take> = {
  string: (value) => (typeof value === "string" ? value : unsure),
  number: (value) => (Number.isFinite(value) ? value : unsure),
  int: (value) => (Number.isSafeInteger(value) ? value : unsure),
  boolean: (value) => (typeof value === "boolean" ? value : unsure),
  unknown: (value) => (value === undefined ? unsure : value),
}
/** Methods that leave the type as it is. */
const typeless = "describe meta refine superRefine check trim"
const keepsType = new Set([...typeless.split(" "), ...Object.keys(checks)])

/** Methods that may replace a missing value. */
const fillsIn = new Set(["default", "prefault", "catch", "pipe", "transform"])

/** `noteOf` returns the note of a schema, if it has one; `ask` lets Zod parse, and returns `unsure` for invalid values. */
export function createQuickParse(
  noteOf: (schema: object) => Note | undefined,
  ask: (schema: object, value: unknown) => unknown,
) {
  const known = new WeakMap<object, Take>()
  return Object.freeze({ takeOf, fieldsOf: (note: Note) => shapeOf(note)?.fields })

  function takeOf(schema: object): Take {
    const take = known.get(schema) ?? create(schema)
    known.set(schema, take)
    return take
  }

  function create(schema: object): Take {
    const note = noteOf(schema)
    if (!note) return (value) => ask(schema, value)
    const shape = shapeOf(note)
    const take = shape ? objectOf(shape) : note.from ? derived(note, note.from) : base(note)
    return take ?? ((value) => ask(schema, value))
  }

  /** For a schema that a function of Zod creates. */
  function base({ name, args }: Note): Take | undefined {
    const [first, second] = args as [never, never]
    if (name === "custom") return passing(first)
    if (name === "literal") return oneOf([first].flat())
    if (name === "enum" && Array.isArray(first)) return oneOf(first)
    if (name === "array" && !second) return listOf(takeOf(first))
    if (name === "record" && hasAnyKey(first)) return recordOf(takeOf(first), takeOf(second))
    if (name === "discriminatedUnion") return anyOf(first, second)
    if (name === "union") return byKind(first)
    return args.length ? undefined : plain[name]
  }

  /** For a schema that a method of another one creates. */
  function derived({ name, args }: Note, from: object): Take | undefined {
    const take = takeOf(from)
    const [first] = args as [never]
    if (name === "describe" || name === "meta" || name === "catch") return take
    if (name === "array") return listOf(take)
    if (name === "nullable") return (value) => (value === null ? null : take(value))
    if (name === "optional" || name === "nullish") return orNothing(take, name === "nullish", staysAway(from))
    if (name === "default") return orElse(take, first)
    if (name === "prefault") return (value) => take(value === undefined ? cloned(first) : value)
    if (name === "trim") return then(take, (value) => (typeof value === "string" ? value.trim() : unsure))
    if (name === "refine") return then(take, passing(first))
    const check = Object.hasOwn(checks, name) ? checks[name]! : undefined
    return check && then(take, (value) => (check(value as never, first) ? value : unsure))
  }

  function shapeOf({ name, args, from }: Note): Shape | undefined {
    const fields = args[0] as Fields
    if (name === "object") return { fields, extra: "drop" }
    if (name === "strictObject") return { fields, extra: "refuse" }
    if (name === "looseObject") return { fields, extra: "keep" }
    const note = from && noteOf(from)
    const shape = note && shapeOf(note)
    if (!shape) return undefined
    if (name === "describe" || name === "meta") return shape
    if (name === "strict") return { ...shape, extra: "refuse" }
    if (name === "loose") return { ...shape, extra: "keep" }
    if (name === "catchall") return { ...shape, extra: fields }
    if (name === "extend") return { ...shape, fields: { ...shape.fields, ...fields } }
    return undefined
  }

  function objectOf({ fields, extra }: Shape): Take {
    const all = Object.entries(fields).map(([name, schema]) => ({
      name,
      take: takeOf(schema),
      absent: absentOf(schema),
    }))
    const names = new Set(Object.keys(fields))
    const takeExtra = typeof extra === "object" ? takeOf(extra) : (value: unknown) => value
    return (value) => {
      if (!isPlain(value)) return unsure
      const result: Record<string, unknown> = {}
      for (const { name, take, absent } of all) {
        const given = value[name]
        if (given === undefined && !(name in value)) {
          if (absent === "skip") continue
          if (absent === "unsure") return unsure
        }
        const taken = take(given)
        if (taken === unsure) return unsure
        result[name] = taken
      }
      if (extra === "drop") return result
      for (const name in value) {
        if (names.has(name)) continue
        const taken = extra === "refuse" ? unsure : takeExtra(value[name])
        if (taken === unsure) return unsure
        result[name] = taken
      }
      return result
    }
  }

  function anyOf(key: string, options: object[]): Take | undefined {
    const takes = new Map<unknown, Take>()
    for (const option of options) {
      const note = noteOf(option)
      const field = note && shapeOf(note)?.fields[key]
      const { name, args } = (field && noteOf(field)) ?? { name: "" }
      if (name !== "literal") return undefined
      for (const value of [args![0]].flat()) takes.set(value, takeOf(option))
    }
    return (value) => {
      const take = isPlain(value) ? takes.get(value[key]) : undefined
      return take ? take(value) : unsure
    }
  }

  /** A kind that several options accept is left to Zod. */
  function byKind(options: object[]): Take | undefined {
    const takes = new Map<string, Take>()
    for (const option of options)
      for (const kind of new Set(kindsOf(option, noteOf) ?? ["?"]))
        takes.set(kind, takes.has(kind) ? refuse : takeOf(option))
    return takes.has("?") ? undefined : (value) => (takes.get(kindOf(value)) ?? refuse)(value)
  }

  function absentOf(schema: object): Absent {
    const { name, from } = noteOf(schema) ?? { name: "" }
    if (!from) return "unsure"
    if (name === "optional" || name === "nullish") return staysAway(from) ? "skip" : "unsure"
    if (name === "default" || name === "prefault") return "fill"
    return keepsType.has(name) || name === "nullable" || name === "catch" ? absentOf(from) : "unsure"
  }

  /** Whether the schema, made optional, leaves a missing value missing. */
  function staysAway(schema: object): boolean {
    const { name, args, from } = noteOf(schema) ?? { name: "", args: [] }
    if (from) return !fillsIn.has(name) && staysAway(from)
    if (name === "union") return (args[0] as object[]).every(staysAway)
    return name !== "" && name !== "preprocess"
  }

  /** Whether a record with such keys may have any keys, or none. */
  function hasAnyKey(schema: object): boolean {
    const { name, from } = noteOf(schema) ?? { name: "" }
    return name === "string" || (from !== undefined && keepsType.has(name) && hasAnyKey(from))
  }
}

function listOf(take: Take): Take {
  return (value) => {
    if (!Array.isArray(value)) return unsure
    const result: unknown[] = []
    for (const item of value) {
      const taken = take(item)
      if (taken === unsure) return unsure
      result.push(taken)
    }
    return result
  }
}

function recordOf(takeKey: Take, take: Take): Take {
  return (value) => {
    if (!isPlain(value) || Object.getOwnPropertySymbols(value).length) return unsure
    const result: Record<string, unknown> = {}
    for (const name of Object.keys(value)) {
      const taken = takeKey(name) === name ? take(value[name]) : unsure
      if (taken === unsure) return unsure
      result[name] = taken
    }
    return result
  }
}

function oneOf(values: unknown[]): Take {
  const all = new Set(values)
  return (value) => (all.has(value) ? value : unsure)
}

/** If the test returns a promise, Zod decides. */
function passing(test: (value: unknown) => unknown): Take {
  return (value) => (typeof test === "function" && test(value) === true ? value : unsure)
}

/** A missing value stays missing, unless the inner schema would replace it. */
function orNothing(take: Take, orNull: boolean, isPlainly: boolean): Take {
  return (value) => {
    if (value === undefined) return isPlainly ? undefined : unsure
    return value === null && orNull ? null : take(value)
  }
}

function orElse(take: Take, fallback: unknown): Take {
  return (value) => {
    const taken = value === undefined ? cloned(fallback) : take(value)
    return taken === undefined ? unsure : taken
  }
}

function then(take: Take, next: Take): Take {
  return (value) => {
    const taken = take(value)
    return taken === unsure ? unsure : next(taken)
  }
}

/** A copy of a default, as Zod makes it. */
function cloned(value: unknown): unknown {
  if (typeof value === "function") return value()
  if (Array.isArray(value)) return [...value]
  return isPlain(value) ? { ...value } : value
}

/** A plain object. One with a key "__proto__" is left to Zod. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return (prototype === Object.prototype || prototype === null) && !Object.hasOwn(value, "__proto__")
}
