// The schema of an MCP server, and of all that a configuration says of them.
import { z } from "zod"
import { about } from "#util/about.ts"

export const McpServer = z.strictObject({
  id: about("Name in rules and in front of the names of its tools.", z.string().min(1)),
  name: about("Name that people see.", z.string()),
  transport: about(
    "How it is reached: an address (`sse` where a server knows only that older way), or a process that is started.",
    z.enum(["http", "sse", "stdio"]),
  ),
  url: about("Address of an `http` or `sse` server.", z.string().optional()),
  headers: about("Headers of every request to it.", z.record(z.string(), z.string()).optional()),
  command: about("Program and arguments of a `stdio` server.", z.array(z.string()).optional()),
  env: about(
    "Variables that its process gets, beside a base such as `PATH` and `HOME`.",
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
        clientId: about("OAuth client that is registered there already.", z.string().optional()),
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
  onAuthRefresh: about("Gives another token when one ended or was refused.", Hook.optional()),
  onRequest: about("Sees a request, and may change its parameters.", Hook.optional()),
  onResponse: about("Sees an answer, and may change its result.", Hook.optional()),
  onLog: about("Hears what a server logs and writes to stderr.", Hook.optional()),
  onPaginate: about("Says whether to ask for the next page of a list.", Hook.optional()),
})

export const Mcp = z.strictObject({
  servers: about("The servers.", z.array(McpServer).default([])),
  hooks: about("Functions that see the traffic with servers. Only in a TypeScript file.", Hooks.optional()),
  logLevel: about(
    "Log messages of servers from this level on, which they are asked for. Without it they are asked for none.",
    z.enum(["debug", "info", "warning", "error"]).optional(),
  ),
  resourceAge: about(
    "Seconds that a resource counts as fresh, by its MIME type.",
    z.record(z.string(), z.number().nonnegative()).optional(),
  ),
})
