// Starts the built command `vitamin acp` in its own process, with the SDK's client at the other end. Every message of
// both sides is checked against the protocol's schema.
import assert from "node:assert/strict"
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
import type { Tmp } from "../../fixture/tmpdir.ts"
import { type ProcessOptions, startProcess } from "./acp-process.ts"
import type { Desk } from "./open-files.ts"
import type { Version } from "./schema.ts"

export const on = methods.agent

export type Kind<K extends SessionUpdate["sessionUpdate"]> = Extract<SessionUpdate, { sessionUpdate: K }>
type Permit = (
  request: RequestPermissionRequest,
) => RequestPermissionResponse | Promise<RequestPermissionResponse>
type Elicit = (request: CreateElicitationRequest) => CreateElicitationResponse
export type Options = ProcessOptions & {
  capabilities?: ClientCapabilities
  permit?: Permit
  elicit?: Elicit
  /** Open files and terminals of the client. */
  desk?: Desk
  /** Of the schema for the messages. */
  version?: Version
}

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
  const { permit = choose("reject_once"), elicit } = options
  const acp = startProcess(tmp, options, options.version)
  const updates: { sessionId: string; update: SessionUpdate }[] = []
  const permissions: RequestPermissionRequest[] = []
  const elicitations: CreateElicitationRequest[] = []
  const app = client({ name: "test" })
  const connection = (options.desk?.add(app) ?? app)
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      permissions.push(params)
      return permit(params)
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => {
      elicitations.push(params)
      return elicit ? elicit(params) : { action: "decline" as const }
    })
    .connect(ndJsonStream(acp.output, acp.input))
  return {
    ...acp,
    agent: connection.agent,
    updates,
    permissions,
    elicitations,
    of<K extends SessionUpdate["sessionUpdate"]>(kind: K): Kind<K>[] {
      return updates.flatMap(({ update }) => (update.sessionUpdate === kind ? [update as Kind<K>] : []))
    },
    /** The model's text as reported by updates. */
    text: () => textOf(updates.map(({ update }) => update)),
    [Symbol.asyncDispose]: () =>
      acp.end(() => {
        connection.close()
        options.desk?.close()
      }),
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
