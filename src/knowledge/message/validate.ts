// Validates a message beyond its shape before it is accepted. Stored messages are read more leniently: a broken rule
// must not hide a history.
import { posix } from "node:path"
import {
  assertNever,
  type Call,
  type Check,
  Info,
  type Of,
  type Problem,
  problemsOf,
  toCheck,
  toolName,
} from "./schema.ts"

/** `allowEmpty` accepts a text without content. An answer that has just begun or was cut off may always be empty. */
export function validate(message: unknown, options: { allowEmpty?: boolean } = {}): Check {
  const shape = Info.safeParse(message)
  if (!shape.success) return toCheck(problemsOf(shape.error))
  const { id, sessionId } = shape.data
  return toCheck([...required({ id, sessionId }, ""), ...problemsIn(shape.data, options.allowEmpty ?? false)])
}

function problemsIn(message: Info, allowEmpty: boolean): Problem[] {
  switch (message.type) {
    case "text":
      return allowEmpty || mayBeEmpty(message) || saysSomething(message)
        ? []
        : [{ path: "data.parts", message: "the content is empty" }]
    case "image":
      return required({ "source.value": message.data.source.value })
    case "file_reference":
      return [...pathProblems(message.data.path), ...rangeProblems(message.data)]
    case "tool_request":
      return callsProblems(message.data.calls)
    case "tool_result":
      return resultProblems(message.data)
    case "system_control":
      return [
        ...required({ control: message.data.control }),
        ...jsonProblems("data.parameters", message.data.parameters),
      ]
    case "mcp_resource":
      return required({ serverName: message.data.serverName, resourceUri: message.data.resourceUri })
    case "unknown":
      return isJsonText(message.data.original)
        ? []
        : [{ path: "data.original", message: "the text is not JSON" }]
    default:
      return assertNever(message)
  }
}

function mayBeEmpty({ data }: Of<"text">): boolean {
  return (
    data.role === "assistant" && (!data.finish || data.finish === "interrupted" || data.finish === "error")
  )
}

/** Reasoning without text may be encrypted. */
function saysSomething({ data }: Of<"text">): boolean {
  return data.parts.some((part) => /\S/.test(part.text) || part.providerMetadata !== undefined)
}

function pathProblems(path: string): Problem[] {
  const problem = (message: string) => [{ path: "data.path", message }]
  if (path.trim() === "") return problem("the path is empty")
  if (path.includes("\0")) return problem("the path has a NUL character")
  if (path.split(/[/\\]/).includes("..")) return problem(`${JSON.stringify(path)} has a ".." segment`)
  const normal = posix.normalize(path)
  return normal === path
    ? []
    : problem(`${JSON.stringify(path)} is not normalised; write ${JSON.stringify(normal)}`)
}

function rangeProblems({ startLine, endLine }: Of<"file_reference">["data"]): Problem[] {
  const problems: Problem[] = []
  for (const [name, line] of Object.entries({ startLine, endLine }))
    if (line !== undefined && (!Number.isInteger(line) || line < 1))
      problems.push({ path: `data.${name}`, message: `lines are whole numbers from 1, not ${line}` })
  if (endLine !== undefined && startLine !== undefined && endLine < startLine)
    problems.push({ path: "data.endLine", message: `line ${endLine} is before line ${startLine}` })
  return problems
}

function callsProblems(calls: readonly Call[]): Problem[] {
  if (!calls.length) return [{ path: "data.calls", message: "there is no call" }]
  const seen = new Set<string>()
  return calls.flatMap((call, i) => {
    const path = `data.calls.${i}`
    const problems = required({ id: call.id }, `${path}.`)
    if (call.id && seen.has(call.id))
      problems.push({ path: `${path}.id`, message: `${JSON.stringify(call.id)} is already the id of a call` })
    seen.add(call.id)
    if (!toolName.test(call.name))
      problems.push({
        path: `${path}.name`,
        message: `${JSON.stringify(call.name)} is no tool name; 1 to 64 letters, digits, "_" and "-" are`,
      })
    if (call.invalid !== undefined)
      problems.push({ path: `${path}.arguments`, message: "the arguments of the model are not JSON" })
    return [...problems, ...jsonProblems(`${path}.arguments`, call.arguments)]
  })
}

function resultProblems(data: Of<"tool_result">["data"]): Problem[] {
  const problems = [...required({ requestId: data.requestId }), ...jsonProblems("data.output", data.output)]
  if (data.status === "error" && !data.error?.message)
    problems.push({ path: "data.error", message: "a failed call needs an error message" })
  if (data.duration < 0) problems.push({ path: "data.duration", message: "a duration is not negative" })
  return problems
}

function jsonProblems(path: string, value: unknown): Problem[] {
  return isJson(value) ? [] : [{ path, message: "the value is not JSON" }]
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function required(fields: Record<string, string>, prefix = "data."): Problem[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    value.trim() === "" ? [{ path: `${prefix}${name}`, message: "it is empty" }] : [],
  )
}

/** Whether a value would come back from JSON as it is: no functions, no NaN, no cycles, no instances of classes. */
function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value)
  } catch {
    return false
  }
  const waiting: unknown[] = [value]
  const seen = new Set<unknown>()
  for (const item of waiting) {
    if (item === null || typeof item === "string" || typeof item === "boolean") continue
    if (typeof item === "number" && Number.isFinite(item)) continue
    if (typeof item !== "object") return false
    if (seen.has(item)) continue
    seen.add(item)
    if (Array.isArray(item)) for (const child of item) waiting.push(child)
    else if (isPlain(item))
      for (const child of Object.values(item)) {
        if (child !== undefined) waiting.push(child)
      }
    else return false
  }
  return true
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
