// A tool call in words: "Edit src/config.ts (+1 -1)". The terminal and editors show the same text.

export type CallKind = "execute" | "edit" | "fetch" | "search" | "read" | "think" | "other"
type Call = { name: string; arguments?: unknown }
type Description = {
  kind: CallKind
  verb: string
  /** The arguments that describe the call best. */
  names?: string[]
  /** If none of them is there. */
  otherwise?: string
}

/** Only the built-in tools: what the arguments of others mean is unknown. */
const descriptions = new Map<string, Description>([
  ["bash", { kind: "execute", verb: "Run", names: ["command", "job"] }],
  ["delegate", { kind: "think", verb: "Delegate", names: ["task"], otherwise: "the rest of the plan" }],
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

export function kindOf(tool: string): CallKind {
  return descriptions.get(tool)?.kind ?? "other"
}

/** `title` is the tool's own text after it has run. Undefined for tools that are not built in. */
export function describeCall(call: Call, title?: unknown): { verb: string; subject: string } | undefined {
  const known = descriptions.get(call.name)
  if (!known) return undefined
  const subject = typeof title === "string" && title.trim() ? title : subjectOf(call, known)
  return { verb: known.verb, subject: subject ?? "" }
}

/** Of any tool, also of one whose call is unknown. Nothing is escaped. */
export function wordsOf(
  call: Call | undefined,
  tool: string,
  title?: unknown,
): { verb: string; subject: string } {
  const known = call && describeCall(call, title)
  if (known) return known
  const text = typeof title === "string" && title.trim() ? title : shortArguments(call?.arguments)
  // Some titles begin with the name of their tool.
  return { verb: tool, subject: text.startsWith(`${tool} `) ? text.slice(tool.length) : text }
}

/** One argument of a call; the arguments may be anything. */
export function argument({ arguments: given }: Pick<Call, "arguments">, name: string): unknown {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return undefined
  return Object.hasOwn(given, name) ? (given as Record<string, unknown>)[name] : undefined
}

/** With the agent that gets a task in front. */
function subjectOf(call: Call, { names = [], kind, otherwise }: Description): string | undefined {
  const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== ""
  const subject = names.map((name) => argument(call, name)).find(isText)
  const agent = kind === "think" ? argument(call, "agent") : undefined
  return subject && isText(agent) ? `${agent}: ${subject}` : (subject ?? otherwise)
}

function shortArguments(args: unknown): string {
  if (typeof args !== "object" || args === null) return ""
  return Object.values(args)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join(" ")
}
