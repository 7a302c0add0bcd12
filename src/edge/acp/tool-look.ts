// How a call of a tool looks: its kind, one line about it, and the file that it is about.
import { resolve } from "node:path"
import type { ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk"
import type * as Message from "#knowledge/message/message.ts"
import { code, firstLine } from "./markdown.ts"

type Look = {
  kind: ToolKind
  verb?: string
  /** The arguments that say best what it is about. */
  names?: string[]
}

/** Those of ours; of all others nobody knows what their arguments mean. */
const looks = new Map<string, Look>([
  ["bash", { kind: "execute", names: ["command", "job"] }],
  ["edit", { kind: "edit", verb: "Edit", names: ["path"] }],
  ["fetch", { kind: "fetch", verb: "Fetch", names: ["url"] }],
  ["glob", { kind: "search", verb: "Find files", names: ["pattern"] }],
  ["grep", { kind: "search", verb: "Search", names: ["pattern"] }],
  ["ls", { kind: "search", verb: "List", names: ["path"] }],
  ["read", { kind: "read", verb: "Read", names: ["path"] }],
  ["recall", { kind: "search", verb: "Recall", names: ["text", "under"] }],
  ["subtask", { kind: "think", verb: "Task", names: ["task"] }],
  ["symbols", { kind: "search", verb: "Find definitions", names: ["name", "path"] }],
  ["todo", { kind: "think", verb: "Plan" }],
  ["tool_search", { kind: "search", verb: "Find tools", names: ["query"] }],
  ["write", { kind: "edit", verb: "Write", names: ["path"] }],
])
const longestPath = 4_096

export function kindOf(tool: string): ToolKind {
  return looks.get(tool)?.kind ?? "other"
}

/** In Markdown. `title` is what the tool itself says once it has run. */
export function titleOf(call: Pick<Message.Call, "name" | "arguments">, title?: unknown): string {
  const look = looks.get(call.name)
  if (!look) return code(firstLine(call.name) || "a tool")
  const subject = typeof title === "string" && title.trim() ? title : subjectOf(call, look)
  const parts = [look.verb, subject && code(firstLine(subject))].filter(Boolean)
  return parts.join(" ") || code(call.name)
}

/** With absolute paths. `line` is where the file was changed. */
export function locationsOf(
  call: Pick<Message.Call, "name" | "arguments">,
  place: { directory: string; line?: number | undefined },
): ToolCallLocation[] {
  const path = argument(call, "path")
  if (!looks.has(call.name) || typeof path !== "string" || !isPath(path)) return []
  const line = place.line ?? argument(call, "startLine")
  const isLine = Number.isSafeInteger(line) && (line as number) > 0 && (line as number) < 2 ** 32
  return [{ path: resolve(place.directory, path), ...(isLine ? { line: line as number } : {}) }]
}

/** Of a call whose arguments may be anything. */
export function argument({ arguments: given }: Pick<Message.Call, "arguments">, name: string): unknown {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return undefined
  return Object.hasOwn(given, name) ? (given as Record<string, unknown>)[name] : undefined
}

export function isPath(text: string): boolean {
  return text !== "" && text.length <= longestPath && !text.includes("\0")
}

function subjectOf(call: Pick<Message.Call, "arguments">, { names = [] }: Look): string | undefined {
  const values = names.map((name) => argument(call, name))
  return values.find((value): value is string => typeof value === "string" && value.trim() !== "")
}
