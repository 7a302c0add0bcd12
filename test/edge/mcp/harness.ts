// Starts the built command `vitamin mcp serve` in a process of its own, with the SDK's client at the other end.
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { startVitamin } from "../../fixture/cli.ts"
import { noServers } from "../../fixture/no-servers.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"

export type Era = "legacy" | "auto"
export const eras: Era[] = ["legacy", "auto"]
type Answer = { action: "accept" | "decline"; content?: { allow: boolean } }
type Options = {
  era?: Era
  args?: string[]
  env?: Record<string, string>
  /** The answer of the client's person. */
  answer?: (question: string) => Answer
}

const command = fileURLToPath(new URL("../../../dist/vitamin.js", import.meta.url))

/** A client that starts a server and talks to it over stdin and stdout. */
export async function overStdio(tmp: Tmp, options: Options = {}) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [command, "mcp", "serve", ...(options.args ?? [])],
    cwd: tmp.path,
    env: { ...tmp.env, ...noServers, ...options.env },
    stderr: "pipe",
  })
  let errors = ""
  transport.stderr?.on("data", (part) => {
    errors += part
  })
  const client = await connect(transport, options)
  return {
    client,
    pid: transport.pid!,
    errors: () => errors,
    [Symbol.asyncDispose]: () => client.close(),
  }
}

/** A server over HTTP, and a function that creates clients. */
export async function overHttp(tmp: Tmp, options: Pick<Options, "args" | "env"> = {}) {
  const args = ["mcp", "serve", "--http", "--port", "0", ...(options.args ?? [])]
  const child = startVitamin(tmp, args, options.env)
  const line = await child.line(/listening/)
  const [, address, tokenFile] = /on (http:\S+) \(token in (.+)\)$/.exec(line)!
  const url = new URL(address!)
  const token = readFileSync(tokenFile!, "utf8").trim()
  const headers = { authorization: `Bearer ${token}` }
  return {
    child,
    url,
    token,
    client: (more: Omit<Options, "args" | "env"> = {}) =>
      connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }), more),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}

export async function namesOf(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name)
}

/** The text of a result. */
export function textOf(result: Awaited<ReturnType<Client["callTool"]>>): string {
  return result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
}

async function connect(transport: Parameters<Client["connect"]>[0], { era = "auto", answer }: Options) {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    {
      capabilities: answer ? { elicitation: { form: {} } } : {},
      versionNegotiation: { mode: era },
    },
  )
  if (answer) client.setRequestHandler("elicitation/create", ({ params }) => answer(params.message))
  await client.connect(transport)
  return client
}
