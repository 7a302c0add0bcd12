// Checks one layer against the schema: all problems at once, unknown keys removed with a warning or refused. The result is
// a plain copy without defaults, so that a layer has only what somebody wrote in it.
import type { z } from "zod"
import { nearest } from "#util/nearest.ts"
import type { Path, Place } from "#util/parse/jsonc.ts"
import { formatPath, formatProblem, type Problem } from "./invalid.ts"

export type Raw = Record<string, unknown>
export type Checked = { value: Raw; warnings: string[]; problems: Problem[] }

const maxDepth = 200
// Limits the report: a hostile file could have a hundred thousand problems.
const maxNamed = 100

/** `source` names the layer in messages; `locate` finds a key in the text of the layer, if it has one; with
 * `refuseUnknown` an unknown key is an error, not a warning. */
export function checkLayer(options: {
  schema: z.ZodType
  value: unknown
  source: string
  locate?: ((path: Path) => Place) | undefined
  refuseUnknown?: boolean
}): Checked {
  const { schema, source } = options
  const checked: Checked = { value: {}, warnings: [], problems: [] }
  const at = (path: Path, message: string): Problem => ({
    source,
    ...options.locate?.(path),
    path: formatPath(path),
    message,
  })
  const copy = toPlain(options.value, [], (path, message) => checked.problems.push(at(path, message)))
  if (!isPlain(copy)) {
    checked.problems.push(at([], `expected an object, received ${typeName(copy)}`))
    return checked
  }
  const issues = (schema.safeParse(copy).error?.issues ?? []).flatMap(chosenForm)
  const ownersOfMissing = new Set(
    issues.flatMap(({ code, path }) =>
      code !== "unrecognized_keys" && valueAt(copy, path as Path) === undefined
        ? JSON.stringify(path.slice(0, -1))
        : [],
    ),
  )
  for (const issue of issues) {
    const path = issue.path as (string | number)[]
    // If a key is missing, an unknown one beside it is probably that key, misspelt.
    const isRefused = options.refuseUnknown || ownersOfMissing.has(JSON.stringify(path))
    if (issue.code === "unrecognized_keys" && isRefused) refuse(path, issue.keys)
    else if (issue.code === "unrecognized_keys") leaveOut(path, issue.keys)
    else if (checked.problems.length < maxNamed)
      checked.problems.push(at(path, explain(issue, valueAt(copy, path))))
  }
  checked.value = copy
  return checked

  function refuse(path: Path, keys: string[]) {
    for (const key of keys.slice(0, maxNamed))
      checked.problems.push(
        at([...path, key], `the key is unknown; ${suggest(key, knownKeys(schema, path))}`),
      )
  }

  function leaveOut(path: Path, keys: string[]) {
    const owner = valueAt(copy, path) as Raw
    for (const key of keys) {
      delete owner[key]
      if (checked.warnings.length >= maxNamed) continue
      const meant = suggest(key, knownKeys(schema, path))
      checked.warnings.push(
        formatProblem(at([...path, key], `the key is unknown and was left out; ${meant}`)),
      )
    }
  }
}

export function isPlain(value: unknown): value is Raw {
  if (typeof value !== "object" || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** A deep copy of plain objects and lists, without keys whose value is undefined. */
function toPlain(
  value: unknown,
  path: (string | number)[],
  refuse: (path: Path, message: string) => void,
  around: unknown[] = [],
): unknown {
  if (typeof value !== "object" || value === null) return value
  if (around.includes(value)) return refuse(path, "the value contains itself")
  if (path.length > maxDepth) return refuse(path.slice(0, 3), `nested deeper than ${maxDepth} levels`)
  const inner = [...around, value]
  if (Array.isArray(value)) return value.map((item, i) => toPlain(item, [...path, i], refuse, inner))
  if (!isPlain(value)) return value
  const copy: Raw = {}
  for (const [key, item] of Object.entries(value)) {
    if (key === "__proto__") refuse([...path, key], 'the key "__proto__" is not allowed')
    else if (item !== undefined) copy[key] = toPlain(item, [...path, key], refuse, inner)
  }
  return copy
}

/** Zod's own words for a value that fits no form. */
const plainMessage = "Invalid input"

/** Of a value that may have several forms, such as `false` or an object: the problems of the form that it has. */
function chosenForm(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue]
  const isInside = ({ code, path }: z.core.$ZodIssue) => path.length > 0 || code === "unrecognized_keys"
  const form = issue.errors.find((problems) => problems.every(isInside))
  // A schema may say itself what it expects.
  if (!form && issue.message !== plainMessage) return [issue]
  if (!form) return [{ ...issue, message: `expected ${issue.errors.flat().map(formOf).join(" or ")}` }]
  return form.flatMap((one) => chosenForm({ ...one, path: [...issue.path, ...one.path] }))
}

function formOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_value") return issue.values.map(String).join(" or ")
  return issue.code === "invalid_type" ? issue.expected.replace("record", "object") : issue.message
}

function explain(issue: z.core.$ZodIssue, received: unknown): string {
  const text = issue.message.replace(/^Invalid (input|option): /, "")
  if (received === undefined) return `is missing; ${text.replace(/, received undefined$/, "")}`
  if (issue.code === "invalid_value" && typeof received === "string")
    return `${text}, received ${JSON.stringify(received.slice(0, 40))}`
  return text
}

function valueAt(value: unknown, path: Path): unknown {
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<string | number, unknown>)[step]
  }
  return value
}

function suggest(key: string, known: string[]): string {
  const meant = nearest(key, known)
  return meant ? `did you mean "${meant}"?` : `known here: ${known.join(", ")}`
}

function knownKeys(schema: z.ZodType, path: Path): string[] {
  let at = unwrap(schema)
  for (const step of path) {
    const { shape, catchall, element, valueType } = at
    const next = shape && Object.hasOwn(shape, step) ? shape[step] : (catchall ?? element ?? valueType)
    if (!next) return []
    at = unwrap(next)
  }
  return Object.keys(at.shape ?? {})
}

type Definition = {
  innerType?: z.ZodType
  shape?: Record<string | number, z.ZodType>
  catchall?: z.ZodType
  element?: z.ZodType
  valueType?: z.ZodType
  options?: z.ZodType[]
}

function unwrap(schema: z.ZodType): Definition {
  const definition = schema.def as Definition
  if (definition.innerType) return unwrap(definition.innerType)
  // Of several forms, only an object has keys.
  const forms = (definition.options ?? []).map(unwrap)
  return forms.find(({ shape, valueType }) => shape ?? valueType) ?? definition
}

function typeName(value: unknown): string {
  if (value === null) return "null"
  return Array.isArray(value) ? "a list" : typeof value
}
