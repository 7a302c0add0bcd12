// Where a host can look into the traffic with an MCP server, and change it.

export type AuthToken = {
  value: string
  /** When it ends, in milliseconds since 1970. It is refreshed before. */
  expires?: number
}

/** A call on its way to the server ("tools/call"). */
type MCPRequest = { method: string; params: Record<string, unknown> }
type MCPResponse = { method: string; result: Record<string, unknown> }
export type MCPLog = {
  level: "debug" | "info" | "warning" | "error"
  message: string
  /** Who says it: the server in the protocol, the server's stderr, or the client about the server. */
  source: "server" | "stderr" | "client"
  data?: unknown
}

export type MCPHooks = {
  /** The bearer token for a server over http. */
  onAuth?: () => Promise<AuthToken>
  /** The server refused the token, or it ended. The request is repeated once with the new one. */
  onAuthRefresh?: (expired: AuthToken) => Promise<AuthToken>
  onRequest?: (request: MCPRequest) => MCPRequest | Promise<MCPRequest>
  onResponse?: (response: MCPResponse) => MCPResponse | Promise<MCPResponse>
  onLog?: (log: MCPLog) => void
  /** Whether to ask for the page behind the cursor. */
  onPaginate?: (cursor: string) => Promise<boolean>
}
