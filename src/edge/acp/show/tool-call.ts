// A call of a tool as an editor shows it: when it is asked for, and when it is over.
import { createHash } from "node:crypto"
import type { ToolCall, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk"
import { argument, kindOf } from "#ability/call/describe-call.ts"
import * as Message from "#knowledge/message/message.ts"
import { boundedJson } from "./bounded-json.ts"
import { madeChanges, wantedChanges } from "./diffs.ts"
import { fence, firstLine, middleCut } from "./markdown.ts"
import { locationsOf, titleOf } from "./tool-look.ts"

type Result = Message.Of<"tool_result">["data"]
/** Where a call stands. */
export type Place = { messageId: string; directory: string }

const maxOutput = 20_000
const maxCommand = 10_000

/** Ids of models come again in later turns, and may be any text. */
function toolCallId(messageId: string, callId: string): string {
  const isPlain = /^[\w.-]{1,64}$/.test(callId)
  return `${messageId}.${isPlain ? callId : createHash("sha256").update(callId).digest("hex").slice(0, 32)}`
}

/** `old` is what the file has now that `write` would replace, where that is known. */
export function requested(call: Message.Call, place: Place, old?: string | null): ToolCall {
  const { name, invalid } = call
  const content = [...commandOf(call), ...wantedChanges(call, place.directory, old)]
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
  const { content: changes, line } = madeChanges(call, place.directory, data)
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

/** What comes from tools is never drawn: a page may have images that would be loaded. */
export function block(text: string, language?: string): ToolCallContent {
  return contentOf(fence(middleCut(text, maxOutput), language))
}

export function plain(text: string): ToolCallContent {
  return contentOf(middleCut(text, maxOutput))
}

/** Whole, where the title shows only its beginning. */
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
