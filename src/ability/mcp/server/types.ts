// The types of MCP servers for the rest of vitamin and for embedding programs. None is a type of the protocol's SDK, so
// another version of the SDK changes nothing outside of this folder.
import type { Question as Elicitation, Reply as ElicitationReply } from "#ability/elicitation/elicitation.ts"
import type { Resolve } from "./check-target.ts"

export type { Elicitation, ElicitationReply }

export type MCPAuth = {
  type: "oauth" | "bearer" | "none"
  /** For oauth: the id of a registered client, or the https URL of its metadata document. */
  clientId?: string
  /** The bearer token; for oauth the secret of the registered client, if it has one. */
  token?: string
}

export type MCPServerConfig = {
  id: string
  name: string
  /** `sse` is the older transport over http, for servers that have no other. */
  transport: "http" | "sse" | "stdio"
  /** For http and sse. */
  url?: string
  headers?: Record<string, string>
  auth?: MCPAuth
  /** For stdio: the program and its arguments. */
  command?: string[]
  /** The program gets these variables, and basic ones such as PATH and HOME. */
  env?: Record<string, string>
  cwd?: string
  /** Milliseconds for one call, 60 000 by default. */
  timeout?: number
}

export type MCPClientConfig = {
  server: MCPServerConfig
  hooks?: MCPHooks
  /** Completions are on by default; logging and sampling, deprecated in the protocol, are off. A log level asks the
   * server to send no messages below it. Sampling needs `onSample`. */
  features?: { completions?: boolean; logging?: boolean | MCPLog["level"]; sampling?: boolean }
  /** Answers a question of the server to a person. Without it, every question is declined. */
  onElicit?: (request: Elicitation) => Promise<ElicitationReply>
  /** Answers a request of the server to a model. Needs `features.sampling`. */
  onSample?: (request: Record<string, unknown>) => Promise<MCPSample>
  /** Called when a list of the server has changed. */
  onChanged?: (what: "tools" | "resources" | "prompts") => void
  /** Called before each start of the server; throws if it must not start. */
  mayStart?: () => Promise<void>
  /** The folders that the server is told as its roots. */
  roots?: string[]
  /** Resolves host names, in place of the system. */
  resolve?: Resolve
}

export type MCPServerInfo = {
  name: string
  version: string
  /** The revision of the protocol that both sides speak ("2026-07-28"). */
  protocol: string
  capabilities: Record<string, unknown>
  instructions?: string
}

export type MCPState = "idle" | "connecting" | "connected" | "failed" | "closed"
export type MCPStatus = { state: MCPState; error?: string; info?: MCPServerInfo }

export type MCPTool = {
  name: string
  title?: string
  description?: string
  /** JSON Schema as the server sent it. Only its being an object is checked. */
  inputSchema: Record<string, unknown>
  outputSchema?: Record<string, unknown>
  annotations?: Record<string, unknown>
}

export type MCPResource = {
  uri: string
  name: string
  title?: string
  description?: string
  mimeType?: string
  size?: number
}

export type MCPResourceTemplate = Omit<MCPResource, "uri" | "size"> & { uriTemplate: string }

export type MCPPrompt = {
  name: string
  title?: string
  description?: string
  arguments?: { name: string; description?: string; required?: boolean }[]
}

/** One of `text` and `blob` (base64). */
export type MCPResourceContent = { uri: string; mimeType?: string; text?: string; blob?: string }

export type MCPContent =
  | { type: "text"; text: string }
  | { type: "image" | "audio"; data: string; mimeType: string }
  | { type: "resource"; resource: MCPResourceContent }
  | { type: "resource_link"; uri: string; name: string; description?: string; mimeType?: string }

export type MCPToolResult = { content: MCPContent[]; structuredContent?: unknown; isError: boolean }

export type MCPPromptContent = {
  description?: string
  messages: { role: "user" | "assistant"; content: MCPContent }[]
}

export type MCPProgress = { progress: number; total?: number; message?: string }

type MCPSample = {
  model: string
  role: "user" | "assistant"
  content: MCPContent
  stopReason?: string
}

export type MCPCallOptions = {
  signal?: AbortSignal
  /** Milliseconds, in place of the server's. */
  timeout?: number
  onProgress?: (progress: MCPProgress) => void
  /** The span of a tool call (W3C), for a server that records traces. */
  traceparent?: string
}

export type MCPListOptions = MCPCallOptions & {
  /** Called with the milliseconds for which the list is valid, if the server states them. */
  onTtl?: (ms: number) => void
}

type MCPCompletion = {
  of: { prompt: string } | { resourceTemplate: string }
  argument: { name: string; value: string }
  /** Arguments that are filled in already. */
  given?: Record<string, string>
}

export type MCPClient = {
  readonly server: MCPServerConfig
  /** Starts or reaches the server. The other calls do this by themselves, also after the server ended. */
  connect(options?: { signal?: AbortSignal }): Promise<MCPServerInfo>
  status(): MCPStatus
  listTools(options?: MCPListOptions): Promise<MCPTool[]>
  listResources(options?: MCPListOptions): Promise<MCPResource[]>
  listResourceTemplates(options?: MCPListOptions): Promise<MCPResourceTemplate[]>
  listPrompts(options?: MCPListOptions): Promise<MCPPrompt[]>
  callTool(name: string, args?: Record<string, unknown>, options?: MCPCallOptions): Promise<MCPToolResult>
  readResource(uri: string, options?: MCPCallOptions): Promise<MCPResourceContent[]>
  /** Yields the URI each time the resource changes, until the loop over it is left. */
  subscribe(uri: string): AsyncIterable<{ uri: string }>
  getPrompt(name: string, args?: Record<string, string>, options?: MCPCallOptions): Promise<MCPPromptContent>
  complete(request: MCPCompletion, options?: MCPCallOptions): Promise<string[]>
  /** Ends the server's processes. The client can not be used again. */
  close(): Promise<void>
}

export type AuthToken = {
  value: string
  /** When it expires, in milliseconds since 1970. After that it is refreshed. */
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

/** Hooks of an embedding program, which observe and change the traffic with a server. */
export type MCPHooks = {
  /** The bearer token for a server over http that has none in its own settings. Undefined: a stored login is used. */
  onAuth?: (server: AskingServer) => Promise<AuthToken | undefined>
  /** Called if the token was refused or has expired. The request is repeated once with the new token. */
  onAuthRefresh?: (expired: AuthToken, server: AskingServer) => Promise<AuthToken | undefined>
  onRequest?: (request: MCPRequest) => MCPRequest | Promise<MCPRequest>
  onResponse?: (response: MCPResponse) => MCPResponse | Promise<MCPResponse>
  onLog?: (log: MCPLog) => void
  /** Whether to request the next page of a list. */
  onPaginate?: (cursor: string) => Promise<boolean>
}
