// A permission question, and what a rule allows, in words for people. The words are not escaped.

type Need = { permission: string; target: string }
type Action = {
  /** What a need does: `run make`. */
  need(target: string): string
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
      need: (target) => `run ${target}`,
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
      need: (target) => `fetch ${target}`,
      one: (target) => `Fetch ${target}?`,
      several: "Fetch these addresses?",
      rule: (pattern) =>
        matching(pattern, { every: "fetching every address", exact: "fetching", some: "fetching addresses" }),
    },
  ],
  [
    "mcp.call",
    {
      need: (target) => `call ${target}`,
      one: (target) => `${mcpWords(target, ["Call", "Read", "Use"]) ?? `Call ${target}`}?`,
      several: "Call these tools?",
      rule: (pattern) =>
        /^[^/*]+\/\*{1,2}$/.test(pattern)
          ? `everything that the MCP server ${pattern.replace(/\/\*+$/, "")} offers`
          : ((pattern.includes("*") ? undefined : mcpWords(pattern, ["calling", "reading", "using"])) ??
            `calls of MCP servers that match ${pattern}`),
    },
  ],
  [
    "agent.delegate",
    {
      need: (target) => `give a task to ${target}`,
      one: (target) => `Give a task to the agent ${target}?`,
      several: "Give tasks to these agents?",
      rule: (pattern) => (pattern === "*" ? "tasks for every agent" : `tasks for the agent ${pattern}`),
    },
  ],
  [
    "agent.remote",
    {
      need: (target) => `send a task to the remote agent ${target}`,
      one: (target) => `Send a task to the remote agent ${target}?`,
      several: "Send tasks to these remote agents?",
      rule: (pattern) =>
        pattern === "*" ? "tasks for every remote agent" : `tasks for the remote agent ${pattern}`,
    },
  ],
  ["memory.write", kept("memory")],
  ["knowledge.write", kept("knowledge base")],
  [
    "secret.use",
    {
      need: (target) => `use the secret ${target}`,
      one: (target) => `Use the secret ${target}?`,
      several: "Use these secrets?",
      rule: (pattern) => (pattern === "*" ? "every secret" : `the secret ${pattern}`),
    },
  ],
  [
    "secret.show",
    {
      need: (target) => `show the secret ${target} to the model`,
      one: (target) => `Show the secret ${target} to the model?`,
      several: "Show these secrets to the model?",
      rule: (pattern) => `showing ${pattern === "*" ? "every secret" : `the secret ${pattern}`} to the model`,
    },
  ],
  [
    "tool.execute",
    {
      need: (target) => `use ${target}`,
      one: (target) => `Use the tool ${target}?`,
      several: "Use these tools?",
      rule: (pattern) => (pattern === "*" ? "every tool" : `the tool ${pattern}`),
    },
  ],
  [
    "todo",
    {
      need: () => "change the task list",
      one: () => "Change the task list?",
      several: "Change the task list?",
      rule: () => "changing the task list",
    },
  ],
])

/** `Run this command?`, `Write notes.txt?` */
export function questionWords(needs: readonly Need[]): string {
  const [first, ...more] = needs
  const action = actionOf(needs)
  if (!first || !action) return more.length ? "Allow all of this?" : "Allow this?"
  return more.length ? action.several : action.one(first.target)
}

/** What is listed below the question, one for each need. Nothing if the question names its target. */
export function targetWords(needs: readonly Need[]): string[] {
  if (!actionOf(needs)) return needs.map(needWords)
  if (needs.length === 1 && needs[0]!.permission !== "bash.execute") return []
  return needs.map(({ target }) => target)
}

/** Undefined if the needs are of several kinds, or of one that has no words. */
function actionOf([first, ...more]: readonly Need[]): Action | undefined {
  if (!first || more.some(({ permission }) => permission !== first.permission)) return undefined
  return actions.get(first.permission)
}

/** `run touch one`; of a permission that has no words, its name. */
export function needWords({ permission, target }: Need): string {
  return actions.get(permission)?.need(target) ?? `${permission} ${target}`
}

/** What a rule such as `bash.execute:npm test *` allows. Undefined if it has no permission or no pattern. */
export function ruleWords(rule: string): string | undefined {
  const [, permission = "", pattern = ""] = /^\s*([^:]+?)\s*:\s*(.+?)\s*$/s.exec(rule) ?? []
  if (!pattern) return undefined
  return actions.get(permission)?.rule(pattern) ?? `what matches ${permission}:${pattern}`
}

function file(verb: string, title: string, doing: string): Action {
  return {
    need: (target) => `${verb} ${target}`,
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

/** What is kept for this project, or for all of them. */
function kept(what: string): Action {
  const of = (target: string) =>
    target === "project"
      ? `the ${what} of this project`
      : /^(everywhere|\*+)$/.test(target)
        ? `the ${what} of all projects`
        : `the ${what} of ${target}`
  return {
    need: (target) => `change ${of(target)}`,
    one: (target) => `Change ${of(target)}?`,
    several: `Change the ${what}?`,
    rule: (pattern) => `changing ${of(pattern)}`,
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

/** `server/tool`, `server/resource:URI` or `server/prompt:NAME`; undefined for another form. */
function mcpWords(
  target: string,
  [call, read, use]: [call: string, read: string, use: string],
): string | undefined {
  const [, server, kind, name] = /^([^/]+)\/(?:(resource|prompt):)?(.+)$/s.exec(target) ?? []
  if (server === undefined) return undefined
  const what = kind === "resource" ? `${read} the resource` : kind ? `${use} the prompt` : `${call} the tool`
  return `${what} ${name} of the MCP server ${server}`
}
