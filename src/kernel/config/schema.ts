// What a configuration may say. `Info` is the merged schema of both documents; `Standalone` is the one of the
// TypeScript file alone, built from the same parts. Other folders take the types of rules and MCP servers from here.
import { z } from "zod"
import { nearest } from "#util/nearest.ts"
import { fitsText, hasWildcard } from "#util/wildcard.ts"

/** What rules are about. */
export const permissions = [
  "file.read",
  "file.write",
  "file.edit",
  "bash.execute",
  "network.fetch",
  "mcp.call",
  "agent.delegate",
  "tool.execute",
  "todo",
] as const

/** A rule that can never fit would leave open what it should close, so it is refused. */
export const Rule = z
  .strictObject({
    permission: z.string().check(namesPermission),
    pattern: z.string().min(1, "the rule has no pattern"),
    action: z.enum(["allow", "deny", "ask"]),
  })
  .refine(({ permission, pattern }) => !(permission.startsWith("file.") && /^~(\/|$)/.test(pattern)), {
    path: ["pattern"],
    error: '"~" is not expanded in a pattern; write the whole path',
  })
export type Rule = z.infer<typeof Rule>

export const McpServer = z.strictObject({
  id: z.string().min(1),
  name: z.string(),
  transport: z.enum(["http", "stdio"]),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  command: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  cwd: z.string().optional(),
  timeout: z.number().int().positive().optional().describe("milliseconds for one call"),
  auth: z
    .strictObject({
      type: z.enum(["oauth", "bearer", "none"]),
      clientId: z.string().optional(),
      token: z.string().optional(),
    })
    .optional(),
})
export type McpServer = z.infer<typeof McpServer>

/** Which agent a request goes to: `match` has words or phrases, with "|" between them. */
export const AgentRule = z.strictObject({ match: z.string().min(1), agent: z.string().min(1) })
export type AgentRule = z.infer<typeof AgentRule>

type Hook = (...args: never[]) => unknown
const Hook = z.custom<Hook>(
  (value) => typeof value === "function",
  "expected a function, which only a TypeScript file can give",
)

/** Settings of one provider. `models` declares models that the built-in list does not know. */
export const Provider = z.strictObject({
  apiKey: z.string().optional(),
  baseURL: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  models: z.record(z.string(), z.looseObject({})).optional(),
})
export type Provider = z.infer<typeof Provider>

// Each is held, listed and connected to; nobody has so many, and a hostile file could have thousands.
const maxProviders = 200
const Providers = z
  .object({ default: z.string().min(1).optional() })
  .catchall(Provider)
  .refine(({ default: _, ...providers }) => Object.keys(providers).length <= maxProviders, {
    error: `too many providers; at most ${maxProviders} can be configured`,
  })

/** What makes vectors of texts, in the place of the embedded model: one of a provider, or a file for node-llama-cpp. */
const Embedder = z
  .strictObject({
    model: z
      .string()
      .regex(/^[^\s/]+\/\S+$/, 'expected "provider/model", such as "openai/text-embedding-3-small"')
      .optional(),
    gguf: z.string().min(1).optional(),
  })
  .refine(({ model, gguf }) => model === undefined || gguf === undefined, {
    error: "there is one embedder: name a model or a GGUF file, not both",
  })

export const Remote = z.strictObject({
  url: z.string().refine(isRemoteUrl, "expected an https URL without user info (http only on this machine)"),
  timeout: z.number().int().positive().max(60_000).optional(),
})
export type Remote = z.infer<typeof Remote>

/** Variables that commands get although their names look like credentials. */
const Environment = z.strictObject({
  pass: z
    .array(z.string().regex(/^[^=*\s]+$/, "expected the whole name of a variable, without wildcards"))
    .optional(),
})

const shared = {
  mcp: z
    .strictObject({
      servers: z.array(McpServer).default([]),
      hooks: z.record(z.string(), Hook).optional(),
      /** Seconds that a resource counts as fresh, by its MIME type: `{ "text/*": 600 }`. */
      resourceAge: z.record(z.string(), z.number().nonnegative()).optional(),
    })
    .optional(),
  skills: z.strictObject({ root: z.string().default(".plaited/skills") }).optional(),
  rules: z.strictObject({ root: z.string().default("AGENTS.md") }).optional(),
  adapters: z
    .strictObject({
      acp: z
        .strictObject({
          transport: z.enum(["stdio", "http"]).default("stdio"),
          port: z.number().int().min(0).max(65_535).optional(),
        })
        .optional(),
      sandbox: z
        .strictObject({
          enabled: z.boolean().default(false),
          security: z
            .strictObject({
              allowWrite: z.array(z.string()).default([]),
              denyRead: z.array(z.string()).default(["~/.ssh", "~/.aws", ".env"]),
              allowedDomains: z.array(z.string()).default([]),
            })
            .optional(),
        })
        .optional(),
    })
    .optional(),
  scripts: z
    .strictObject({
      persistence: z.enum(["file", "callback"]).default("file"),
      path: z.string().optional(),
      expirationDays: z.number().default(30),
    })
    .optional(),
}

/** The merged configuration. Every key is optional; parts that are there have their defaults. */
export const Info = z.strictObject({
  $schema: z.string().optional(),
  model: z
    .string()
    .regex(/^[^\s/]+\/\S+$/, 'expected "provider/model", such as "anthropic/claude-sonnet-4-5"')
    .optional(),
  provider: Providers.optional(),
  embedder: Embedder.optional(),
  permission: z.array(Rule).optional(),
  agent: z
    .strictObject({
      name: z.string().optional(),
      model: z.string().optional(),
      rules: z.array(AgentRule).optional(),
    })
    .optional(),
  ...shared,
  adapters: shared.adapters.superRefine(refuseSandbox),
  snapshot: z.boolean().optional().describe("false: what tools change is not kept, and cannot be undone"),
  remote: Remote.optional(),
  environment: Environment.optional(),
})
export type Info = z.infer<typeof Info>

/** What a person writes: no defaults filled in. */
export type Input = Omit<z.input<typeof Info>, "provider"> & {
  provider?: { default?: string; [id: string]: Provider | string | undefined }
}

/** The schema of document 004 alone: an agent is required. */
export const Standalone = z.strictObject({
  agent: z.strictObject({ name: z.string(), model: z.string().default("functiongemma") }),
  ...shared,
})
export type Standalone = z.infer<typeof Standalone>

/** A sandbox that was asked for and does not exist must not be left out in silence. */
function refuseSandbox(adapters: z.infer<typeof shared.adapters>, context: z.RefinementCtx): void {
  if (adapters?.sandbox?.enabled)
    context.addIssue({
      code: "custom",
      path: ["sandbox", "enabled"],
      message:
        "this version has no sandbox, and nothing runs without the one that was asked for; set it to false",
    })
}

function isRemoteUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || url.username || url.password) return false
  const loopback =
    url.hostname === "localhost" || url.hostname === "[::1]" || /^127(\.\d+){3}$/.test(url.hostname)
  return url.protocol === "https:" || (url.protocol === "http:" && loopback)
}

function namesPermission({ value, issues }: z.core.ParsePayload<string>): void {
  if (permissions.some((name) => fitsText(value, name))) return
  const near = hasWildcard(value) ? undefined : nearest(value, permissions)
  const hint = near ? `did you mean "${near}"?` : `there are ${permissions.join(", ")}`
  const message = `permission ${JSON.stringify(value)} does not exist; ${hint}`
  issues.push({ code: "custom", message, input: value })
}
