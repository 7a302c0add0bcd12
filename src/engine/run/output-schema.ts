// The JSON Schema of an answer: checks the schema itself, and an answer against it. Nothing is ever fetched: references must
// stay in the document. Loaded only if a prompt has such a schema.
import { createContext, runInContext } from "node:vm"
import { Ajv2019 } from "ajv/dist/2019.js"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv/dist/ajv.js"
import { errorText, NamedError } from "#util/error.ts"
import { isTooDeep } from "#util/parse/is-too-deep.ts"
import { shorten } from "#util/plain-text.ts"
import type { OutputSchema } from "./run.ts"

/** In characters of JSON. Every request carries the schema. */
export const maxSchema = 100_000
/** In characters. A check may take long on a longer text. */
const maxAnswer = 1_000_000
const maxDepth = 64
/** Milliseconds for one check: a pattern may take for ever, and references may branch without end. */
const checkLimit = 2_000
const maxProblems = 10
const maxProblem = 300

const options = { strict: false, allErrors: true, validateFormats: false, logger: false as const }
const drafts = [
  { name: "draft-07", uri: /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/, Validator: Ajv },
  { name: "2019-09", uri: /^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/, Validator: Ajv2019 },
  { name: "2020-12", uri: /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, Validator: Ajv2020 },
]
/** One value of each type: a schema that refers to itself without end fails for all of them. */
const probes = [null, true, 0, "", [], {}]
const fenced = /^```(?:json)?[ \t]*\n(.*?)\n?```$/is

const compiled = new WeakMap<OutputSchema, ValidateFunction>()

export class InvalidOutputSchema extends NamedError {
  constructor(reason: string) {
    super("Session.InvalidOutputSchema", `The output schema cannot be used: ${reason}`)
  }
}

export class OutputMismatch extends NamedError {
  constructor(tries: number, problems: readonly string[]) {
    const often = tries === 1 ? "" : ` in ${tries} tries`
    const text = `The answer does not fit the output schema${often}: ${problems.join("; ")}`
    super("Session.OutputMismatch", text, { tries, problems: [...problems] })
  }
}

/** Throws `InvalidOutputSchema` if no answer could be checked against it. */
export function checkSchema(schema: OutputSchema): void {
  if (compiled.has(schema)) return
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    throw new InvalidOutputSchema("it is not a JSON object.")
  if (isDeep(schema)) throw new InvalidOutputSchema(`it is nested deeper than ${maxDepth} levels.`)
  const size = JSON.stringify(schema).length
  if (size > maxSchema)
    throw new InvalidOutputSchema(`it has ${size} characters, and ${maxSchema} are the most.`)
  const remote = remoteReference(schema)
  if (remote !== undefined)
    throw new InvalidOutputSchema(
      `"$ref": ${JSON.stringify(shorten(remote, 200))} points outside the document, and nothing is fetched. Copy what it names into "$defs".`,
    )
  compiled.set(schema, compile(schema))
}

/** The value of an answer, or why it does not fit. A single fenced block counts as its contents. */
export function readOutput(schema: OutputSchema, text: string): { value: unknown } | { problems: string[] } {
  checkSchema(schema)
  if (text.length > maxAnswer) return { problems: [`it has more than ${maxAnswer} characters`] }
  const trimmed = text.trim()
  const json = fenced.exec(trimmed)?.[1] ?? trimmed
  if (isTooDeep(json)) return { problems: ["it is nested deeper than 100 levels"] }
  let value: unknown
  try {
    value = JSON.parse(json, refuseInfinite)
  } catch (error) {
    return { problems: [shorten(`it is not JSON: ${errorText(error)}`, maxProblem)] }
  }
  const validate = compiled.get(schema)!
  try {
    if (inTime(() => validate(value))) return { value }
  } catch (error) {
    return { problems: [shorten(`it cannot be checked: ${errorText(error)}`, maxProblem)] }
  }
  return { problems: sayErrors(validate.errors ?? []) }
}

/** `1e400` is JSON, but it would be written again as `null`. */
function refuseInfinite(_: string, value: unknown): unknown {
  if (value === Infinity || value === -Infinity) throw new Error("a number is too large")
  return value
}

function compile(schema: OutputSchema): ValidateFunction {
  const { $schema } = schema
  const draft = drafts.find(({ uri }) => uri.test(String($schema ?? "")))
  if ($schema !== undefined && !draft) {
    const names = drafts.map(({ name }) => name).join(", ")
    throw new InvalidOutputSchema(
      `"$schema" is ${JSON.stringify(shorten(String($schema), 200))}. Known: ${names}.`,
    )
  }
  try {
    const validate = new (draft?.Validator ?? Ajv2020)(options).compile(schema)
    inTime(() => probes.forEach((probe) => void validate(probe)))
    return validate
  } catch (error) {
    const isEndless = error instanceof RangeError
    const reason = isEndless ? "it refers to itself without end." : shorten(errorText(error), maxProblem)
    throw new InvalidOutputSchema(reason)
  }
}

/** Only V8's own limit of time ends a pattern that runs. */
function inTime<T>(work: () => T): T {
  try {
    return runInContext("work()", createContext({ work }), { timeout: checkLimit })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error
    throw new Error(`the check takes more than ${checkLimit / 1_000} s, perhaps because of a "pattern"`)
  }
}

function sayErrors(errors: readonly ErrorObject[]): string[] {
  const said = errors.map(({ instancePath, message, params, keyword }) => {
    const detail =
      keyword === "enum" || keyword === "const" || keyword.endsWith("Properties")
        ? ` ${JSON.stringify(params)}`
        : ""
    return shorten(`${instancePath || "the answer"} ${message ?? "is invalid"}${detail}`, maxProblem)
  })
  const unique = [...new Set(said)]
  const more = unique.length - maxProblems
  return more > 0 ? [...unique.slice(0, maxProblems), `and ${more} more`] : unique
}

/** Finds a reference to another document. A property may be called "$ref": then its value is a schema, not a text. */
function remoteReference(node: unknown): string | undefined {
  if (typeof node !== "object" || node === null) return undefined
  for (const [name, child] of Object.entries(node)) {
    if (["$ref", "$dynamicRef", "$recursiveRef"].includes(name) && typeof child === "string")
      if (!child.startsWith("#") && !drafts.some(({ uri }) => uri.test(child))) return child
    const found = remoteReference(child)
    if (found !== undefined) return found
  }
  return undefined
}

/** Level by level, since a recursion could overflow the stack. */
function isDeep(schema: object): boolean {
  let level: unknown[] = [schema]
  for (let depth = 0; depth <= maxDepth; depth++) {
    level = level.flatMap((node) => (typeof node === "object" && node !== null ? Object.values(node) : []))
    if (!level.length) return false
  }
  return true
}
