// The schema of an agent: its instructions, model, tools and rules.
import { z } from "zod"
import { checkLayer } from "#kernel/schema/check.ts"
import { formatProblem, type Problem } from "#kernel/schema/invalid.ts"
import { Rule } from "#kernel/schema/schema.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import type { Path, Place } from "#util/parse/jsonc.ts"

export const AgentRole = z.enum(["orchestrator", "specialist", "advisor", "executor", "utility"])
export type AgentRole = z.infer<typeof AgentRole>

const Words = z.array(z.string().min(1))

/** Any key is allowed; vitamin reads these. */
const Metadata = z.looseObject({
  description: about("What the agent is for; lists and other agents show it.", z.string().optional()),
  keywords: about("Words and phrases of requests that are for this agent.", Words.optional()),
  cannotDo: about("Words and phrases of requests that this agent must not get.", Words.optional()),
  prefixes: about(
    "For a specialist: tools whose routing names begin with one of these belong to it.",
    Words.optional(),
  ),
  accepts: about("For a specialist: what a task should contain.", z.string().min(1).optional()),
  returns: about("For a specialist: what an answer contains.", z.string().min(1).optional()),
  alwaysInclude: about("For a specialist: active also without tools.", z.boolean().optional()),
  grounding: about(
    "Sources whose overview the agent gets with its first request: the files of the repository, the stored sessions (needs a rule that allows to read them, or `--yes`).",
    z.array(z.enum(["code_repo", "data_store"])).optional(),
  ),
  reasoning: about(
    "How much the model reasons, if it can.",
    z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).optional(),
  ),
})

export const AgentDefinition = z.strictObject({
  id: about(
    "Name in commands and rules. Without it: the name of the file.",
    z
      .string()
      .regex(
        /^\w[\w.-]{0,63}$/,
        'expected letters, digits, "_", "-" and ".", at most 64, such as "reviewer"',
      ),
  ),
  name: about("Name that people see. Without it: the id.", z.string().min(1)),
  domain: about("Field of work, such as `data`.", z.string().min(1).default("general")),
  role: about("Role among other agents.", AgentRole.default("specialist")),
  capabilities: about("What it can do, such as `data.analyze`.", Words.default([])),
  tools: about(
    "Ids of tools that it may use; `mcp__SERVER__*`: all tools of an MCP server. Without it: all.",
    Words.optional(),
  ),
  skills: about("Skills that it always has.", Words.default([])),
  mode: about(
    "`primary`: for people; `subagent`: for tasks of other agents.",
    z.enum(["primary", "subagent"]).default("subagent"),
  ),
  model: about(
    "Its model: `provider/model`, or the name alone if only one provider has it.",
    z.string().min(1).optional(),
  ),
  temperature: about("Sampling temperature.", z.number().min(0).max(2).optional()),
  maxTokens: about("Maximum number of tokens of one answer.", z.int().positive().optional()),
  systemPrompt: about(
    "Its instructions. In a Markdown file: the text below the front matter.",
    z.string().default(""),
  ),
  permissions: about("Rules on what its tools may do.", z.array(Rule).default([])),
  metadata: about("More about the agent. Other keys are allowed.", Metadata.default({})),
})
export type AgentDefinition = z.infer<typeof AgentDefinition>

/** An agent as a person writes it. Its name defaults to its id. */
export type Input = Omit<z.input<typeof AgentDefinition>, "name"> & { name?: string }

export class Invalid extends NamedError {
  declare readonly data: { problems: Problem[] }

  constructor(problems: Problem[]) {
    super("Agent.Invalid", problems.map(formatProblem).join("\n"), { problems })
  }
}

export class NotFound extends NamedError {
  constructor(id: string, available: string[]) {
    const near = nearest(id, available)
    super(
      "Agent.NotFound",
      `Agent ${JSON.stringify(id)} does not exist. Available: ${available.join(", ")}${near ? `. Did you mean "${near}"?` : ""}`,
      { id, available, ...(near ? { nearest: near } : {}) },
    )
  }
}

/** Validates a definition and fills in its defaults. Throws `Invalid` with every problem. `id` is used if the
 * definition has none. `warn` gets the unknown keys. They are a problem if there is no `warn`, or if one looks like a
 * misspelt "permissions" or "tools". Other keys of `metadata` are never a problem. */
export function parse(
  value: unknown,
  options: { source: string; id?: string; locate?: (path: Path) => Place; warn?: (text: string) => void },
): AgentDefinition {
  const { source, locate, warn } = options
  const {
    value: checked,
    problems,
    warnings,
  } = checkLayer({
    schema: AgentDefinition,
    value: withNames(value, options.id),
    source,
    locate,
    refuseUnknown: !warn || misspellsRights(value),
  })
  for (const warning of [...warnings, ...strayKeys(value).map((text) => `${source}: ${text}`)])
    warn?.(warning)
  if (problems.length > 0) throw new Invalid(problems)
  return Object.freeze(AgentDefinition.parse(checked))
}

/** An agent whose rules or list of tools are misspelt must not work without them. */
function misspellsRights(value: unknown): boolean {
  const known = Object.keys(AgentDefinition.shape)
  const unknown = Object.keys(value ?? {}).filter((key) => !known.includes(key))
  return unknown.some((key) => ["permissions", "tools"].includes(nearest(key, known) ?? ""))
}

/** Keys of `metadata` that are misspelt there or stand outside of it: the agent would silently be another one. */
function strayKeys(value: unknown): string[] {
  const known = Object.keys(Metadata.shape)
  const { metadata, ...own } = (value ?? {}) as Record<string, unknown>
  const outside = Object.keys(own).filter((key) => known.includes(key))
  const inside = Object.keys(metadata ?? {}).filter((key) => !known.includes(key))
  return [
    ...outside.map((key) => `${key}: it belongs into metadata`),
    ...inside.flatMap((key) => {
      const meant = nearest(key, known)
      return meant ? [`metadata.${key}: the key is not used; did you mean "${meant}"?`] : []
    }),
  ]
}

function withNames(value: unknown, fallback: string | undefined): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const given = value as { id?: unknown; name?: unknown }
  const id = given.id ?? fallback
  return { ...value, id, name: given.name ?? (typeof id === "string" && id ? id : "?") }
}
