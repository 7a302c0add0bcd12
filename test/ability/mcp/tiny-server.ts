// A small MCP server over stdio that starts fast: it offers the tools that its first argument names, or hangs, or
// ends. It writes the arguments of its calls to the file that its second argument names.
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"

type Behaviour = {
  /** Where the rest is written, for what is too long for a command line. */
  file?: string
  mode?: "hang" | "crash"
  /** It has log messages, and writes one when it is told from which level on. */
  logs?: boolean
  /** A call adds a tool, and says so. */
  grows?: boolean
  /** The list of tools has a second page, which is empty. */
  pages?: boolean
  /** A call is answered when there is this file. */
  waitsFor?: string
  resources?: { uri: string; name: string; mimeType?: string; text?: string; blob?: string }[]
  templates?: { uriTemplate: string; name: string; description?: string }[]
  /** What it says by name. */
  prompts?: Record<string, string>
  tools?: { name: string; description?: string; inputSchema?: object; result?: object }[]
}

const given = JSON.parse(process.argv[2] ?? "{}") as Behaviour
const {
  mode,
  grows,
  logs,
  pages,
  waitsFor,
  tools = [],
  resources = [],
  templates = [],
  prompts = {},
}: Behaviour = given.file ? JSON.parse(readFileSync(given.file, "utf8")) : given
const log = process.argv[3]
if (log) appendFileSync(log, "started\n")
if (mode === "crash") {
  process.stderr.write("no database\n")
  process.exit(1)
}
process.on("SIGTERM", () => process.exit(0))
const lines = createInterface({ input: process.stdin })
lines.on("close", () => process.exit(0))
lines.on("line", async (line) => {
  if (mode === "hang") return
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const answer = answerTo(method, params)
  if (waitsFor && method === "tools/call") while (!existsSync(waitsFor)) await sleep(20)
  write({ id, ...answer })
})

function write(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
}

function answerTo(method: string, params: Record<string, unknown>): object {
  if (method === "initialize")
    return {
      result: {
        protocolVersion: "2025-11-25",
        // It says that it has prompts, and mostly has none to show.
        capabilities: {
          tools: { listChanged: true },
          prompts: {},
          ...(logs ? { logging: {} } : {}),
          ...(resources.length || templates.length ? { resources: {} } : {}),
        },
        serverInfo: { name: "tiny", version: "1.0.0" },
      },
    }
  if (method === "ping") return { result: {} }
  if (method === "logging/setLevel") {
    const data = `told from ${params.level} on`
    setImmediate(() => write({ method: "notifications/message", params: { level: "warning", data } }))
    return { result: {} }
  }
  if (method === "tools/list")
    return {
      result: {
        tools: params?.cursor
          ? []
          : tools.map(({ result: _, ...tool }) => ({ inputSchema: { type: "object" }, ...tool })),
        ...(pages && !params?.cursor ? { nextCursor: "2" } : {}),
      },
    }
  if (method === "resources/list")
    return { result: { resources: resources.map(({ text: _, blob: __, ...resource }) => resource) } }
  if (method === "resources/templates/list") return { result: { resourceTemplates: templates } }
  if (method === "prompts/list" && Object.keys(prompts).length)
    return { result: { prompts: Object.keys(prompts).map((name) => ({ name })) } }
  if (method === "prompts/get") {
    const text = prompts[params.name as string]
    return { result: { messages: [{ role: "user", content: { type: "text", text } }] } }
  }
  if (method === "resources/read") {
    if (log) appendFileSync(log, `read ${params.uri}\n`)
    const { name: _, ...found } = resources.find(({ uri }) => uri === params.uri) ?? {}
    return "uri" in found
      ? { result: { contents: [found] } }
      : { error: { code: -32002, message: `no ${params.uri} here` } }
  }
  if (method === "tools/call") {
    if (log) appendFileSync(log, `${JSON.stringify(params)}\n`)
    if (params.name === "die") {
      process.stderr.write("out of memory\n")
      process.exit(1)
    }
    if (grows) {
      tools.push({ name: "grown" })
      write({ method: "notifications/tools/list_changed" })
    }
    const tool = tools.find(({ name }) => name === params.name)
    return { result: tool?.result ?? { content: [{ type: "text", text: `${params.name} ran` }] } }
  }
  return { error: { code: -32601, message: `no ${method} here` } }
}
