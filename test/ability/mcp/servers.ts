// Servers for tests, as a `.mcp.json` names them.
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { fileURLToPath } from "node:url"
import { run } from "../../fixture/child.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

const script = fileURLToPath(new URL("./tiny-server.ts", import.meta.url))

/** `log` is a file that the server writes its calls to. */
export function tinyServer(behaviour: object, log?: string) {
  return { command: process.execPath, args: [script, JSON.stringify(behaviour), ...(log ? [log] : [])] }
}

export function mcpJson(servers: Record<string, object>): string {
  return JSON.stringify({ mcpServers: servers })
}

const official = {
  everything: import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
  memory: import.meta.resolve("@modelcontextprotocol/server-memory/dist/index.js"),
  filesystem: import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"),
  playwright: new URL("cli.js", import.meta.resolve("@playwright/mcp")).href,
}

/** A server of the official packages. */
export function officialServer(name: keyof typeof official, ...args: string[]) {
  return { command: process.execPath, args: [fileURLToPath(official[name]), ...args] }
}

export const everythingOverHttp = (tmp: Tmp) => everythingOver("http", tmp)

/** server-everything over http, or over http with sse, ready. */
export async function everythingOver(type: "http" | "sse", tmp: Tmp, given?: number) {
  const port = given ?? (await freePort())
  const { command, args } = officialServer("everything", type === "sse" ? "sse" : "streamableHttp")
  const child = run(command, args, { env: { ...tmp.env, PORT: String(port) } })
  const end = () => child[Symbol.asyncDispose]()
  try {
    await until(() => /listening|running on port/.test(child.errors()), "the server listens")
  } catch (error) {
    await end()
    throw error
  }
  const server = { type, url: `http://127.0.0.1:${port}/${type === "sse" ? "sse" : "mcp"}` }
  return { server, port, [Symbol.asyncDispose]: end }
}

/** Nobody has it at the moment; the server cannot be told to take any. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}
