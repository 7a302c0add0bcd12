// A message as a line for a person: a finished tool call (`· Edit src/config.ts (+1 -1)`), whose whole error is shown if it
// failed, or an attachment (`· attached src/app.ts:10-20`).
import { stripVTControlCharacters, styleText } from "node:util"
import { describeCall } from "#client/describe-call.ts"
import * as Log from "#kernel/process/log.ts"
import * as Message from "#knowledge/message/message.ts"

type Result = Message.Of<"tool_result">["data"]

const maxReason = 600
const maxSubject = 160

const maxLine = 500

export function callLine(call: Message.Call | undefined, result: Result, columns: number): string {
  const isDone = result.status === "success"
  const { verb, subject } = wordsOf(call, result.toolName, isDone ? result.metadata?.title : undefined)
  const mark = isDone ? paint("dim", "·") : paint("red", "✗")
  const about = oneLine(subject, isDone ? Math.max(20, columns - verb.length - 4) : maxSubject)
  const head = [mark, paint("bold", verb), about].filter(Boolean).join(" ")
  return isDone ? head : `${head}${about ? ":" : ""} ${reasonOf(result)}`
}

/** A call that may not have run yet, without colour. */
export function callWords(call: Message.Call): string {
  const { verb, subject } = wordsOf(call, call.name)
  return [verb, oneLine(subject, maxSubject)].filter(Boolean).join(" ")
}

function wordsOf(call: Message.Call | undefined, tool: string, title?: unknown) {
  const known = call && describeCall(call, title)
  if (known) return known
  const text = typeof title === "string" && title.trim() ? title : shortArguments(call?.arguments)
  // Some titles begin with the name of their tool.
  const subject = text.startsWith(`${tool} `) ? text.slice(tool.length) : text
  return { verb: Log.escapeControls(tool), subject }
}

function reasonOf({ error, output }: Result): string {
  const text = error?.message ?? (typeof output === "string" ? output : JSON.stringify(output))
  return oneLine(text, maxReason)
}

/** Escaped, so that it cannot control the terminal. */
function oneLine(text: string, max: number): string {
  const line = stripVTControlCharacters(text).trim().replace(/\s+/g, " ")
  if (line.length <= max) return Log.escapeControls(line)
  // The outcome is at the end: `(exit 1)`, `(+3 -1)`.
  const end = / \([^()]{1,20}\)$/.exec(line)?.[0] ?? ""
  return Log.escapeControls(`${line.slice(0, Math.max(0, max - end.length - 1))}…${end}`)
}

function shortArguments(args: unknown): string {
  if (typeof args !== "object" || args === null) return ""
  return Object.values(args)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join(" ")
}

function paint(format: Parameters<typeof styleText>[0], text: string): string {
  return styleText(format, text, { stream: process.stderr })
}

/** Undefined for other messages, and for attachments that are still being resolved. */
export function describeAttachment(message: Message.Info): string | undefined {
  if (message.type === "mcp_resource") return describeResource(message.data)
  if (message.type !== "file_reference" && message.type !== "image") return undefined
  const isFile = message.type === "file_reference"
  const state = isFile ? message.data.status : message.data.state
  // The model itself will see the image.
  if (state === "pending" && (isFile || !message.data.usedMode)) return undefined
  const name = isFile ? Message.fileName(message.data) : nameOf(message.data)
  const line =
    state === "failed"
      ? `✗ ${name} could not be attached: ${message.data.error ?? "the reason is not known"}`
      : `· attached ${name}`
  return Log.escapeControls(line.slice(0, maxLine))
}

function describeResource(data: Message.Of<"mcp_resource">["data"]): string | undefined {
  const { serverName, resourceUri, error, retrievedAt } = data
  if (error === undefined && !retrievedAt) return undefined
  const name = `${serverName}:${resourceUri}`
  const line = error === undefined ? `· attached ${name}` : `✗ ${name} could not be attached: ${error}`
  return Log.escapeControls(line.slice(0, maxLine))
}

function nameOf({ source, usedMode }: Message.Of<"image">["data"]): string {
  const isShort = source.kind !== "base64" && !source.value.startsWith("data:")
  return `${isShort ? source.value : "an image"}${usedMode ? ` (${usedMode})` : ""}`
}
