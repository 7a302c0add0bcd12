// Tools as hooks of other agents know them: names (`bash` is `Bash`), arguments (`path` is `file_path`, absolute) and
// results, in both directions.
import { resolve } from "node:path"
import type { Definition, Json, Result } from "#ability/call/types.ts"
import { Instance } from "#kernel/instance.ts"
import { isPlain, type Raw } from "#kernel/schema/check.ts"

type Rename = readonly [ours: string, theirs: string]
type Known = {
  /** The first one is the name that hooks are told; matchers may use any. */
  names: readonly string[]
  fields?: readonly Rename[]
}

const file: Rename = ["path", "file_path"]
const known: Record<string, Known> = {
  bash: { names: ["Bash"], fields: [["background", "run_in_background"]] },
  edit: { names: ["Edit", "MultiEdit", "apply_patch"], fields: [file] },
  write: { names: ["Write", "apply_patch"], fields: [file] },
  read: { names: ["Read"], fields: [file] },
  glob: { names: ["Glob"] },
  grep: {
    names: ["Grep"],
    fields: [
      ["ignoreCase", "-i"],
      ["context", "-C"],
      ["limit", "head_limit"],
    ],
  },
  ls: { names: ["LS"] },
  fetch: { names: ["WebFetch"] },
  todo: { names: ["TodoWrite"] },
  subtask: {
    names: ["Task", "Agent"],
    fields: [
      ["task", "prompt"],
      ["agent", "subagent_type"],
    ],
  },
  delegate: {
    names: ["Task", "Agent"],
    fields: [
      ["task", "prompt"],
      ["agent", "subagent_type"],
    ],
  },
  tool_search: { names: ["ToolSearch"] },
}

/** All names of a tool: the one that hooks are told first, our own last. */
export function namesOf({ id, server }: Pick<Definition, "id" | "server">): string[] {
  if (server !== undefined) return [`mcp__${server}__${toolOf(id, server)}`, id]
  const { names = [] } = Object.hasOwn(known, id) ? known[id]! : {}
  return [...names, id]
}

function toolOf(id: string, server: string): string {
  const prefix = `${server.replace(/[^\w-]/g, "_")}_`
  return id.startsWith(prefix) ? id.slice(prefix.length) : id
}

/** The name and the arguments of a call for hooks. */
export function toHook(
  tool: Pick<Definition, "id" | "server">,
  args: unknown,
): { tool_name: string; tool_input: Raw } {
  const [tool_name = tool.id] = namesOf(tool)
  const input: Raw = isPlain(args) ? renamed(args, fieldsOf(tool.id)) : {}
  if (typeof input.file_path === "string") input.file_path = resolve(Instance.directory, input.file_path)
  if (tool.id === "bash" && typeof input.timeout === "number") input.timeout *= 1_000
  if (tool.id === "read") return { tool_name, tool_input: linesToOffset(input) }
  if (tool.id === "subtask" && typeof input.prompt === "string") input.description = input.prompt.slice(0, 80)
  if (tool.id !== "edit" || !Array.isArray(input.edits)) return { tool_name, tool_input: input }
  const edits = input.edits.map((edit) => renamed(edit as Raw, editFields))
  if (edits.length !== 1) return { tool_name: "MultiEdit", tool_input: { ...input, edits } }
  const { edits: _, ...rest } = input
  return { tool_name, tool_input: { ...rest, ...edits[0] } }
}

/** Arguments that a hook gave back, in our form. `before` are those that it was told about. */
export function fromHook(tool: Pick<Definition, "id">, updated: Raw, before: unknown): Json {
  const given = { ...updated }
  const path = isPlain(before) ? before.path : undefined
  // The path as the model wrote it, unless the hook has changed it.
  if (typeof path === "string" && given.file_path === resolve(Instance.directory, path))
    given.file_path = path
  if (tool.id === "bash") {
    delete given.description
    if (typeof given.timeout === "number") given.timeout = Math.max(1, Math.round(given.timeout / 1_000))
  }
  if (tool.id === "subtask") delete given.description
  if (tool.id === "fetch") delete given.prompt
  const args = renamed(tool.id === "read" ? offsetToLines(given) : given, fieldsOf(tool.id).map(swapped))
  if (tool.id !== "edit") return args as Json
  const { old_string, new_string, replace_all, edits, ...rest } = args
  const list = Array.isArray(edits) ? edits : [clean({ old_string, new_string, replace_all })]
  return { ...rest, edits: list.map((edit) => renamed(edit as Raw, editFields.map(swapped))) } as Json
}

/** The result of a call, for PostToolUse. */
export function responseOf(
  { id }: Pick<Definition, "id">,
  input: Raw,
  { text, data }: Pick<Result, "text" | "data">,
): unknown {
  const { exitCode } = (isPlain(data) ? data : {}) as { exitCode?: unknown }
  if (id === "bash") return { stdout: text, stderr: "", interrupted: false, ...clean({ exitCode }) }
  if (id === "write" || id === "edit") return { filePath: input.file_path, success: true, message: text }
  if (id === "read") return { type: "text", file: { filePath: input.file_path, content: text } }
  return isPlain(data) ? { ...data, content: text } : { content: text }
}

const editFields: readonly Rename[] = [
  ["oldText", "old_string"],
  ["newText", "new_string"],
  ["replaceAll", "replace_all"],
]

function fieldsOf(id: string): readonly Rename[] {
  return (Object.hasOwn(known, id) ? known[id]!.fields : undefined) ?? []
}

function swapped([ours, theirs]: Rename): Rename {
  return [theirs, ours]
}

function renamed(value: Raw, fields: readonly Rename[]): Raw {
  const names = new Map(fields)
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [names.get(name) ?? name, item]))
}

function linesToOffset({ startLine, endLine, ...rest }: Raw): Raw {
  const start = typeof startLine === "number" ? startLine : 1
  const limit = typeof endLine === "number" ? endLine - start + 1 : undefined
  return { ...rest, ...clean({ offset: startLine, limit }) }
}

function offsetToLines({ offset, limit, ...rest }: Raw): Raw {
  const start = typeof offset === "number" ? Math.max(1, offset) : undefined
  const endLine = typeof limit === "number" ? (start ?? 1) + limit - 1 : undefined
  return { ...rest, ...clean({ startLine: start, endLine }) }
}

function clean(value: Raw): Raw {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined))
}
