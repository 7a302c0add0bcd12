// Agent files as Claude Code (`.claude/agents`) and opencode (`.opencode/agent`) write them, in our words: a description at
// the top, tools as a line or a table of switches, families of models, permissions by tool. What means nothing here is named.
import type { Rule } from "#kernel/config/schema.ts"
import { isFolderOf } from "#kernel/trust/places.ts"

type Value = Record<string, unknown>
/** `notes`: what is left out, for the person. */
export type Translated = { value: Value; notes: string[]; isOff?: boolean }

/** Tools that are named otherwise there, in lower case. */
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
/** What a tool needs. */
const permissions: Readonly<Record<string, string[]>> = {
  read: ["file.read"],
  glob: ["file.read"],
  grep: ["file.read"],
  ls: ["file.read"],
  write: ["file.write"],
  edit: ["file.edit", "file.write"],
  bash: ["bash.execute"],
  fetch: ["network.fetch"],
  subtask: ["agent.delegate"],
  todo: ["todo"],
  "*": ["*"],
}
const actions = ["allow", "ask", "deny"]
/** How things look there; nobody misses them. */
const cosmetic = ["color", "hidden"]
/** What those tools know and this one does not. */
const foreign =
  "hooks mcpServers memory background isolation effort maxTurns maxSteps steps top_p initialPrompt options".split(
    " ",
  )

/** The front matter of an agent file, translated. Keys of ours stay as they are. */
export function translateAgent(given: Value, file: string): Translated {
  const { description, disallowedTools, permission, permissionMode, disable, disabled, prompt, ...value } =
    given
  const notes: string[] = []
  for (const key of foreign)
    if (Object.hasOwn(value, key)) notes.push(`${key}: it means nothing here and is left out`)
  for (const key of [...cosmetic, ...foreign]) delete value[key]
  if (typeof description === "string") value.metadata = { description, ...(value.metadata as object) }
  const rules = [
    ...readTools(value),
    ...namesOf(disallowedTools).flatMap((name) => rulesFor(name, "*", "deny")),
    ...readPermissions(permission, notes),
    ...readMode(permissionMode, notes),
  ]
  const own = Array.isArray(value.permissions) ? value.permissions : []
  if (rules.length) value.permissions = [...rules, ...own]
  if (typeof value.skills === "string") value.skills = namesOf(value.skills)
  if (value.model === "inherit") delete value.model
  if (value.mode === "all" || (value.mode === undefined && isFolderOf("opencode", file)))
    value.mode = "primary"
  if (isFolderOf("claude", file) && typeof value.name === "string" && value.id === undefined)
    value.id = value.name
  if (typeof prompt === "string" && !/^\{file:/.test(prompt)) value.systemPrompt ??= prompt
  else if (prompt !== undefined)
    notes.push("prompt: a file cannot be named here; write the text below the front matter")
  return { value, notes, isOff: disable === true || disabled === true }
}

/** `tools` as a list of ours. Those that are switched off are denied: the others, also of servers, stay. */
function readTools(value: Value): Rule[] {
  const { tools: given } = value
  if (typeof given === "string") value.tools = namesOf(given).map(toolOf)
  else if (Array.isArray(given))
    value.tools = given.map((name) => (typeof name === "string" ? toolOf(name) : name))
  if (typeof given !== "object" || given === null || Array.isArray(given)) return []
  const switches = Object.entries(given)
  const isOn = switches.filter(([, on]) => on === true).map(([name]) => toolOf(name))
  if (switches.some(([name, on]) => name === "*" && on === false)) {
    value.tools = isOn
    return []
  }
  delete value.tools
  return switches.flatMap(([name, on]) => (on === false ? rulesFor(name, "*", "deny") : []))
}

/** opencode: an action for a tool, or one for each pattern of a tool; the last that fits wins, as here. */
function readPermissions(given: unknown, notes: string[]): Rule[] {
  if (typeof given === "string" && actions.includes(given)) return rulesFor("*", "*", given)
  return entriesOf(given).flatMap(([name, said]) => {
    const patterns = typeof said === "string" ? [["*", said] as const] : entriesOf(said)
    const rules = patterns.flatMap(([pattern, action]) => rulesFor(name, pattern, action))
    if (!rules.length) notes.push(`permission.${name}: it means nothing here and is left out`)
    return rules
  })
}

/** Claude Code. What would turn all questions off is not taken from a file. */
function readMode(given: unknown, notes: string[]): Rule[] {
  if (given === "plan") return ["write", "edit", "bash"].flatMap((name) => rulesFor(name, "*", "deny"))
  if (given === "acceptEdits") return rulesFor("edit", "*", "allow")
  if (given !== undefined && given !== "default")
    notes.push(
      `permissionMode: ${JSON.stringify(given)} is left out; name what the agent may do in permissions`,
    )
  return []
}

function rulesFor(name: string, pattern: string, action: unknown): Rule[] {
  if (!actions.includes(String(action))) return []
  const tool = toolOf(name)
  const found = Object.hasOwn(permissions, tool) ? permissions[tool]! : []
  return found.map((permission) => ({ permission, pattern, action: action as Rule["action"] }))
}

/** `Bash(git log:*)` is about bash; `mcp__server__tool` is a tool of a server. */
function toolOf(name: string): string {
  const plain = name.replace(/\(.*$/s, "").trim()
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(plain) ?? []
  if (server) return `${server}_${tool}`
  const lower = plain.toLowerCase()
  if (Object.hasOwn(aliases, lower)) return aliases[lower]!
  return Object.hasOwn(permissions, lower) ? lower : plain
}

/** Names with commas between them, outside of parentheses. */
function namesOf(given: unknown): string[] {
  const list = Array.isArray(given) ? given : typeof given === "string" ? given.split(/,(?![^(]*\))/) : []
  return list.map((name) => String(name).trim()).filter(Boolean)
}

function entriesOf(given: unknown): [string, unknown][] {
  return typeof given === "object" && given !== null ? Object.entries(given) : []
}
