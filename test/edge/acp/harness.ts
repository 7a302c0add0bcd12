// Starts the built command `vitamin acp` in its own process, with the SDK's client at the other end. Every message of
// the command is checked against the protocol's schema.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { PassThrough, Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import {
  type ClientCapabilities,
  type ContentBlock,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  type McpServer,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk"
import { env, type FakeLlm } from "../../fixture/fake-llm.ts"
import { noServers } from "../../fixture/no-servers.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { assertIs } from "./schema.ts"

export const command = fileURLToPath(new URL("../../../dist/vitamin.js", import.meta.url))
export const on = methods.agent

export type Kind<K extends SessionUpdate["sessionUpdate"]> = Extract<SessionUpdate, { sessionUpdate: K }>
type Permit = (
  request: RequestPermissionRequest,
) => RequestPermissionResponse | Promise<RequestPermissionResponse>
type Elicit = (request: CreateElicitationRequest) => CreateElicitationResponse
export type Options = {
  llm?: FakeLlm
  args?: string[]
  env?: Record<string, string>
  capabilities?: ClientCapabilities
  permit?: Permit
  elicit?: Elicit
}
type Message = { id?: unknown; method?: string; params?: unknown; result?: unknown; error?: unknown }

/** Replies to a permission request with the option of the given kind. */
export function choose(kind: string): Permit {
  return ({ options }) => {
    const option = options.find((one) => one.kind === kind)
    assert.ok(option, `there is no option ${kind}`)
    return { outcome: { outcome: "selected", optionId: option.optionId } }
  }
}

/** Starts the process with a client that has sent nothing yet. */
export function startAcp(tmp: Tmp, options: Options = {}) {
  const { llm, args = [], permit = choose("reject_once"), elicit } = options
  const child = spawn(process.execPath, [command, "acp", ...args], {
    cwd: tmp.path,
    env: { ...tmp.env, ...noServers, ...(llm ? env(llm, "chat").variables : {}), ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  })
  let errors = ""
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    errors = (errors + part).slice(-50_000)
  })
  const codeOf = ([code, signal]: unknown[]) => (code ?? signal) as number | string
  const exit = once(child, "close").then(codeOf)
  const left = once(child, "exit").then(codeOf)
  const [received, said] = [listen(child.stdout), new PassThrough()]
  said.pipe(child.stdin)
  child.stdin.on("error", () => {})
  const sent = listen(said)
  const updates: { sessionId: string; update: SessionUpdate }[] = []
  const permissions: RequestPermissionRequest[] = []
  const elicitations: CreateElicitationRequest[] = []
  const connection = client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      permissions.push(params)
      return permit(params)
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => {
      elicitations.push(params)
      return elicit ? elicit(params) : { action: "decline" as const }
    })
    .connect(ndJsonStream(Writable.toWeb(said), Readable.toWeb(received.copy) as ReadableStream<Uint8Array>))
  return {
    pid: child.pid!,
    agent: connection.agent,
    errors: () => errors,
    /** Resolves with the exit code when the output is read to its end. */
    exit,
    /** Resolves when the process has exited, even if output is unread. */
    left,
    updates,
    permissions,
    elicitations,
    /** The lines of stdout so far. */
    lines: received.lines,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    stdin: child.stdin,
    stdout: child.stdout,
    /** Writes raw text to stdin, bypassing the client. */
    write: (text: string | Buffer) => void said.write(text),
    line: (pattern: RegExp) => found(received.lines, pattern, () => errors),
    of<K extends SessionUpdate["sessionUpdate"]>(kind: K): Kind<K>[] {
      return updates.flatMap(({ update }) => (update.sessionUpdate === kind ? [update as Kind<K>] : []))
    },
    /** The model's text as reported by updates. */
    text: () => textOf(updates.map(({ update }) => update)),
    [Symbol.asyncDispose]: async () => {
      const hung = setTimeout(() => child.kill("SIGKILL"), 30_000)
      child.stdin.end()
      await exit
      clearTimeout(hung)
      connection.close()
      said.destroy()
      checkMessages(received.lines, sent.lines)
    },
  }
}
export type Acp = ReturnType<typeof startAcp>

