// Converts the tools of an MCP server into tools of ours. The server is not trusted: its texts are escaped and cut,
// its schemas are bounded, and its claim that a tool "only reads" is ignored. A call needs `mcp.call` of
// `server/tool`.
import { createHash } from "node:crypto"
import { z } from "zod"
import { Refused } from "#ability/call/result.ts"
import type { Context, Definition, Need } from "#ability/call/types.ts"
import * as Trace from "#kernel/trace.ts"
import { plainText } from "#util/plain-text.ts"
import { checkSchema } from "./check-schema.ts"
import { outputOf, type ServerResult } from "./server-output.ts"

export type ServerTool = {
  name: string
  title?: string
  description?: string
  inputSchema: object
  annotations?: Record<string, unknown>
}

/** What is needed of a server to offer its tools. */
export type ToolServer = {
  readonly server: { id: string }
  /** Its command or address, if a grant must not apply to another server of the same name. */
  readonly program?: readonly string[] | undefined
  listTools(): Promise<ServerTool[]>
  /** A tool of ours that reaches its resources and prompts. */
  offerTool?(): Promise<Definition | undefined>
  callTool(
    name: string,
    args: Record<string, unknown>,
    options: Pick<Context, "signal" | "sessionId" | "whileAsking"> & {
      onProgress?(progress: { message?: string }): void
      /** Called with its tools once it is running; they may differ from the manifest. */
      onReady?(listed: ServerTool[]): void
      /** The span of the call, for a server that records traces. */
      traceparent?: string
    },
  ): Promise<ServerResult>
}

const maxTools = 2_000
const maxDescription = 4_000
const maxName = 128
const maxProblems = 20
/** Invisible characters; characters of patterns in rules; names that rules use for resources and prompts. */
const isUnusable = (name: string) => /^(?:resource|prompt):|[\p{C}\p{DI}\s*]/u.test(name)
const maxReports = { count: 20, within: 1_000 }
/** One schema for all: the server checks the arguments and reports errors. */
const anyObject = z.record(z.string(), z.unknown())
/** For each tool, a function that creates it again with another id. */
const makers = new WeakMap<Definition, (id: string) => Definition>()

/** The tools that can be offered, by name, and a line for each that cannot. Names may still collide with others. */
export function toolsOf(
  server: ToolServer,
  listed: ServerTool[],
): { tools: Definition[]; problems: string[] } {
  const tools = new Map<string, Definition>()
  const problems: string[] = []
  for (const tool of listed) {
    const problem = tools.size >= maxTools ? `more than ${maxTools} tools` : problemOf(tool, tools)
    if (!problem) tools.set(tool.name, toolOf(server, tool))
    else if (problems.length < maxProblems)
      problems.push(`tool ${JSON.stringify(plainText(tool.name, maxName))} is left out: ${problem}`)
  }
  return { tools: [...tools.values()], problems }
}

/** Gives each tool a unique id, the same for the same tools in any order. If two tools would have the same id,
 * neither gets it: a call for one must not reach the other. */
export function nameApart(tools: Definition[], taken: ReadonlySet<string>): Definition[] {
  const used = new Set(taken)
  const wanted = new Set<string>()
  const shared = new Set<string>(taken)
  for (const { id } of tools) (wanted.has(id) ? shared : wanted).add(id)
  const inOrder = tools
    .map((tool) => ({ tool, target: targetOf(tool) }))
    .sort((a, b) => compare(a.target, b.target))
  return inOrder.map(({ tool, target }) => {
    if (!shared.has(tool.id)) return tool
    let id = apartFrom(tool.id, target)
    for (let n = 2; used.has(id) || wanted.has(id); n++) id = apartFrom(tool.id, `${target} ${n}`)
    used.add(id)
    return makers.get(tool)?.(id) ?? Object.freeze({ ...tool, id })
  })
}

/** The name of an MCP tool for models and people. Rules use `server/tool`. */
export function serverToolId(serverId: string, name: string): string {
  return `${serverId}_${name}`.replace(/[^\w-]/g, "_").slice(0, 64)
}

function apartFrom(id: string, target: string): string {
  return `${id.slice(0, 55)}_${createHash("sha256").update(target).digest("hex").slice(0, 8)}`
}

