// Hooks with which a host can observe and change the traffic with an MCP server.

export type AuthToken = {
  value: string
  /** When it ends, in milliseconds since 1970. It is refreshed before. */
  expires?: number
}

/** Which server a hook is asked about. */
type AskingServer = { id: string; url: string }

/** A call on its way to the server ("tools/call"). */
type MCPRequest = { method: string; params: Record<string, unknown> }
type MCPResponse = { method: string; result: Record<string, unknown> }
export type MCPLog = {
  level: "debug" | "info" | "warning" | "error"
  message: string
  /** The source: the server in the protocol, its stderr, or the client about the server. */
  source: "server" | "stderr" | "client"
  data?: unknown
}

export type MCPHooks = {
  /** The bearer token for a server over http that has none in its own settings. Undefined: a stored login is used. */
  onAuth?: (server: AskingServer) => Promise<AuthToken | undefined>
  /** The server refused the token, or it ended. The request is repeated once with the new one. */
  onAuthRefresh?: (expired: AuthToken, server: AskingServer) => Promise<AuthToken | undefined>
  onRequest?: (request: MCPRequest) => MCPRequest | Promise<MCPRequest>
  onResponse?: (response: MCPResponse) => MCPResponse | Promise<MCPResponse>
  onLog?: (log: MCPLog) => void
  /** Whether to ask for the page behind the cursor. */
  onPaginate?: (cursor: string) => Promise<boolean>
}
