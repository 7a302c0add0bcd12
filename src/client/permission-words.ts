// A permission question, and what a rule allows, in words for people. The words are not escaped.

type Need = { permission: string; target: string }
type Action = {
  /** What a need does, before its target. */
  verb: string
  /** The question about one target, and about several. */
  one(target: string): string
  several: string
  /** What a rule with this pattern allows. */
  rule(pattern: string): string
}

const actions = new Map<string, Action>([
  [
    "bash.execute",
    {
      verb: "run",
      one: () => "Run this command?",
      several: "Run these commands?",
      rule: (pattern) =>
        matching(pattern, { every: "every command", exact: "exactly the command", some: "commands" }),
    },
  ],
  ["file.read", file("read", "Read", "reading")],
  ["file.write", file("write", "Write", "writing")],
  ["file.edit", file("edit", "Edit", "editing")],
  [
    "network.fetch",
    {
      verb: "fetch",
      one: (target) => `Fetch ${target}?`,
      several: "Fetch these addresses?",
      rule: (pattern) =>
        matching(pattern, { every: "fetching every address", exact: "fetching", some: "fetching addresses" }),
    },
  ],
  [
    "mcp.call",
    {
      verb: "call",
      one: (target) => `${mcpWords(target, ["Call", "Read", "Use"])}?`,
      several: "Call these tools?",
      rule: (pattern) =>
        /^[^/*]+\/\*{1,2}$/.test(pattern)
          ? `everything that the MCP server ${pattern.replace(/\/\*+$/, "")} offers`
          : pattern.includes("*")
            ? `calls of MCP servers that match ${pattern}`
            : mcpWords(pattern, ["calling", "reading", "using"]),
    },
  ],
  [
    "agent.delegate",
    {
      verb: "give a task to",
      one: (target) => `Give a task to the agent ${target}?`,
      several: "Give tasks to these agents?",
      rule: (pattern) => (pattern === "*" ? "tasks for every agent" : `tasks for the agent ${pattern}`),
    },
  ],
  [
    "secret.use",
    {
      verb: "use the secret",
      one: (target) => `Use the secret ${target}?`,
      several: "Use these secrets?",
      rule: (pattern) => (pattern === "*" ? "every secret" : `the secret ${pattern}`),
    },
  ],
  [
    "tool.execute",
    {
      verb: "use",
      one: (target) => `Use the tool ${target}?`,
      several: "Use these tools?",
      rule: (pattern) => (pattern === "*" ? "every tool" : `the tool ${pattern}`),
    },
  ],
])

/** `Run this command?`, `Write notes.txt?` */
export function questionWords(needs: readonly Need[]): string {
  const [first, ...more] = needs
  const action = first && actions.get(first.permission)
  if (!action || more.some(({ permission }) => permission !== first.permission)) return "Allow all of this?"
  return more.length ? action.several : action.one(first.target)
}

/** Whether the question names its target. Otherwise the targets are listed below it. */
export function isNamed(needs: readonly Need[]): boolean {
  return needs.length === 1 && needs[0]!.permission !== "bash.execute" && actions.has(needs[0]!.permission)
}

/** `run touch one`; of a permission that has no words, its name. */
export function needWords({ permission, target }: Need): string {
  return `${actions.get(permission)?.verb ?? permission} ${target}`
}

/** What a rule such as `bash.execute:npm test *` allows. Undefined if it has no permission or no pattern. */
export function ruleWords(rule: string): string | undefined {
  const [, permission = "", pattern = ""] = /^\s*([^:]+?)\s*:\s*(.+?)\s*$/s.exec(rule) ?? []
  if (!pattern) return undefined
  return actions.get(permission)?.rule(pattern) ?? `what matches ${permission}:${pattern}`
}

function file(verb: string, title: string, doing: string): Action {
  return {
    verb,
    one: (target) => `${title} ${target}?`,
    several: `${title} these files?`,
    rule(pattern) {
      const folder = /^([^*]+)\/(?:\*\*)?$/.exec(pattern)?.[1]
      if (pattern === "**") return `${doing} every file of the workspace`
      if (folder !== undefined) return `${doing} every file in ${folder} and the folders below it`
      return pattern.includes("*") ? `${doing} files that match ${pattern}` : `${doing} ${pattern}`
    },
  }
}

/** A star in text matches anything. */
function matching(pattern: string, words: { every: string; exact: string; some: string }): string {
  if (/^\*+$/.test(pattern)) return words.every
  if (!pattern.includes("*")) return `${words.exact} ${pattern}`
  const start = /^([^*]+)\*+$/.exec(pattern)?.[1]
  return start === undefined
    ? `${words.some} that match ${pattern}`
    : `${words.every} that begins with "${start}"`
}

/** `server/tool`, `server/resource:URI` or `server/prompt:NAME`. */
function mcpWords(target: string, [call, read, use]: [call: string, read: string, use: string]): string {
  const [, server = "?", kind, name = target] = /^([^/]+)\/(?:(resource|prompt):)?(.*)$/s.exec(target) ?? []
  const what = kind === "resource" ? `${read} the resource` : kind ? `${use} the prompt` : `${call} the tool`
  return `${what} ${name} of the MCP server ${server}`
}
