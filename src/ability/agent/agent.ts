// What an agent is: who does a piece of work, with which words, model, tools and rights.
import { z } from "zod"
import { checkLayer } from "#kernel/config/check.ts"
import { formatProblem, type Problem } from "#kernel/config/invalid.ts"
import { Rule } from "#kernel/config/schema.ts"
import { NamedError } from "#util/error.ts"
import type { Path, Place } from "#util/jsonc.ts"
import { nearest } from "#util/nearest.ts"

/** What part an agent plays among others. */
export const AgentRole = z.enum(["orchestrator", "specialist", "advisor", "executor", "utility"])
export type AgentRole = z.infer<typeof AgentRole>

const Words = z.array(z.string().min(1))

/** Free to hold more; these keys mean something to us. */
const Metadata = z.looseObject({
  description: z.string().optional(),
  keywords: Words.optional().describe("words and phrases of requests that are for this agent"),
  cannotDo: Words.optional().describe("words and phrases of requests that never are"),
  grounding: z
    .array(z.enum(["code_repo", "data_store"]))
    .optional()
    .describe("sources whose overview it is told before it begins"),
  reasoning: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).optional(),
})

export const AgentDefinition = z.strictObject({
  id: z
    .string()
    .regex(/^\w[\w.-]{0,63}$/, 'expected letters, digits, "_", "-" and ".", at most 64, such as "reviewer"'),
  name: z.string().min(1),
  domain: z.string().min(1).default("general"),
  role: AgentRole.default("specialist"),
  capabilities: Words.default([]).describe("such as data.analyze"),
  tools: Words.optional().describe("ids of tools; all where it is left out"),
  skills: Words.default([]),
  mode: z.enum(["primary", "subagent"]).default("subagent"),
  model: z.string().min(1).optional().describe("provider/model, or a model that only one provider has"),
  temperature: z.number().min(0).max(2).optional(),
  maxTokens: z.int().positive().optional(),
  systemPrompt: z.string().default(""),
  permissions: z.array(Rule).default([]),
  metadata: Metadata.default({}),
})
export type AgentDefinition = z.infer<typeof AgentDefinition>

/** What a person writes: the name is the id where it is left out. */
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

/** The whole definition with its defaults, or `Invalid` with every problem. `id` stands in for a missing one. */
export function parse(
  value: unknown,
  options: { source: string; id?: string; locate?: (path: Path) => Place },
): AgentDefinition {
  const { source, locate } = options
  const { value: checked, problems } = checkLayer({
    schema: AgentDefinition,
    value: withNames(value, options.id),
    source,
    locate,
    refuseUnknown: true,
  })
  if (problems.length > 0) throw new Invalid(problems)
  return Object.freeze(AgentDefinition.parse(checked))
}

function withNames(value: unknown, fallback: string | undefined): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const given = value as { id?: unknown; name?: unknown }
  const id = given.id ?? fallback
  return { ...value, id, name: given.name ?? (typeof id === "string" && id ? id : "?") }
}
