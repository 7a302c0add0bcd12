// Translates the front matter of agent files of Claude Code (`.claude/agents`) and opencode (`.opencode/agent`) into
// our keys: the description, the tools (a list, or a table of booleans), the permissions of each tool. Keys that are
// not supported here are reported.
import { basename } from "node:path"
import { isFolderOf } from "#kernel/reviewed/places.ts"
import type { Rule } from "#kernel/schema/schema.ts"
import { Invalid } from "./agent.ts"
import {
  type Action,
  actions,
  limitOf,
  namesOf,
  patternsOf,
  rulesFor,
  rulesForOthers,
  toolOf,
} from "./foreign-tools.ts"

type Value = Record<string, unknown>
/** `notes` tell the person which parts are ignored. `isOff`: the file disables its agent. */
export type Translated = { value: Value; notes: string[]; isOff?: boolean }
type Reading = { notes: string[]; refuse(path: string, expected: string, received: unknown): never }

/** Permissions of opencode that do not belong to a tool. */
const noTools = ["doom_loop", "external_directory"]
/** Keys about appearance, which are ignored silently. */
const cosmetic = ["color", "hidden"]
/** Keys of Claude Code and opencode that are not supported here. */
const foreign =
  "hooks mcpServers memory background isolation effort maxTurns maxSteps steps top_p initialPrompt options".split(
    " ",
  )

/** The translated front matter of an agent file. Our own keys stay unchanged. */
export function translateAgent(given: Value, file: string): Translated {
  const { description, disallowedTools, permission, permissionMode, disable, disabled, prompt, ...value } =
    given
  const notes: string[] = []
  const reading: Reading = {
    notes,
    refuse(path, expected, received) {
      const message = `expected ${expected}, received ${JSON.stringify(received)}`
      throw new Invalid([{ source: basename(file), path, message }])
    },
  }
  for (const key of foreign)
    if (Object.hasOwn(value, key)) notes.push(`${key}: it is not supported and ignored`)
  for (const key of [...cosmetic, ...foreign]) delete value[key]
  if (typeof description === "string") value.metadata = { description, ...(value.metadata as object) }
  const mode = readMode(permissionMode, notes)
  // The last matching rule wins, so allow rules of the mode come first, and denials come last.
  const rules = [
    ...mode.filter(({ action }) => action === "allow"),
    ...readTools(value, reading),
    ...readPermissions(permission, reading),
    ...mode.filter(({ action }) => action === "deny"),
    ...readDenials(disallowedTools, reading),
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

/** Replaces `tools` by a list of our tools. In a table, tools set to false are denied; all others stay available, those
 * of MCP servers too. */
function readTools(value: Value, reading: Reading): Rule[] {
  const { tools: given } = value
  if (typeof given === "string") return readList(value, namesOf(given), reading)
  if (Array.isArray(given)) return readList(value, given, reading)
  if (typeof given !== "object" || given === null) return []
  const switches = Object.entries(given)
  for (const [name, on] of switches)
    if (typeof on !== "boolean") reading.refuse(`tools.${name}`, "true or false", on)
  if (switches.some(([name, on]) => name === "*" && !on)) {
    value.tools = switches.filter(([, on]) => on).map(([name]) => toolOf(name))
    return []
  }
  delete value.tools
  return switches.flatMap(([name, on]) => (on ? [] : denialsOf(widened(name), "tools", reading)))
}

/** A tool with a limit, such as `Bash(git diff:*)`, is denied beyond it. If our rules cannot express the limit, the
 * tool is left out. */
function readList(value: Value, given: unknown[], { notes }: Reading): Rule[] {
  const names = given.filter((name) => typeof name === "string")
  const whole = new Set(names.filter((name) => limitOf(name) === undefined).map(toolOf))
  const limited = names.filter((name) => limitOf(name) !== undefined && !whole.has(toolOf(name)))
  const kept = limited.filter((name) => patternsOf(name))
  for (const name of limited)
    if (!kept.includes(name)) notes.push(`tools: ${name} is left out: its limit cannot be expressed here`)
  const isKept = (name: unknown) => typeof name !== "string" || whole.has(toolOf(name)) || kept.includes(name)
  const tools = given.filter(isKept).map((name) => (typeof name === "string" ? toolOf(name) : name))
  value.tools = [...new Set(tools)]
  return [
    ...[...new Set(kept.map(toolOf))].flatMap((name) => rulesFor(name, "*", "deny")),
    ...kept.flatMap((name) => patternsOf(name)!.flatMap((pattern) => rulesFor(name, pattern, "allow"))),
  ]
}

function readDenials(given: unknown, reading: Reading): Rule[] {
  if (given !== undefined && given !== null && typeof given !== "string" && !Array.isArray(given))
    reading.refuse("disallowedTools", "names of tools", given)
  return namesOf(given).flatMap((name) => denialsOf(name, "disallowedTools", reading))
}

/** A limit that our rules cannot express is dropped, so the whole tool is denied. */
function denialsOf(name: string, key: string, { notes }: Reading): Rule[] {
  const patterns = patternsOf(name)
  const rules = (patterns ?? ["*"]).flatMap((pattern) => rulesFor(name, pattern, "deny"))
  if (rules.length && limitOf(name) !== undefined && !patterns)
    notes.push(`${key}: ${name} denies the whole tool: its limit cannot be expressed here`)
  if (rules.length) return rules
  if (!/[_*]/.test(name))
    notes.push(
      `${key}: ${name} is not a built-in tool; a tool of your own with this name is denied unless it only reads`,
    )
  return rulesForOthers(name, "deny")
}

/** opencode's `permission`: one action for a tool, or one for each pattern of a tool. The last match wins, as in our
 * rules. */
function readPermissions(given: unknown, { notes, refuse }: Reading): Rule[] {
  const actionOf = (path: string, said: unknown): Action =>
    actions.find((action) => action === said) ?? refuse(path, "allow, ask or deny", said)
  if (given === undefined || given === null) return []
  if (typeof given !== "object" || Array.isArray(given))
    return rulesFor("*", "*", actionOf("permission", given))
  return Object.entries(given).flatMap(([name, said]) => {
    const path = `permission.${name}`
    const isTable = typeof said === "object" && said !== null && !Array.isArray(said)
    const rules = Object.entries(isTable ? said : { "*": said }).flatMap(([pattern, one]) => {
      const action = actionOf(isTable ? `${path}.${pattern}` : path, one)
      if (action === "allow" && pattern.includes("?")) {
        notes.push(`${path}.${pattern}: it is ignored: "?" is not supported in a rule that allows`)
        return []
      }
      const found = rulesFor(name, widened(pattern), action)
      if (found.length || pattern !== "*" || action === "allow" || noTools.includes(name)) return found
      return rulesForOthers(widened(name), action)
    })
    if (!rules.length) notes.push(`${path}: it is not supported and ignored`)
    return rules
  })
}

/** opencode's "?" matches any one character; our rules have no such wildcard. `*` matches more, which is safe in a rule
 * that denies or asks. */
function widened(pattern: string): string {
  return pattern.replaceAll("?", "*")
}

/** Claude Code's `permissionMode`. A file cannot turn off all questions. */
function readMode(given: unknown, notes: string[]): Rule[] {
  if (given === "plan") return ["write", "edit", "bash"].flatMap((name) => rulesFor(name, "*", "deny"))
  if (given === "acceptEdits") return rulesFor("edit", "*", "allow")
  if (given !== undefined && given !== "default")
    notes.push(
      `permissionMode: ${JSON.stringify(given)} is left out; name what the agent may do in permissions`,
    )
  return []
}
