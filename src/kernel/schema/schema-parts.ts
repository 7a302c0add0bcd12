// Parts of the schema of the configuration: rules, MCP servers, the embedder, and models that a configuration declares.
import { z } from "zod"
import { about } from "#util/about.ts"
import { nearest } from "#util/nearest.ts"
import { fitsText, hasWildcard } from "#util/wildcard.ts"

/** The permissions that a rule can name. */
export const permissions = [
  "file.read",
  "file.write",
  "file.edit",
  "bash.execute",
  "network.fetch",
  "mcp.call",
  "agent.delegate",
  "agent.remote",
  "memory.write",
  "knowledge.write",
  "secret.use",
  "secret.show",
  "tool.execute",
  "todo",
] as const

/** Which agent a request goes to. */
export const AgentRule = z.strictObject({
  match: about("Words or phrases of a request, with `|` between them.", z.string().min(1)),
  agent: about("Agent that such a request is for.", z.string().min(1)),
})
export type AgentRule = z.infer<typeof AgentRule>

/** A rule that can never match is refused: a mistyped "deny" would otherwise deny nothing. */
export const Rule = z
  .strictObject({
    permission: about(
      "Permission that the rule is about; `*` matches any.",
      z.string().check(namesPermission),
    ),
    pattern: about(
      "Path, command, URL, `server/tool`, agent or secret to match; `*` matches within one path segment, `**` across several.",
      z.string().min(1, "the rule has no pattern"),
    ),
    action: about("What happens to a call that matches.", z.enum(["allow", "deny", "ask"])),
  })
  .refine(({ permission, pattern }) => !(permission.startsWith("file.") && /^~(\/|$)/.test(pattern)), {
    path: ["pattern"],
    error: '"~" is not expanded in a pattern; write the whole path',
  })
export type Rule = z.infer<typeof Rule>

function namesPermission({ value, issues }: z.core.ParsePayload<string>): void {
  if (permissions.some((name) => fitsText(value, name))) return
  const near = hasWildcard(value) ? undefined : nearest(value, permissions)
  const hint = near ? `did you mean "${near}"?` : `there are ${permissions.join(", ")}`
  const message = `permission ${JSON.stringify(value)} does not exist; ${hint}`
  issues.push({ code: "custom", message, input: value })
}

export const McpServer = z.strictObject({
  id: about("Name in rules and in front of the names of its tools.", z.string().min(1)),
  name: about("Name that people see.", z.string()),
  transport: about(
    "How to reach it: `http`, `sse` (for servers that only have this older transport), or `stdio` for a process that is started.",
    z.enum(["http", "sse", "stdio"]),
  ),
  url: about("Address of an `http` or `sse` server.", z.string().optional()),
  headers: about("Headers of every request to it.", z.record(z.string(), z.string()).optional()),
  command: about("Program and arguments of a `stdio` server.", z.array(z.string()).optional()),
  env: about(
    "Environment variables of its process, added to basic ones such as `PATH` and `HOME`.",
    z.record(z.string(), z.string()).optional(),
  ),
  cwd: about(
    "Folder that its process starts in. Without it: the project if it is trusted, else your home folder.",
    z.string().optional(),
  ),
  timeout: about("Milliseconds for one call.", z.number().int().positive().optional(), 60_000),
  auth: about(
    "How to sign in to an `http` or `sse` server.",
    z
      .strictObject({
        type: about("`oauth`: `vitamin mcp login`; `bearer`: a token.", z.enum(["oauth", "bearer", "none"])),
        clientId: about(
          "Client id, if an OAuth client is registered with the server already.",
          z.string().optional(),
        ),
        token: about("Token for `bearer`.", z.string().optional()),
      })
      .optional(),
  ),
})
export type McpServer = z.infer<typeof McpServer>

type Hook = (...args: never[]) => unknown
const Hook = z.custom<Hook>(
  (value) => typeof value === "function",
  "expected a function, which only a TypeScript file can give",
)

const Hooks = z.strictObject({
  onAuth: about("Gives the token for an `http` server that has none of its own.", Hook.optional()),
  onAuthRefresh: about("Gives a new token when one has expired or was refused.", Hook.optional()),
  onRequest: about("Sees a request, and may change its parameters.", Hook.optional()),
  onResponse: about("Sees an answer, and may change its result.", Hook.optional()),
  onLog: about("Receives what a server logs and what it writes to stderr.", Hook.optional()),
  onPaginate: about("Says whether to ask for the next page of a list.", Hook.optional()),
})