function problemOf({ name, inputSchema }: ServerTool, known: Map<string, Definition>): string | undefined {
  if (!name || name.length > maxName || isUnusable(name)) return "its name cannot be used"
  if (known.has(name)) return "the server has another one of that name"
  return checkSchema(inputSchema)
}

function toolOf(server: ToolServer, tool: ServerTool, id?: string): Definition {
  const { id: serverId } = server.server
  const { name } = tool
  const need = needOf(server, tool)
  const shown = id ?? serverToolId(serverId, name)
  const definition = Object.freeze<Definition>({
    id: shown,
    description: plainText(tool.description || tool.title || name, maxDescription),
    category: "api",
    parameters: anyObject,
    inputSchema: shownSchema(tool.inputSchema) as Record<string, unknown>,
    server: serverId,
    readOnly: tool.annotations?.readOnlyHint === true,
    permission: () => [need],
    preview: (args) => plainText(JSON.stringify(args, null, 2), maxDescription),
    async execute(args, { signal, sessionId, messageId, callId, whileAsking, report, judge }) {
      const traceparent = Trace.parentOf(sessionId, messageId, callId)
      const options = {
        signal,
        sessionId,
        ...(whileAsking ? { whileAsking } : {}),
        ...(traceparent ? { traceparent } : {}),
        ...(report ? { onProgress: progressTo(report) } : {}),
        onReady(listed: ServerTool[]) {
          const listedNow = listed.find((one) => one.name === name)
          if (!listedNow || listedNow === tool) return
          const now = needOf(server, listedNow)
          if (now.fingerprint !== need.fingerprint && judge?.(now) !== "allow")
            throw new Refused("permission", changedText(shown))
        },
      }
      return outputOf(await server.callTool(name, args as Record<string, unknown>, options))
    },
  })
  makers.set(definition, (id) => toolOf(server, tool, id))
  return definition
}

function needOf({ server, program }: ToolServer, tool: ServerTool): Need {
  let fingerprint: string | undefined
  return {
    permission: "mcp.call",
    target: `${server.id}/${tool.name}`,
    // Computed when a call is judged: a start may have thousands of tools.
    get fingerprint() {
      fingerprint ??= fingerprintTool(tool, program)
      return fingerprint
    },
  }
}

function changedText(id: string): string {
  return `"${id}" was not run: its server describes it differently now than when it was allowed. Read its description, then try again.`
}

/** Each report is an event for every listener, so a server that floods us is cut to a few a second. */
function progressTo(report: (text: string) => void) {
  let since = 0
  let count = 0
  return ({ message }: { message?: string }) => {
    const now = performance.now()
    if (now - since > maxReports.within) [since, count] = [now, 0]
    if (message && ++count <= maxReports.count) report(`${plainText(message, 500)}\n`)
  }
}

/** Escapes the texts of a schema, which the model reads like the description. */
function shownSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(shownSchema)
  if (typeof schema === "string") return shownValue(schema)
  if (typeof schema !== "object" || schema === null) return schema
  const entries = Object.entries(schema).filter(([key]) => key !== "$schema" && key !== "$comment")
  return Object.fromEntries(
    entries.map(([key, value]) => [
      key,
      typeof value === "string" && (key === "description" || key === "title")
        ? plainText(value, maxDescription)
        : shownSchema(value),
    ]),
  )
}

/** A value stays unchanged unless it contains hidden characters. */
function shownValue(text: string): string {
  if (!/[^\n\r\x20-\x7e]/.test(text)) return text
  const shown = plainText(text, text.length)
  return shown === text.replaceAll("\r\n", "\n") ? text : shown
}

function targetOf(tool: Definition): string {
  return tool.permission!({})[0]!.target
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Identifies the tool that a person has allowed: a hash of its description and schema, and of the server's program
 * if the name does not identify it. The order of keys in a schema does not matter. */
function fingerprintTool(
  { name, title, description, inputSchema }: ServerTool,
  program?: readonly string[],
): string {
  const said = JSON.stringify(
    [name, description || title || "", inputSchema, ...(program ? [program] : [])],
    inOrder,
  )
  return createHash("sha256").update(said).digest("hex")
}

function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
