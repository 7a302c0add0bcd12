// Checks the arguments of a call against the tool's schema. The error tells the model which field is wrong, what was
// expected and what came.
import type { z } from "zod"
import type { Definition, Json } from "#ability/call/types.ts"
import { type ToolSchema, zodToToolSchema } from "#ability/call/zod-to-tool-schema.ts"
import { errorText, NamedError } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import { isTooDeep } from "#util/parse/is-too-deep.ts"

const maxProblems = 10
type Issue = z.core.$ZodIssue

class InvalidArguments extends NamedError {
  constructor(tool: Definition, problems: string[], more = 0) {
    const shown = problems.map((problem) => `- ${problem}`)
    if (more > 0) shown.push(`- and ${more} more`)
    super(
      "Tool.InvalidArguments",
      `The arguments of "${tool.id}" do not fit, so it was not run:\n${shown.join("\n")}\nParameters: ${describe(schemaOf(tool))}`,
      { tool: tool.id, problems },
    )
  }
}

/** The parsed arguments, defaults filled in. Throws `InvalidArguments`. */
export async function readArguments(
  tool: Definition,
  call: { arguments?: Json; invalid?: string },
): Promise<unknown> {
  if (call.invalid !== undefined) throw new InvalidArguments(tool, [notJson(call.invalid)])
  // Many models send nothing for a tool whose parameters are all optional.
  const given = call.arguments ?? {}
  const parsed = await tool.parameters.safeParseAsync(given)
  if (parsed.success) return parsed.data
  const names = Object.keys((schemaOf(tool).properties ?? {}) as object)
  // Only the issues that are shown are formatted: there may be a hundred thousand.
  const issues = parsed.error.issues.flatMap(singly)
  const shown = issues.slice(0, maxProblems).map((issue) => problemOf(issue, given, names))
  throw new InvalidArguments(tool, shown, issues.length - shown.length)
}

function schemaOf({ inputSchema, parameters }: Definition): ToolSchema {
  return inputSchema ?? zodToToolSchema(parameters)
}

function notJson(text: string): string {
  let reason = "not the arguments of a call"
  if (isTooDeep(text)) reason = "nested deeper than 100 levels"
  try {
    JSON.parse(text)
  } catch (error) {
    reason = errorText(error)
  }
  const isCut = /Unexpected end|Unterminated/.test(reason) || reason.includes(` position ${text.length} `)
  const advice = isCut ? ". They break off, as at the limit of output tokens: send less in one call" : ""
  return `expected a JSON object, received ${show(text)} (${reason})${advice}`
}

/** One issue for each unknown key. */
function singly(issue: Issue): Issue[] {
  if (issue.code !== "unrecognized_keys") return [issue]
  return issue.keys.map((key) => ({ ...issue, keys: [key] }))
}

function problemOf(issue: Issue, given: Json, names: string[]): string {
  const place = issue.path.map(String).join(".") || "arguments"
  if (issue.code === "unrecognized_keys") {
    const [key = ""] = issue.keys
    const near = issue.path.length === 0 ? nearest(key, names) : undefined
    return `${show(key)} is not a parameter${near ? `; did you mean "${near}"?` : ""}`
  }
  const received = valueAt(given, issue.path)
  const wanted = issue.message.replace(/^Invalid input: /, "").replace(/, received [^,]*$/, "")
  if (received === undefined) return `${place}: missing, ${wanted}`
  const shown = show(received)
  const isSaid = issue.code === "custom" && wanted.includes(shown)
  return `${place}: ${wanted}${isSaid ? "" : `, received ${shown}`}`
}

function valueAt(value: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (part, key) =>
      typeof part === "object" && part !== null && Object.hasOwn(part, key)
        ? (part as Record<PropertyKey, unknown>)[key]
        : undefined,
    value,
  )
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

/** `path: string, startLine?: integer`. */
function describe(schema: ToolSchema): string {
  const required = new Set((schema.required ?? []) as string[])
  const properties = Object.entries((schema.properties ?? {}) as Record<string, ToolSchema>)
  const parts = properties.map(([name, part]) => `${name}${required.has(name) ? "" : "?"}: ${typeOf(part)}`)
  return parts.join(", ") || "none"
}

function typeOf(schema: ToolSchema): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
  if (schema.type === "array") return `list of ${typeOf((schema.items ?? {}) as ToolSchema)}`
  if (schema.type === "object" && schema.properties) return `{ ${describe(schema)} }`
  return typeof schema.type === "string" ? schema.type : "value"
}