/** A process and a client after `initialize`. */
export async function connected(tmp: Tmp, options: Options = {}) {
  const acp = startAcp(tmp, options)
  const { capabilities: clientCapabilities = {} } = options
  const initialized = await acp.agent.request(on.initialize, { protocolVersion: 1, clientCapabilities })
  return Object.assign(acp, { initialized })
}

/** A connected client with a new session. */
export async function withSession(tmp: Tmp, options: Options & { mcpServers?: McpServer[] } = {}) {
  const acp = await connected(tmp, options)
  const { mcpServers = [] } = options
  const opened = await acp.agent.request(on.session.new, { cwd: tmp.path, mcpServers })
  const { sessionId } = opened
  const prompt = (...blocks: (string | ContentBlock)[]) =>
    acp.agent.request(on.session.prompt, {
      sessionId,
      prompt: blocks.map(
        (block): ContentBlock => (typeof block === "string" ? { type: "text", text: block } : block),
      ),
    })
  return Object.assign(acp, { opened, sessionId, prompt })
}

export function textOf(updates: SessionUpdate[], kind = "agent_message_chunk"): string {
  return updates
    .flatMap((update) =>
      update.sessionUpdate === kind && "content" in update
        ? [(update as Kind<"agent_message_chunk">).content]
        : [],
    )
    .map((content) => (content.type === "text" ? content.text : ""))
    .join("")
}

const results: Record<string, string> = {
  initialize: "InitializeResponse",
  authenticate: "AuthenticateResponse",
  "session/new": "NewSessionResponse",
  "session/load": "LoadSessionResponse",
  "session/resume": "ResumeSessionResponse",
  "session/list": "ListSessionsResponse",
  "session/close": "CloseSessionResponse",
  "session/delete": "DeleteSessionResponse",
  "session/set_mode": "SetSessionModeResponse",
  "session/set_config_option": "SetSessionConfigOptionResponse",
  "session/prompt": "PromptResponse",
}
const requests: Record<string, string> = {
  "session/update": "SessionNotification",
  "session/request_permission": "RequestPermissionRequest",
  "$/cancel_request": "CancelRequestNotification",
}

/** Checks that every line on stdout is a message of the protocol. */
export function checkMessages(lines: string[], sent: string[]): void {
  const methodOf = new Map<unknown, string>()
  for (const line of sent) {
    const { id, method } = parsed(line) ?? {}
    if (id !== undefined && method) methodOf.set(id, method)
  }
  for (const line of lines) {
    const message = parsed(line)
    assert.ok(message, `not a message: ${line.slice(0, 200)}`)
    const { id, method, params, result, error } = message
    // Its schema uses "not", which only the client checks.
    if (method === "elicitation/create") continue
    if (method) assertIs(requests[method] ?? `nothing for ${method}`, params)
    else if (error !== undefined) assertIs("Error", error)
    else assertIs(results[methodOf.get(id) ?? ""] ?? `nothing for request ${id}`, result)
  }
}

function parsed(line: string): Message | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

async function found(lines: string[], pattern: RegExp, errors: () => string): Promise<string> {
  let line: string | undefined
  await until(() => {
    line = lines.find((one) => pattern.test(one))
    return line !== undefined
  }, `a line ${pattern}: ${errors()}`)
  return line!
}

/** The lines of a stream, and a copy of the stream for its reader. */
function listen(stream: Readable): { lines: string[]; copy: Readable } {
  const copy = new PassThrough()
  const lines: string[] = []
  let rest = ""
  stream.on("data", (part: Buffer) => {
    copy.write(part)
    const parts = (rest + part.toString("utf8")).split("\n")
    rest = parts.pop()!
    lines.push(...parts.filter(Boolean))
  })
  stream.on("end", () => copy.end())
  return { lines, copy }
}
