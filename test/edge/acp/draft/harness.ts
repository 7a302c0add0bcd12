// `vitamin acp --protocol 2` in its own process, with the SDK's client for version 2 at the other end.
import {
  type ContentBlock,
  client,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk/experimental/v2"
import type { Tmp } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { type ProcessOptions, startProcess } from "../acp-process.ts"

export const on = methods.agent
type Permit = (
  request: RequestPermissionRequest,
) => RequestPermissionResponse | Promise<RequestPermissionResponse>
export type Options = ProcessOptions & { permit?: Permit; capabilities?: object }
export type Kind<K extends string> = Extract<SessionUpdate, { sessionUpdate: K }>

export function choose(kind: string): Permit {
  return ({ options }) => {
    const { optionId } = options.find((option) => option.kind === kind)!
    return { outcome: { outcome: "selected", optionId } }
  }
}

export function startDraft(tmp: Tmp, options: Options = {}) {
  const { permit = choose("reject_once"), args = [] } = options
  const acp = startProcess(tmp, { ...options, args: ["--protocol", "2", ...args] }, 2)
  const updates: { sessionId: string; update: SessionUpdate }[] = []
  const permissions: RequestPermissionRequest[] = []
  const connection = client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      permissions.push(params)
      return permit(params)
    })
    .connect(ndJsonStream(acp.output, acp.input))
  return {
    ...acp,
    agent: connection.agent,
    updates,
    permissions,
    of: <K extends SessionUpdate["sessionUpdate"]>(kind: K) =>
      updates.flatMap(({ update }) => (update.sessionUpdate === kind ? [update as Kind<K>] : [])),
    [Symbol.asyncDispose]: () => acp.end(() => connection.close()),
  }
}

export async function connected(tmp: Tmp, options: Options = {}) {
  const acp = startDraft(tmp, options)
  const initialized = await acp.agent.request(on.initialize, {
    protocolVersion: 2,
    info: { name: "test", version: "1" },
    ...(options.capabilities ? { capabilities: options.capabilities } : {}),
  })
  return Object.assign(acp, { initialized })
}

export async function withSession(tmp: Tmp, options: Options = {}) {
  const acp = await connected(tmp, options)
  const opened = await acp.agent.request(on.session.new, { cwd: tmp.path })
  const { sessionId } = opened
  const send = (...blocks: (string | ContentBlock)[]) =>
    acp.agent.request(on.session.prompt, {
      sessionId,
      prompt: blocks.map(
        (one): ContentBlock => (typeof one === "string" ? { type: "text", text: one } : one),
      ),
    })
  const ends = () =>
    acp.of("state_update").filter((update) => update.state === "idle" && "stopReason" in update)
  /** Sends a prompt and waits for the end of its turn. */
  const prompt = async (...blocks: (string | ContentBlock)[]) => {
    const before = ends().length
    const { messageId } = await send(...blocks)
    await until(() => ends().length > before, "the turn ends")
    return { messageId, stopReason: (ends().at(-1) as { stopReason?: string }).stopReason }
  }
  return Object.assign(acp, { opened, sessionId, send, prompt, ends })
}
