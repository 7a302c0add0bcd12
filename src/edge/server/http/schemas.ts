// The named schemas of the OpenAPI document: requests and responses of routes, and the schemas of lower folders. A schema
// in `named` is described once and referenced by its name.
import { z } from "zod"
import { AgentDefinition } from "#ability/agent/agent.ts"
import * as Elicitation from "#ability/elicitation/elicitation.ts"
import { Status } from "#ability/mcp/server-status.ts"
import * as Grant from "#ability/permission/grant.ts"
import * as Permission from "#ability/permission/permission.ts"
import * as Schedule from "#engine/schedule/schedule.ts"
import * as Session from "#engine/session/session.ts"
import { Role } from "#kernel/person.ts"
import * as Message from "#knowledge/message/message.ts"
import {
  Command,
  ContextUsage,
  FileCompletion,
  SessionCost,
  ShellResult,
  UsableModel,
} from "./use-schemas.ts"

export const Health = z.object({
  status: z.literal("ok"),
  uptime: z.number().describe("seconds"),
  proof: z
    .string()
    .optional()
    .describe(
      "HMAC-SHA256, with the token as key, of the challenge, a blank and the port; hexadecimal digits",
    ),
})

export const Info = z.object({
  version: z.string(),
  directory: z.string(),
  worktree: z.string(),
  project: z.object({ id: z.string(), name: z.string() }),
  vcs: z
    .object({ type: z.literal("git"), branch: z.string().optional(), commit: z.string().optional() })
    .optional(),
  trusted: z.boolean(),
  clients: z.number().int().describe("open event streams"),
  listeners: z.number().int().describe("subscribers to the events of all directories"),
  pid: z.number().int(),
  uptime: z.number().describe("seconds"),
  person: z
    .object({ name: z.string(), role: Role })
    .optional()
    .describe("who asks; missing: the owner of the server, who may do everything"),
})

const Rules = z.array(z.string().max(2_000)).max(500).optional()

export const Prompt = z.object({
  text: z
    .string()
    .optional()
    .describe("`@path`, `@path:10` and `@path:10-20` in it attach files, `@server:uri` a resource"),
  parts: z.array(Session.PromptPart).max(500).optional().describe("attachments, after the text"),
  refresh: z
    .boolean()
    .optional()
    .describe("first read attached files that have changed again, and retry failed attachments"),
  agent: z.string().optional(),
  model: z.string().optional().describe("provider/model"),
  whenBusy: z
    .enum(["queue", "steer", "refuse"])
    .optional()
    .describe(
      "if the session is busy: wait for the running prompt (the default), join it before its next request (its answer is then the answer to both; a prompt that comes too late, or that has other settings, runs next), or be refused with 409",
    ),
  allow: Rules.describe("rules for this prompt, such as `bash.execute:npm test`"),
  deny: Rules.describe("as `allow`, and stronger"),
  preset: z
    .enum(["ask", "sandboxed"])
    .optional()
    .describe("approval preset in a sandbox: `sandboxed`, the default, asks only for what would leave it"),
  asks: z
    .enum(["wait", "deny", "once"])
    .optional()
    .describe("what happens if a call needs a person's permission; default: wait for the reply"),
  maxSteps: z.number().int().positive().optional(),
  maxCost: z.number().positive().optional().describe("in US dollars"),
  timeout: z.number().positive().optional().describe("in milliseconds"),
  outputSchema: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      "JSON Schema that the text of the final answer fits as JSON; the model is asked again if it does not, at most twice",
    ),
})

export const Accepted = z.object({
  sessionId: z.string(),
  accepted: z.literal(true),
  promptId: z.string().describe("also the promptId of the prompt's first message"),
})

export const Removed = z.object({ removed: z.literal(true) })

export const FileChanges = z.object({
  files: z.array(z.object({ path: z.string(), change: z.enum(["added", "removed", "changed"]) })),
  text: z.string().describe("the unified diff"),
  conflicts: z
    .array(z.object({ path: z.string(), reason: z.string() }))
    .describe("files that a revert would not restore"),
  notes: z.array(z.string()).describe("what the diff may not cover"),
})

export const Reverted = z.object({
  restored: z.array(z.string()).describe("files with their earlier content again"),
  removed: z.array(z.string()).describe("files that had been created since"),
  conflicts: z
    .array(z.object({ path: z.string(), reason: z.string() }))
    .describe(
      "files that were not restored: others have changed them since, or their content was not stored",
    ),
  notes: z.array(z.string()).describe("effects of these calls that a revert never covers"),
  messageId: z.string().optional().describe("records it; reverting to this message takes it back"),
})

