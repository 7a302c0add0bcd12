// A message as a line for a person: a finished tool call (`· Edit src/config.ts (+1 -1)`), whose whole error is shown if it
// failed, or an attachment (`· attached src/app.ts:10-20`).
import { stripVTControlCharacters, styleText } from "node:util"
import { attachmentWords } from "#client/attachment-words.ts"
import { wordsOf } from "#client/describe-call.ts"
import * as Log from "#kernel/process/log.ts"
import type * as Message from "#knowledge/message/message.ts"

type Result = Message.Of<"tool_result">["data"]

const maxReason = 600
const maxSubject = 160
const maxLine = 500

export function callLine(call: Message.Call | undefined, result: Result, columns: number): string {
  const isDone = result.status === "success"
  const { verb, subject } = escapeVerb(
    wordsOf(call, result.toolName, isDone ? result.metadata?.title : undefined),
  )
  const mark = isDone ? paint("dim", "·") : paint("red", "✗")
  const about = oneLine(subject, isDone ? Math.max(20, columns - verb.length - 4) : maxSubject)
  const head = [mark, paint("bold", verb), about].filter(Boolean).join(" ")
  return isDone ? head : `${head}${about ? ":" : ""} ${reasonOf(result)}`
}

/** A call that may not have run yet, without colour. */
export function callWords(call: Message.Call): string {
  const { verb, subject } = escapeVerb(wordsOf(call, call.name))
  return [verb, oneLine(subject, maxSubject)].filter(Boolean).join(" ")
}

/** The subject is escaped when it is cut. */
function escapeVerb({ verb, subject }: { verb: string; subject: string }) {
  return { verb: Log.escapeControls(verb), subject }
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

function paint(format: Parameters<typeof styleText>[0], text: string): string {
  return styleText(format, text, { stream: process.stderr })
}

/** Undefined for other messages, and for attachments that are still being resolved. */
export function describeAttachment(message: Message.Info): string | undefined {
  const isAttachment =
    message.type === "file_reference" || message.type === "image" || message.type === "mcp_resource"
  const words = isAttachment ? attachmentWords(message) : undefined
  return words === undefined ? undefined : Log.escapeControls(words.slice(0, maxLine))
}
