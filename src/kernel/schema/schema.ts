// The schema of the configuration. `Info` is the merged configuration of all layers; `Standalone` is a TypeScript file
// that is loaded by itself (`loadConfig`). Other folders take the types of rules and MCP servers from here.
import { z } from "zod"
import { about } from "#util/about.ts"
import { Adapters } from "./adapter-schema.ts"
import { Guards } from "./guard-schema.ts"
import { Hooks } from "./hook-schema.ts"
import { Formatters, LanguageServers } from "./language-schema.ts"
import {
  AgentRule,
  checkScripts,
  DeclaredModel,
  Embedder,
  Mcp,
  RemoteAgents,
  Rule,
  Scripts,
} from "./schema-parts.ts"

export type { Guard, Guards } from "./guard-schema.ts"
export {
  type HookEvent,
  type HookFunction,
  type HookInput,
  type HookOutput,
  hookEvents,
  isHookEvent,
} from "./hook-schema.ts"
export type { LanguageServer } from "./language-schema.ts"
export type { DeclaredModel, RemoteAgent } from "./schema-parts.ts"
export { AgentRule, McpServer, permissions, Rule } from "./schema-parts.ts"

/** Settings of one provider. `models` declares models that the built-in list does not know. */
export const Provider = z.strictObject({
  apiKey: about("Key; the provider's own variable and `vitamin auth login` work too.", z.string().optional()),
  baseURL: about("Address of its API, instead of the provider's own.", z.string().optional()),
  headers: about("Headers of every request to it.", z.record(z.string(), z.string()).optional()),
  models: about(
    "Models that the built-in list does not know, or facts that differ from it, by their id.",
    z.record(z.string(), DeclaredModel).optional(),
  ),
})
export type Provider = z.infer<typeof Provider>

// A limit against hostile files: every provider costs memory, a list entry and perhaps a connection.
const maxProviders = 200
const Providers = z
  .object({
    default: about(
      "Provider of models that are named without one (`--model`, `VITAMIN_MODEL`, `agent.model`, agent files).",
      z.string().min(1).optional(),
    ),
  })
  .catchall(Provider)
  .refine(({ default: _, ...providers }) => Object.keys(providers).length <= maxProviders, {
    error: `too many providers; at most ${maxProviders} can be configured`,
  })

export const Remote = z.strictObject({
  url: about(
    "Address of a JSONC file; https, or http on this machine. Only in the global file.",
    z.string().refine(isRemoteUrl, "expected an https URL without user info (http only on this machine)"),
  ),
  timeout: about(
    "Milliseconds that its renewal may take.",
    z.number().int().positive().max(60_000).optional(),
    3_000,
  ),
})
export type Remote = z.infer<typeof Remote>

/** Variables that commands get although their names look like credentials. */
const Environment = z.strictObject({
  pass: about(
    "Variables that commands get although they are named like credentials, such as `GH_TOKEN`. No wildcards.",
    z
      .array(z.string().regex(/^[^=*\s]+$/, "expected the whole name of a variable, without wildcards"))
      .optional(),
  ),
})

/** The standard `OTEL_*` variables come before these. */
const Telemetry = z.strictObject({
  enabled: about("`false` turns it off, also if the environment asks for it.", z.boolean().optional(), true),
  endpoint: about(
    "Address of an OpenTelemetry collector that takes OTLP over HTTP as JSON, such as `http://127.0.0.1:4318`. `/v1/traces`, `/v1/metrics` and `/v1/logs` are added.",
    z.string().refine(isHttpUrl, "expected an http or https URL without user info").optional(),
  ),
  headers: about(
    "Headers of every request to it, such as a key.",
    z.record(z.string(), z.string()).optional(),
  ),
  contents: about(
    "Also send prompts, answers, arguments and results of calls. Known secrets are redacted.",
    z.boolean().optional(),
    false,
  ),
})

const Terminal = z.strictObject({
  animation: about(
    "Show an animation in the status line while the agent works.",
    z.boolean().optional(),
    true,
  ),
  bell: about(
    "Ring the bell when a question waits or a turn is over, and the window is not in focus.",
    z.boolean().optional(),
    true,
  ),
  notify: about(
    "Show a notification of the desktop as well, in terminals that have them: iTerm2, kitty, WezTerm, Ghostty, rxvt and those of GNOME. In tmux this needs `allow-passthrough`.",
    z.boolean().optional(),
    true,
  ),
  theme: about(
    "Colours for a light or a dark background; `auto` asks the terminal.",
    z.enum(["auto", "light", "dark"]).optional(),
    "auto",
  ),
  keys: about(
    "Keys of actions: one, a list, or `[]` for none. A key has a form such as `ctrl+enter`, `alt+b`, `f2`, or `escape escape` for two presses.",
    z.record(z.string(), z.union([z.string(), z.array(z.string())])).optional(),
  ),
})

