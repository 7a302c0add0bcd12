// The status of MCP servers for people and clients, the event that reports it, and the errors for a server that cannot
// be used.
import { z } from "zod"
import * as Bus from "#kernel/bus/bus.ts"
import { LoginOutcome } from "#kernel/login/create-logins.ts"
import * as Log from "#kernel/process/log.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import { ownCommand } from "#util/own-command.ts"
import type { ConfiguredServer } from "./configured-server.ts"
import type { Found, Loaded } from "./load-servers.ts"

export const State = z
  .enum(["idle", "connecting", "connected", "failed", "disconnected", "unusable"])
  .describe("idle: started when it is first used; unusable: it is never started, and `error` says why")
export type State = z.infer<typeof State>

export const Status = z.object({
  id: about("The server.", z.string()),
  name: about("Its name for people.", z.string()),
  source: z.string().describe("the file that names it, `configuration`, or the client that added it"),
  transport: about("How it is reached.", z.enum(["http", "sse", "stdio"]).optional()),
  state: State,
  error: about("Why it failed.", z.string().optional()),
  needsLogin: about("Whether it failed because a person has to sign in.", z.boolean().optional()),
  protocol: z.string().optional().describe("the revision of the protocol"),
  version: z.string().optional().describe("the name and version that the server reports"),
  tools: about("How many tools it offers.", z.number()),
  resources: about("How many resources.", z.number()),
  prompts: about("How many prompts.", z.number()),
  problems: z.array(z.string()).describe("the parts of it that cannot be used"),
})
export type Status = z.infer<typeof Status>

export const ServerLogin = LoginOutcome.extend({
  server: about("The server, connected with the login.", Status.optional()),
})
export type ServerLogin = z.infer<typeof ServerLogin>

export const Changed = Bus.define("mcp.changed", Status, {
  when: "An MCP server connected, failed or ended, or its lists changed.",
})

/** More problems are counted, not listed. */
const maxSaid = 20

export class NotFound extends NamedError {
  constructor(id: string, known: string[]) {
    const near = nearest(id, known)
    super(
      "MCP.NotFound",
      `MCP server ${JSON.stringify(id)} does not exist. Configured: ${known.join(", ") || "none"}${near ? `. Did you mean "${near}"?` : ""}`,
      { id },
    )
  }
}

/** The server is configured but cannot be used: its entry is invalid, or it is not trusted. */
export class Unusable extends NamedError {
  constructor({ id, source, problem, isUntrusted }: Found) {
    const name = isUntrusted ? "MCP.Untrusted" : "MCP.InvalidServer"
    super(name, `MCP server "${id}" (${source}) is not used: ${problem}`, { id })
  }
}

/** `one` is undefined if the server cannot be used; `problems` are those of its tools. */
export function statusOf(found: Found, one?: ConfiguredServer, problems: readonly string[] = []): Status {
  const { id, source, server } = found
  const manifest = one?.manifest()
  const error = found.problem ?? one?.error()
  const { info } = manifest ?? {}
  return {
    id,
    name: server?.name ?? id,
    source,
    ...(server ? { transport: server.transport } : {}),
    state: one?.state() ?? "unusable",
    ...(error === undefined ? {} : { error }),
    ...(manifest?.needsLogin ? { needsLogin: true } : {}),
    ...(info ? { protocol: info.protocol, version: `${info.name} ${info.version}` } : {}),
    tools: manifest?.tools.length ?? 0,
    resources: manifest?.resources.length ?? 0,
    prompts: manifest?.prompts.length ?? 0,
    problems: [...(manifest?.problems ?? []), ...problems],
  }
}

/** Logs each problem of the configured servers once. */
export function reportProblems({ servers, problems }: Loaded, said: Set<string>): void {
  const untrusted = Map.groupBy(
    servers.filter(({ isUntrusted }) => isUntrusted),
    ({ problem }) => problem,
  )
  const lines = [
    ...problems,
    ...servers.flatMap(({ id, source, problem, isUntrusted }) =>
      problem && !isUntrusted ? [`MCP server ${id} (${source}) is not used: ${problem}`] : [],
    ),
    ...[...untrusted].map(([reason, found]) => {
      const sources = [...new Set(found.map(({ source }) => source))].join(", ")
      const what = found.length === 1 ? "server is" : "servers are"
      return `${found.length} MCP ${what} not started: ${reason} (${sources})`
    }),
  ]
  const news = [...new Set(lines)].filter((line) => !said.has(line))
  for (const line of news.slice(0, maxSaid)) Log.warn(line)
  if (news.length > maxSaid)
    Log.warn(`and ${news.length - maxSaid} more about MCP servers (${ownCommand} mcp list)`)
  for (const line of news) said.add(line)
}
