// Schemas of what a person sees while using a session: models, files and commands to choose from, the context window, costs.
import { z } from "zod"
import { Totals } from "#engine/record/session-record.ts"

const Tokens = z.number().int()

export const ContextUsage = z.object({
  model: z.string().optional().describe("the model that the next prompt goes to, if it is known"),
  window: Tokens.describe("tokens that the model sees at once"),
  limit: Tokens.describe("tokens that a request may have; above it the session is compacted"),
  used: Tokens.describe(
    "tokens of the next request: the provider's last count, and an estimate of what came since",
  ),
  parts: z
    .object({
      system: Tokens.describe("the system prompt without the rules"),
      rules: Tokens.describe("instructions of the person and of the project"),
      tools: Tokens.describe("descriptions of tools"),
      summary: Tokens.describe("what a compaction left of older messages"),
      conversation: Tokens.describe("prompts, answers and notes"),
      calls: Tokens.describe("tool calls and their results"),
      files: Tokens.describe("attached files, images and resources"),
    })
    .describe("estimates; their sum may differ from `used`"),
  free: Tokens.describe("tokens that are left below the limit"),
})

export const SessionCost = z.object({
  total: Totals.describe("of the session and its tasks, summaries included"),
  rows: z
    .array(
      Totals.extend({
        model: z.string(),
        agent: z.string(),
        answers: z.number().int(),
        duration: z.number().describe("milliseconds that the answers took"),
      }),
    )
    .describe("answers by model and agent, the most expensive first"),
  prompts: z
    .array(
      Totals.extend({
        messageId: z.string(),
        time: z.number(),
        duration: z
          .number()
          .describe("milliseconds of the answers and the calls, without waiting for a person"),
      }),
    )
    .describe("the answers to each prompt of the session itself, the oldest first"),
})

export const ShellResult = z.object({
  messageId: z.string().describe("the message with the command and its output, which the model gets"),
  output: z.string().describe("at most 50 KB; a longer one is stored in a file, which the text names"),
  exitCode: z.number().int().nullable(),
  timedOut: z.boolean(),
})

export const UsableModel = z.looseObject({
  provider: z.string(),
  id: z.string(),
  name: z.string(),
  context: z.number(),
  output: z.number(),
})

export const FileCompletion = z.object({
  path: z.string().describe("from the folder; a folder ends with a slash"),
  isIgnored: z.boolean(),
})

export const Command = z.object({
  name: z.string().describe("what is typed after the slash"),
  kind: z
    .enum(["command", "skill", "prompt"])
    .describe("a command file, a skill, or a prompt of an MCP server"),
  description: z.string(),
  hint: z.string().optional().describe("the arguments of a command file, for people"),
  server: z.string().optional().describe("the MCP server of the prompt"),
  arguments: z
    .array(z.object({ name: z.string(), description: z.string().optional(), required: z.boolean() }))
    .optional()
    .describe("given as name=value"),
})

const Used = z.object({
  day: z.string().describe("local day of the server, such as 2026-01-31"),
  model: z.string().describe("provider/model; empty if it is not known"),
  agent: z.string().describe("empty if it is not known"),
})

export const Stats = z.object({
  since: z.number().describe("start of the range, in milliseconds since 1970"),
  until: z.number().describe("its end"),
  sessions: z.number().int().describe("sessions with messages in the range, without those of tasks"),
  tasks: z.number().int().describe("sessions of tasks, which other agents gave"),
  prompts: z.number().int().describe("prompts of people and programs, without tasks"),
  used: z
    .array(
      Used.extend({
        turns: z.number().int().describe("answers of the model, each with text or calls"),
        ...Totals.shape,
      }),
    )
    .describe("tokens and money by day, model and agent, the first day first; sessions of tasks included"),
  tools: z
    .array(
      Used.extend({
        tool: z.string(),
        calls: z.number().int().describe("calls that have a result"),
        failures: z.number().int().describe("those that failed, were denied, or ran a command that failed"),
        time: z.number().describe("milliseconds that they ran"),
      }),
    )
    .describe("calls by day, model, agent and tool"),
})
