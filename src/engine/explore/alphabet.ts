// The alphabet of a set of guards: examples of all events that their patterns can tell apart. A call comes with its results;
// each name is combined with each example of a target.

import type { Guard } from "#engine/symbolic/guard.ts"
import { actionOf, approvalOf, type Deed, plainEvent, resultOf } from "#engine/symbolic/guard-event.ts"
import { parsePattern } from "#engine/symbolic/pattern.ts"
import { permissions } from "#kernel/schema/schema-parts.ts"
import { fitsPath, fitsText, readPath } from "#util/wildcard.ts"
import type { Action } from "./explore.ts"

type Kind = "path" | "command" | "other"

/** Tools that most guards are about, and what a call of them needs. */
const common: Record<string, string> = {
  read: "file.read",
  edit: "file.edit",
  write: "file.write",
  bash: "bash.execute",
  fetch: "network.fetch",
  subtask: "agent.delegate",
  todo: "todo",
}
const readers = ["glob", "grep", "ls", "symbols"]
const facts = ["prompt", "approve", "usage"]
const plain = new Set(["answer", "mode", "start", ...facts])
const defaults: Record<Kind, string> = { path: "example.txt", command: "true", other: "example" }
/** Calls that need this permission and that of their tool. */
const doubled: Record<string, [tool: string, permission: string]> = {
  "file.replace": ["write", "file.write"],
  "secret.read": ["read", "file.read"],
}

/** `tools`: the ids of all tools. A call of any other tool never happens. */
export function alphabetOf(guards: readonly Guard[], tools: ReadonlySet<string>): Action[] {
  const patterns = [...new Set(guards.flatMap(patternsOf))].map(parsePattern)
  const targets = new Map<Kind, string[]>()
  for (const kind of ["path", "command", "other"] as const) {
    const own = patterns.flatMap(({ name, target }) =>
      target !== undefined && kindOf(name) === kind ? [target] : [],
    )
    targets.set(kind, examplesOf(kind, own))
  }
  const names = [...new Set(patterns.map(({ name }) => name))]
  const deeds = callNames(names, tools).flatMap((name) =>
    targets.get(kindOf(name))!.map((target) => deedOf(name, target)),
  )
  const approved = names.includes("approve") ? deeds : []
  const named = patterns.flatMap(({ name, target }) => (name === "mode" && target) || [])
  const modes = [...new Set(["plan", "act", ...named])]
  return [
    { name: "answer", event: plainEvent("answer") },
    ...deeds.map(callOf),
    ...modes.map((target) => ({ name: `mode:${target}`, event: plainEvent("mode", { target }) })),
    { name: "prompt", event: plainEvent("prompt"), isFact: true },
    { name: "usage", event: plainEvent("usage", { tokens: 1, cost: 0 }), isFact: true },
    ...approved.map((deed) => ({
      name: `approve ${callOf(deed).name}`,
      event: approvalOf(actionOf(deed)),
      isFact: true,
    })),
  ]
}

/** Tools, and permissions that none of the common tools needs. */
function callNames(names: readonly string[], tools: ReadonlySet<string>): string[] {
  const isNamed = (permission: string) => names.some((name) => fitsText(name, permission))
  const others = [...permissions, ...Object.keys(doubled)].filter(
    (permission) => isNamed(permission) && !Object.values(common).includes(permission),
  )
  return [...new Set([...Object.keys(common), ...names].filter((name) => tools.has(name)).concat(others))]
}

/** Names in patterns that no event has, so that they never match. */
export function unknownNames(
  guards: readonly Guard[],
  tools: ReadonlySet<string>,
): [guard: string, name: string][] {
  return guards.flatMap((guard) => {
    const names = patternsOf(guard).map((pattern) => parsePattern(pattern).name)
    const isUnknown = (name: string) => !plain.has(name) && !tools.has(name) && !/[.*]/.test(name)
    return [...new Set(names.filter(isUnknown))].map((name): [string, string] => [guard.name, name])
  })
}

function patternsOf({ patterns = { when: [], block: [], until: [] } }: Guard): string[] {
  return Object.values(patterns).flat()
}

function kindOf(name: string): Kind {
  const permission = common[name] ?? (readers.includes(name) ? "file.read" : name)
  if (permission.startsWith("file.") || permission === "secret.read") return "path"
  return permission === "bash.execute" ? "command" : "other"
}

function deedOf(name: string, target: string): Deed {
  if (name === "todo") return { tool: name, needs: ["todo:*"], args: { todos: [{ content: "example" }] } }
  const [tool, permission] = doubled[name] ?? []
  if (tool) return { tool, needs: [`${permission}:${target}`, `${name}:${target}`] }
  const need =
    common[name] ?? (readers.includes(name) ? "file.read" : name.includes(".") ? name : "tool.execute")
  return { tool: name, needs: [`${need}:${target}`] }
}

function callOf(deed: Deed): Action {
  const event = actionOf(deed)
  const about = event.detail.target === undefined || deed.tool === "todo" ? "" : `:${event.detail.target}`
  const name = deed.needs[1] ?? `${deed.tool}${about}`
  const results = [false, true].map((hasFailed) => {
    const result = resultOf(deed, {
      hasFailed,
      ...(deed.tool === "bash" ? { exitCode: Number(hasFailed) } : {}),
    })
    return { name: `${result.type}${about}`, event: result }
  })
  return { name, event, results }
}

/** One example for each set of patterns that an example can match, and one that matches none. */
function examplesOf(kind: Kind, patterns: readonly string[]): string[] {
  const isPath = kind === "path"
  const fits = (pattern: string, text: string) =>
    isPath ? fitsPath(pattern, readPath(text)) : fitsText(pattern, text)
  const fill = (pattern: string, by: string) => pattern.replace(/\*+(?!.*\*)/, by).replace(/\*+/g, "x")
  const plainOnes = patterns.map((pattern) => fill(pattern, isPath ? "x" : ""))
  // A path that matches two patterns: an example of one fills the wildcard of the other.
  const mixed = patterns.flatMap((pattern) =>
    isPath && pattern.includes("*") ? plainOnes.slice(0, maxMixed).map((one) => fill(pattern, one)) : [],
  )
  const seen = new Set<string>()
  return [defaults[kind], ...plainOnes, ...mixed].filter((text) => {
    const key = patterns.map((pattern) => Number(fits(pattern, text))).join("")
    return !seen.has(key) && seen.add(key)
  })
}

const maxMixed = 30