const shared = {
  mcp: about("MCP servers. `.vitamin/mcp.json` and `.mcp.json` are read too.", Mcp.optional()),
  skills: about(
    "Where skills are, beside the usual folders.",
    z.strictObject({ root: about("Folder of skills.", z.string().default(".plaited/skills")) }).optional(),
  ),
  rules: about(
    "Instructions to the model.",
    z
      .strictObject({
        root: about("File with the instructions.", z.string().default("AGENTS.md")),
        own: about(
          "Your own instructions for every project, in addition to `~/.config/vitamin/AGENTS.md`: absolute paths, or paths that start with `~`. A project cannot set it.",
          z
            .array(z.string().regex(/^(?:~?\/)/, 'a path that begins with "/" or "~/" is expected'))
            .optional(),
        ),
      })
      .optional(),
  ),
  adapters: about("How other programs reach the agent.", Adapters.optional()),
  scripts: about(
    "Scripts that a person has promoted ([context.md](context.md#promoted-scripts)).",
    Scripts.optional(),
  ),
}

/** The merged configuration. Every key is optional; defaults are filled in inside the parts that are present. */
export const Info = z.strictObject({
  $schema: about("Ignored; editors use it to check the file.", z.string().optional()),
  model: about(
    "Model that answers, as `provider/model`. `--model`, the session, the agent and `VITAMIN_MODEL` come before it. Without any: a model server on this machine, else `local/rules`.",
    z
      .string()
      .regex(/^[^\s/]+\/\S+$/, 'expected "provider/model", such as "anthropic/claude-sonnet-4-5"')
      .optional(),
  ),
  provider: about("Settings of providers, by their id (`vitamin models` lists them).", Providers.optional()),
  embedder: about(
    "Model that finds tools, skills and documents by meaning, instead of the embedded one.",
    Embedder.optional(),
  ),
  permission: about(
    "Rules on what tools may do. The last one that fits wins; a deny of your own file is final. Without a rule: reading in the workspace is allowed, the rest is asked for.",
    z.array(Rule).optional(),
  ),
  agent: about(
    "Which agent does the work.",
    z
      .strictObject({
        name: about(
          "Agent to use if none is named; `auto` chooses one for each prompt.",
          z.string().optional(),
          "build",
        ),
        model: about("Model of that agent, instead of `model`.", z.string().min(1).optional()),
        rules: about(
          "Which requests go to which agent, if the agent is `auto`. The first rule that fits wins.",
          z.array(AgentRule).optional(),
        ),
      })
      .optional(),
  ),
  a2a: about(
    "Remote agents that tasks can be given to, by a name of yours ([a2a.md](a2a.md)).",
    RemoteAgents.optional(),
  ),
  ...shared,
  scripts: shared.scripts.superRefine(checkScripts),
  snapshot: about(
    "`false`: no snapshots are taken, so changes of tools cannot be undone.",
    z.boolean().optional(),
    true,
  ),
  remote: about(
    "Shared configuration, such as that of a team. Your own values override it.",
    Remote.optional(),
  ),
  environment: about("The environment of commands.", Environment.optional()),
  bash: about(
    "How commands of the model run.",
    z
      .strictObject({
        sandbox: about(
          "Each command runs in a sandbox of its own ([sandbox.md](sandbox.md)): it writes only in the work tree and where `adapters.sandbox.security` allows it.",
          z.boolean().optional(),
          false,
        ),
      })
      .optional(),
  ),
  lsp: about(
    "Language servers, which report what an edit breaks ([language-servers.md](language-servers.md)). `false` turns off all.",
    LanguageServers.optional(),
  ),
  formatter: about(
    "Formatters for files that the agent edited ([language-servers.md](language-servers.md#formatters)): your own, by a name of yours; `false` turns a known one off (`biome`, `prettier`, `ruff`, `gofmt`), or all.",
    Formatters.optional(),
  ),
  terminal: about("The interactive terminal.", Terminal.optional()),
  telemetry: about(
    "Traces, metrics and logs for an OpenTelemetry collector ([telemetry.md](telemetry.md)).",
    Telemetry.optional(),
  ),
  guards: about(
    "Rules over sequences of actions, by their name ([guards.md](guards.md)).",
    Guards.optional(),
  ),
  hooks: about(
    "Hooks that are functions, and whose hooks are used. Commands are in `hooks.json` ([hooks.md](hooks.md)).",
    Hooks.optional(),
  ),
})
export type Info = z.infer<typeof Info>

/** What a person writes: no defaults filled in. */
export type Input = Omit<z.input<typeof Info>, "provider"> & {
  provider?: { default?: string; [id: string]: Provider | string | undefined }
}

/** A TypeScript file that is loaded by itself: an agent is required. */
export const Standalone = z.strictObject({
  agent: z.strictObject({ name: z.string(), model: z.string().default("functiongemma") }),
  ...shared,
})
export type Standalone = z.infer<typeof Standalone>

function isHttpUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && !url.username && !url.password
}

function isRemoteUrl(text: string): boolean {
  if (!isHttpUrl(text)) return false
  const url = new URL(text)
  const loopback =
    url.hostname === "localhost" || url.hostname === "[::1]" || /^127(\.\d+){3}$/.test(url.hostname)
  return url.protocol === "https:" || (url.protocol === "http:" && loopback)
}
