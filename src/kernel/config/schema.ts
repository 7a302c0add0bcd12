// What a configuration may say. `Info` is the merged schema of both documents; `Standalone` is the one of the
// TypeScript file alone, built from the same parts. Other folders take the types of rules and MCP servers from here.
import { z } from "zod"

export const Rule = z.strictObject({
  permission: z.string().min(1),
  pattern: z.string().min(1),
  action: z.enum(["allow", "deny", "ask"]),
})
export type Rule = z.infer<typeof Rule>

export const McpServer = z.strictObject({
  id: z.string().min(1),
  name: z.string(),
  transport: z.enum(["http", "stdio"]),
  url: z.string().optional(),
  command: z.array(z.string()).optional(),
  auth: z
    .strictObject({
      type: z.enum(["oauth", "bearer", "none"]),
      clientId: z.string().optional(),
      token: z.string().optional(),
    })
    .optional(),
})
export type McpServer = z.infer<typeof McpServer>

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

export const Remote = z.strictObject({
  url: z.string().refine(isRemoteUrl, "expected an https URL without user info (http only on this machine)"),
  timeout: z.number().int().positive().max(60_000).optional(),
})
export type Remote = z.infer<typeof Remote>

const shared = {
  mcp: z
    .strictObject({
      servers: z.array(McpServer).default([]),
      hooks: z.record(z.string(), Hook).optional(),
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
  permission: z.array(Rule).optional(),
  agent: z.strictObject({ name: z.string().optional(), model: z.string().optional() }).optional(),
  ...shared,
  remote: Remote.optional(),
  environment: z.record(z.string(), z.string()).optional(),
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

function isRemoteUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || url.username || url.password) return false
  const loopback =
    url.hostname === "localhost" || url.hostname === "[::1]" || /^127(\.\d+){3}$/.test(url.hostname)
  return url.protocol === "https:" || (url.protocol === "http:" && loopback)
}
