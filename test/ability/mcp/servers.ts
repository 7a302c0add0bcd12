// Servers for tests, as a `.mcp.json` names them.
import { fileURLToPath } from "node:url"

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
}

/** A server of the official packages. */
export function officialServer(name: keyof typeof official, ...args: string[]) {
  return { command: process.execPath, args: [fileURLToPath(official[name]), ...args] }
}