export const Scripts = z.strictObject({
  persistence: about(
    "Where they are kept: in a `file`, or where `load` and `save` put them (`callback`).",
    z.enum(["file", "callback"]).default("file"),
  ),
  path: about("The file, from the work tree.", z.string().min(1).optional(), ".vitamin/scripts.json"),
  expirationDays: about(
    "Days after which a script that was not used needs another review.",
    z.number().nonnegative().default(30),
  ),
  load: about("Returns the list of scripts. Only in a TypeScript file.", Hook.optional()),
  save: about("Stores the list of scripts. Only in a TypeScript file.", Hook.optional()),
})

/** With `callback`, both functions are needed; with `file`, they would be ignored. */
export function checkScripts(value: z.output<typeof Scripts> | undefined, context: z.RefinementCtx): void {
  const isCallback = value?.persistence === "callback"
  for (const name of ["load", "save"] as const)
    if (value && isCallback === (value[name] === undefined)) {
      const message = isCallback
        ? 'persistence "callback" needs this function, in a TypeScript file'
        : 'this function is called only with persistence "callback"'
      context.addIssue({ code: "custom", path: [name], message })
    }
}

export const Mcp = z.strictObject({
  servers: about("The servers.", z.array(McpServer).default([])),
  hooks: about("Functions that see the traffic with servers. Only in a TypeScript file.", Hooks.optional()),
  logLevel: about(
    "Lowest level of log messages that servers are asked to send. Without it they are not asked for any.",
    z.enum(["debug", "info", "warning", "error"]).optional(),
  ),
  resourceAge: about(
    "Seconds that a resource counts as fresh, by its MIME type.",
    z.record(z.string(), z.number().nonnegative()).optional(),
  ),
})

/** An agent on another machine. */
const RemoteAgent = z.strictObject({
  url: about(
    "Address of its server, or of its agent card if that ends with `.json`.",
    z.string().refine(isWebUrl, "expected an http or https URL without user info"),
  ),
  token: about("Bearer token. `$NAME` takes it from an environment variable.", z.string().min(1).optional()),
  description: about("What it is for; models and people see it.", z.string().min(1).max(1_000).optional()),
})
export type RemoteAgent = z.infer<typeof RemoteAgent>

// A limit against hostile files.
const maxRemotes = 100
export const RemoteAgents = z
  .record(z.string().regex(/^\w[\w.-]{0,63}$/, 'expected a name such as "reviewer"'), RemoteAgent)
  .refine((agents) => Object.keys(agents).length <= maxRemotes, `at most ${maxRemotes} can be configured`)

function isWebUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password
}

const price = z.number().nonnegative()

/** A model that the built-in list does not know, or facts that differ from that list. */
export const DeclaredModel = z.strictObject({
  name: about("Name that people see.", z.string().optional()),
  context: about("Tokens that fit its window.", z.number().int().positive().optional(), 128_000),
  output: about(
    "Tokens that one answer can have. Without it no limit is sent, and a quarter of the window is reserved.",
    z.number().int().positive().optional(),
  ),
  cost: about(
    "US dollars for a million tokens.",
    z
      .strictObject({
        input: about("Input tokens.", z.number().nonnegative()),
        output: about("Output tokens.", z.number().nonnegative()),
        cacheRead: about("Tokens read from the provider's cache.", price.optional()),
        cacheWrite: about("Tokens written to the provider's cache.", price.optional()),
      })
      .optional(),
  ),
  tools: about("Whether it calls tools.", z.boolean().optional(), true),
  reasoning: about("Whether it reasons before it answers.", z.boolean().optional(), false),
  temperature: about("Whether it takes a temperature.", z.boolean().optional(), true),
  input: about(
    "Kinds of input that it takes.",
    z.array(z.enum(["text", "image", "pdf", "audio", "video"])).optional(),
    ["text"],
  ),
  api: about(
    "API to call it with, if it differs from its provider's.",
    z.enum(["chat", "responses", "messages", "gemini"]).optional(),
  ),
  gpu: about(
    '`"auto"`: a GGUF file that runs here may use the GPU.',
    z.literal(["auto", false]).optional(),
    false,
  ),
})
export type DeclaredModel = z.infer<typeof DeclaredModel>

/** The model that turns texts into vectors, instead of the embedded one: a provider's, or a GGUF file for
 * node-llama-cpp. */
export const Embedder = z
  .strictObject({
    model: about(
      "Embedding model, as `provider/model`.",
      z
        .string()
        .regex(/^[^\s/]+\/\S+$/, 'expected "provider/model", such as "openai/text-embedding-3-small"')
        .optional(),
    ),
    gguf: about("GGUF file for node-llama-cpp.", z.string().min(1).optional()),
  })
  .refine(({ model, gguf }) => model === undefined || gguf === undefined, {
    error: "there is one embedder: name a model or a GGUF file, not both",
  })