const Model = z.looseObject({ id: z.string(), name: z.string(), context: z.number(), output: z.number() })

export const ProviderInfo = z.object({
  id: z.string(),
  name: z.string(),
  hasKey: z.boolean().describe("a key is configured, in the environment, or stored by a login"),
  canSignIn: z.boolean().describe("the person can sign in with a browser, for a key"),
  models: z.array(Model),
})

export const Tool = z.object({
  id: z.string(),
  category: z.string(),
  description: z.string(),
  readOnly: z.boolean(),
  server: z.string().optional().describe("the MCP server of the tool"),
  parameters: z.record(z.string(), z.unknown()).describe("JSON Schema"),
  score: z.number().optional().describe("relevance for the search; higher is better"),
})

export const Agent = AgentDefinition.extend({
  usableTools: z.array(z.string()).describe("ids of the tools that the agent may use"),
  file: z.string().optional().describe("the file of the agent"),
})

const Script = z.object({ name: z.string(), file: z.string(), description: z.string(), runner: z.string() })
const Reference = z.object({ displayText: z.string(), relativePath: z.string(), file: z.string() })

export const Skill = z.object({
  name: z.string(),
  description: z.string(),
  file: z.string(),
  isOwn: z.boolean().describe("whether the skill is the person's own, not the project's"),
  isTrusted: z.boolean().describe("whether the skill's MCP servers may start"),
  isManual: z.boolean().describe("whether the skill is used only on request"),
  license: z.string().optional(),
  compatibility: z.string().optional(),
  metadata: z.record(z.string(), z.string()),
  allowedTools: z.array(z.string()),
  scripts: z.array(Script),
  references: z.array(Reference),
  assets: z.array(z.string()),
  problems: z.array(z.object({ level: z.string(), line: z.number(), message: z.string() })),
})

const offered = {
  server: z.string(),
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  score: z.number().optional().describe("relevance for the search; higher is better"),
}
const mimeType = z.string().optional()

export const Offers = z.object({
  tools: z.array(z.object(offered)),
  resources: z.array(
    z.object({ ...offered, uri: z.string(), mimeType, size: z.number().optional().describe("bytes") }),
  ),
  templates: z
    .array(z.object({ ...offered, uriTemplate: z.string(), mimeType }))
    .describe("resources whose URI has variables; not searched"),
  prompts: z.array(
    z.object({
      ...offered,
      arguments: z.array(
        z.object({ name: z.string(), description: z.string().optional(), required: z.boolean() }),
      ),
    }),
  ),
})

export const Failure = z.object({
  error: z.object({
    name: z.string(),
    message: z.string(),
    data: z.record(z.string(), z.unknown()).optional(),
  }),
})

/** The schemas by their names in the document. */
export const named: Readonly<Record<string, z.ZodType>> = {
  Failure,
  Health,
  Info,
  Session: Session.Info,
  Branch: Session.Branch,
  Plan: Session.Plan,
  Schedule: Schedule.Info,
  Prompt,
  PromptPart: Session.PromptPart,
  AcceptedPrompt: Accepted,
  WaitingPrompt: Session.WaitingPrompt,
  ContextUsage,
  SessionCost,
  ShellResult,
  Removed,
  Reverted,
  Message: Message.Info,
  ...Object.fromEntries(
    Message.Info.options.map((option) => [`${pascal(option.shape.type.value)}Message`, option]),
  ),
  MessagePart: Message.Part,
  ToolCall: Message.Call,
  Usage: Message.Usage,
  PermissionRequest: Permission.Request,
  PermissionGrant: Grant.Info,
  ElicitationRequest: Elicitation.Request,
  ElicitationReply: Elicitation.Reply,
  Provider: ProviderInfo,
  Model,
  UsableModel,
  FileCompletion,
  Command,
  Tool,
  Agent,
  Skill,
  McpServer: Status,
  McpOffers: Offers,
}

/** Converts `file_reference` and `session.created` into `FileReference` and `SessionCreated`. */
export function pascal(name: string): string {
  return name.replace(/(?:^|[^a-zA-Z0-9]+)(\w)/g, (_, letter: string) => letter.toUpperCase())
}
