// Translates the tool names of Claude Code and opencode into our tools and rules.
import type { Rule } from "#kernel/schema/schema.ts"

/** The name of a tool in Claude Code or opencode, in lower case, and our tool. */
const aliases: Readonly<Record<string, string>> = {
  multiedit: "edit",
  notebookedit: "edit",
  patch: "edit",
  list: "ls",
  webfetch: "fetch",
  task: "subtask",
  agent: "subtask",
  todowrite: "todo",
  todoread: "todo",
  bashoutput: "bash",
  killshell: "bash",
}
/** The permissions that a tool needs. */
const permissions: Readonly<Record<string, string[]>> = {
  read: ["file.read"],
  glob: ["file.read"],
  grep: ["file.read"],
  ls: ["file.read"],
  symbols: ["file.read"],
  recall: ["file.read"],
  write: ["file.write"],
  edit: ["file.edit", "file.write"],
  bash: ["bash.execute"],
  fetch: ["network.fetch"],
  subtask: ["agent.delegate"],
  todo: ["todo"],
  "*": ["*"],
}
export const actions = ["allow", "ask", "deny"] as const
export type Action = (typeof actions)[number]

export function rulesFor(name: string, pattern: string, action: Action): Rule[] {
  const tool = toolOf(name)
  const found = Object.hasOwn(permissions, tool) ? permissions[tool]! : []
  return found.map((permission) => ({
    permission,
    pattern: permission.startsWith("file.") ? acrossFolders(pattern, action) : pattern,
    action,
  }))
}

/** Their `*` also matches "/", ours does not. Deny and ask rules are widened to match as much as theirs. An allow rule
 * is widened only if it is `*`. */
function acrossFolders(pattern: string, action: Action): string {
  if (action === "allow") return pattern === "*" ? "**" : pattern
  if (pattern === "*") return pattern
  const across = pattern
    .split("/")
    .map((part) => (/^\*+$/.test(part) ? "**" : part.includes("*") ? `**/${part}` : part))
    .join("/")
  return /[^*/]\*$/.test(across) ? `${across}/**` : across
}

/** Rules for a tool that is not built in: a tool of the configuration, or of an MCP server (`mcp__server__tool` and
 * `mcp__server` in Claude Code, `server_tool` in opencode). The name of a server may have underscores too, so there is a
 * rule for every place where it could end. */
export function rulesForOthers(name: string, action: "ask" | "deny"): Rule[] {
  const plain = plainName(name)
  if (/^mcp__./.test(plain)) {
    const parts = plain.slice("mcp__".length).split("__")
    const targets = parts.map(
      (_, i) => `${joined(parts.slice(0, i + 1))}/${joined(parts.slice(i + 1)) || "*"}`,
    )
    return targets.map((pattern) => ({ permission: "mcp.call", pattern, action }))
  }
  const parts = plain.split("_")
  const targets = parts
    .slice(1)
    .map((_, i) => `${parts.slice(0, i + 1).join("_")}/${parts.slice(i + 1).join("_")}`)
  if (plain.endsWith("*")) targets.push(plain)
  return [
    { permission: "tool.execute", pattern: plain, action },
    ...targets.map((pattern) => ({ permission: "mcp.call", pattern, action })),
  ]
}

function joined(parts: string[]): string {
  return parts.join("__")
}

function plainName(name: string): string {
  return name.replace(/\(.*$/s, "").trim()
}

/** The text in parentheses; undefined if there is none, or if it matches everything. */
export function limitOf(name: string): string | undefined {
  const limit = /\((.*)$/s.exec(name.trim())?.[1]?.replace(/\)$/, "").trim()
  return limit === "*" || limit === ":*" || limit === "" ? undefined : limit
}

/** The text in parentheses as patterns, or `*` if there is none. Undefined for tools whose limit we cannot express. */
export function patternsOf(name: string): string[] | undefined {
  const limit = limitOf(name)
  if (limit === undefined) return ["*"]
  const tool = toolOf(name)
  if (tool === "subtask") return limit.split(",").map((id) => id.trim())
  if (tool !== "bash") return undefined
  const start = /^(.+):\*$/s.exec(limit)?.[1]
  return start ? [start, `${start} *`] : [limit]
}

/** Our name of a tool: `bash` for `Bash(git log:*)`, `server_tool` for `mcp__server__tool`. A name stays as it is if it
 * ends in a star, or has more double underscores, so that the end of the server's name is unknown. */
export function toolOf(name: string): string {
  const plain = plainName(name)
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(plain) ?? []
  if (server) return tool === "*" || tool!.includes("__") ? plain : `${server}_${tool}`
  const lower = plain.toLowerCase()
  if (Object.hasOwn(aliases, lower)) return aliases[lower]!
  return Object.hasOwn(permissions, lower) ? lower : plain
}

/** Splits a list of names at commas, but not inside parentheses. */
export function namesOf(given: unknown): string[] {
  const list = Array.isArray(given) ? given : typeof given === "string" ? given.split(/,(?![^(]*\))/) : []
  return list.map((name) => String(name).trim()).filter(Boolean)
}
