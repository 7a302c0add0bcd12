// Translates agent files of Claude Code (`.claude/agents`) and opencode (`.opencode/agent`) into ours: a description
// at the top, tools as a line or a table of switches, families of models, permissions by tool. Keys without a meaning
// here are reported.
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
/** `notes`: the parts that are left out, for the person. */
export type Translated = { value: Value; notes: string[]; isOff?: boolean }
type Reading = { notes: string[]; refuse(path: string, expected: string, received: unknown): never }

/** Permissions of opencode that are about no tool. */
const noTools = ["doom_loop", "external_directory"]
/** Keys about appearance, which are ignored silently. */
const cosmetic = ["color", "hidden"]
/** Keys that those programs know and this one does not. */
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
    if (Object.hasOwn(value, key)) notes.push(`${key}: it means nothing here and is left out`)
  for (const key of [...cosmetic, ...foreign]) delete value[key]
  if (typeof description === "string") value.metadata = { description, ...(value.metadata as object) }
  const mode = readMode(permissionMode, notes)
  // The last matching rule counts: what the mode allows comes first, denials come last.
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

/** `tools` as a list of our tools. Tools that are switched off are denied; the others, also of servers, stay. */
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

/** A tool with a limit, such as `Bash(git diff:*)`, is denied for everything else. If the limit cannot be kept, the tool is
 * left out. */
function readList(value: Value, given: unknown[], { notes }: Reading): Rule[] {
  const names = given.filter((name) => typeof name === "string")
  const whole = new Set(names.filter((name) => limitOf(name) === undefined).map(toolOf))
  const limited = names.filter((name) => limitOf(name) !== undefined && !whole.has(toolOf(name)))
  const kept = limited.filter((name) => patternsOf(name))
  for (const name of limited)
    if (!kept.includes(name)) notes.push(`tools: ${name} is left out: its limit cannot be kept here`)
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

/** A limit that cannot be kept is dropped, which denies more. */
function denialsOf(name: string, key: string, { notes }: Reading): Rule[] {
  const patterns = patternsOf(name)
  const rules = (patterns ?? ["*"]).flatMap((pattern) => rulesFor(name, pattern, "deny"))
  if (rules.length && limitOf(name) !== undefined && !patterns)
    notes.push(`${key}: ${name} denies the whole tool: its limit cannot be kept here`)
  if (rules.length) return rules
  if (!/[_*]/.test(name))
    notes.push(`${key}: ${name} is no built-in tool; one of your own is denied unless it only reads`)
  return rulesForOthers(name, "deny")
}

/** opencode: an action for a tool, or one for each pattern of a tool; the last that fits wins, as here. */
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
        notes.push(`${path}.${pattern}: it is left out: "?" cannot be kept in a rule that allows`)
        return []
      }
      const found = rulesFor(name, widened(pattern), action)
      if (found.length || pattern !== "*" || action === "allow" || noTools.includes(name)) return found
      return rulesForOthers(widened(name), action)
    })
    if (!rules.length) notes.push(`${path}: it means nothing here and is left out`)
    return rules
  })
}

/** opencode's "?" is any one character, which rules here do not have. With a star, a rule denies or asks for more. */
function widened(pattern: string): string {
  return pattern.replaceAll("?", "*")
}

/** Claude Code. A file cannot turn all questions off. */
function readMode(given: unknown, notes: string[]): Rule[] {
  if (given === "plan") return ["write", "edit", "bash"].flatMap((name) => rulesFor(name, "*", "deny"))
  if (given === "acceptEdits") return rulesFor("edit", "*", "allow")
  if (given !== undefined && given !== "default")
    notes.push(
      `permissionMode: ${JSON.stringify(given)} is left out; name what the agent may do in permissions`,
    )
  return []
}
