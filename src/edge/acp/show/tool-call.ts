// Converts a tool call for an editor: `requested` when the model asks for it, `finished` when it has a result.
import { createHash } from "node:crypto"
import type { ToolCall, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk"
import { argument, kindOf } from "#client/describe-call.ts"
import * as Message from "#knowledge/message/message.ts"
import { boundedJson } from "./bounded-json.ts"
import { locationsOf, titleOf } from "./call-title.ts"
import { appliedChanges, proposedChanges } from "./diffs.ts"
import { fence, firstLine, middleCut } from "./markdown.ts"

type Result = Message.Of<"tool_result">["data"]
/** The message that contains a call, and the folder that its paths are relative to. */
export type Place = { messageId: string; directory: string }

const maxOutput = 20_000
const maxCommand = 10_000

/** Models may use the same call id in several turns, and any text as an id. */
function toolCallId(messageId: string, callId: string): string {
  const isPlain = /^[\w.-]{1,64}$/.test(callId)
  return `${messageId}.${isPlain ? callId : createHash("sha256").update(callId).digest("hex").slice(0, 32)}`
}

/** `old` is the text that `write` would replace: null if there is no file, undefined if unknown. */
export function requested(call: Message.Call, place: Place, old?: string | null): ToolCall {
  const { name, invalid } = call
  const content = [...commandOf(call), ...proposedChanges(call, place.directory, old)]
  return {
    toolCallId: toolCallId(place.messageId, call.id),
    name: firstLine(name),
    title: titleOf(call),
    kind: kindOf(name),
    status: "pending",
    locations: locationsOf(call, place),
    rawInput: boundedJson(invalid ?? call.arguments),
    ...(content.length ? { content } : {}),
  }
}

export function finished(call: Message.Call, result: Result, place: Place): ToolCallUpdate {
  const id = toolCallId(place.messageId, call.id)
  const { status, output, error, metadata } = result
  if (status !== "success") {
    const message = error?.message ?? textOf(output)
    return {
      toolCallId: id,
      status: "failed",
      content: [...commandOf(call), block(message)],
      rawOutput: boundedJson({ error: message }),
    }
  }
  const data = Message.dataOf(result)
  const { content: changes, line } = appliedChanges(call, place.directory, data)
  const text = textOf(output)
  const shown = call.name === "subtask" ? plain(text) : block(text)
  return {
    toolCallId: id,
    status: "completed",
    title: titleOf(call, metadata?.title),
    content: changes.length ? changes : [...commandOf(call), ...(text ? [shown] : [])],
    locations: locationsOf(call, { ...place, line }),
    rawOutput: boundedJson(data === undefined ? output : withoutDiff(data)),
  }
}

/** Output of tools is never rendered as Markdown: a web page may contain images that the editor would load. */
export function block(text: string, language?: string): ToolCallContent {
  return contentOf(fence(middleCut(text, maxOutput), language))
}

export function plain(text: string): ToolCallContent {
  return contentOf(middleCut(text, maxOutput))
}

/** The whole shell command, if the title shows only its first line. */
function commandOf(call: Message.Call): ToolCallContent[] {
  const command = call.name === "bash" ? argument(call, "command") : undefined
  if (typeof command !== "string" || firstLine(command) === command) return []
  return [block(middleCut(command, maxCommand), "sh")]
}

function contentOf(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } }
}

function textOf(output: Message.Json): string {
  return typeof output === "string" ? output : JSON.stringify(output, null, 2)
}

/** The diff is already shown as content. */
function withoutDiff(data: unknown): unknown {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return data
  const { diff: _, ...rest } = data as Record<string, unknown>
  return rest
}
