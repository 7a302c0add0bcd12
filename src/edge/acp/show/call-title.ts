// The title of a tool call in an editor, and the file locations of the call.
import { resolve } from "node:path"
import type { ToolCallLocation } from "@agentclientprotocol/sdk"
import { argument, describeCall } from "#client/describe-call.ts"
import type * as Message from "#knowledge/message/message.ts"
import { code, firstLine } from "./markdown.ts"

const maxPath = 4_096

/** The title as Markdown. `title` is the one that the tool returned with its result. */
export function titleOf(call: Pick<Message.Call, "name" | "arguments">, title?: unknown): string {
  const words = describeCall(call, title)
  if (!words) return code(firstLine(call.name) || "a tool")
  const subject = words.subject && code(firstLine(words.subject))
  // An editor marks a call of kind "execute" as a command, so its title needs no verb.
  const verb = call.name === "bash" && subject ? "" : words.verb
  return [verb, subject].filter(Boolean).join(" ")
}

/** Locations with absolute paths. `line` is the line of the first change. */
export function locationsOf(
  call: Pick<Message.Call, "name" | "arguments">,
  place: { directory: string; line?: number | undefined },
): ToolCallLocation[] {
  const path = argument(call, "path")
  if (!describeCall(call) || typeof path !== "string" || !isPath(path)) return []
  const line = place.line ?? argument(call, "startLine")
  const isLine = Number.isSafeInteger(line) && (line as number) > 0 && (line as number) < 2 ** 32
  return [{ path: resolve(place.directory, path), ...(isLine ? { line: line as number } : {}) }]
}

export function isPath(text: string): boolean {
  return text !== "" && text.length <= maxPath && !text.includes("\0")
}
