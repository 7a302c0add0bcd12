// The arguments of a call, checked against the tool's schema. What does not fit becomes an error from which a model
// can make the right call: which field, what was expected, what came.
import type { z } from "zod"
import { errorText, NamedError } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import type { Definition, Json } from "./tool.ts"
import { type ToolSchema, zodToToolSchema } from "./zod-to-tool-schema.ts"

const maxProblems = 10
type Issue = z.core.$ZodIssue

class InvalidArguments extends NamedError {
  constructor(tool: Definition, problems: string[]) {
    const more = problems.length - maxProblems
    const shown = problems.slice(0, maxProblems).map((problem) => `- ${problem}`)
    if (more > 0) shown.push(`- and ${more} more`)
    super(
      "Tool.InvalidArguments",
      `The arguments of "${tool.id}" do not fit, so it was not run:\n${shown.join("\n")}\nParameters: ${describe(schemaOf(tool))}`,
      { tool: tool.id, problems: problems.slice(0, maxProblems) },
    )
  }
}

/** The parsed arguments, defaults filled in. Throws `InvalidArguments`. */
export async function readArguments(
  tool: Definition,
  call: { arguments?: Json; invalid?: string },
): Promise<unknown> {
  if (call.invalid !== undefined) throw new InvalidArguments(tool, [notJson(call.invalid)])
  // For a tool whose parameters may all be left out, many models send nothing.
  const given = call.arguments ?? {}
  const parsed = await tool.parameters.safeParseAsync(given)
  if (parsed.success) return parsed.data
  const names = Object.keys((schemaOf(tool).properties ?? {}) as object)
  throw new InvalidArguments(
    tool,
    parsed.error.issues.flatMap((issue) => problemsOf(issue, given, names)),
  )
}

function schemaOf({ inputSchema, parameters }: Definition): ToolSchema {
  return inputSchema ?? zodToToolSchema(parameters)
}

function notJson(text: string): string {
  let reason = "not the arguments of a call"
  try {
    JSON.parse(text)
  } catch (error) {
    reason = errorText(error)
  }
  return `expected a JSON object, received ${show(text)} (${reason})`
}

function problemsOf(issue: Issue, given: Json, names: string[]): string[] {
  const place = issue.path.map(String).join(".") || "arguments"
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => {
      const near = issue.path.length === 0 ? nearest(key, names) : undefined
      return `${JSON.stringify(key)} is not a parameter${near ? `; did you mean "${near}"?` : ""}`
    })
  const received = valueAt(given, issue.path)
  const wanted = issue.message.replace(/^Invalid input: /, "").replace(/, received [^,]*$/, "")
  return [
    received === undefined
      ? `${place}: missing, ${wanted}`
      : `${place}: ${wanted}, received ${show(received)}`,
  ]
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
