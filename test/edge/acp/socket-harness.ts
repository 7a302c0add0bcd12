// Clients of the WebSocket at /acp: the SDK's client over its own transport, and handshakes as raw bytes.
import { readFileSync } from "node:fs"
import {
  type AnyMessage,
  client,
  methods,
  type RequestPermissionRequest,
  type SessionUpdate,
  type Stream,
} from "@agentclientprotocol/sdk"
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client"
import type { serving } from "../../fixture/cli.ts"
import { choose, on, textOf } from "./harness.ts"
import { checkExchange } from "./schema.ts"

type Server = Pick<Awaited<ReturnType<typeof serving>>, "url" | "tokenFile">
type Init = { headers?: Record<string, string> }

/** Node's WebSocket takes headers in its second argument; the SDK passes them in the third. */
class HeaderSocket extends WebSocket {
  constructor(url: string, _: unknown, { headers = {} }: Init = {}) {
    super(url, { headers } as never)
  }
}

export function tokenOf({ tokenFile }: Server): string {
  return readFileSync(tokenFile, "utf8").trim()
}

export function socketUrl({ url }: Pick<Server, "url">): string {
  return `${url.replace(/^http/, "ws")}/acp`
}

export async function socketClient(server: Server, { permit = choose("allow_once") } = {}) {
  const updates: { sessionId: string; update: SessionUpdate }[] = []
  const permissions: RequestPermissionRequest[] = []
  const lines = { fromAgent: [] as string[], fromClient: [] as string[] }
  const headers = { authorization: `Bearer ${tokenOf(server)}` }
  const transport = createWebSocketStream(socketUrl(server), { WebSocket: HeaderSocket as never, headers })
  const connection = client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      permissions.push(params)
      return permit(params)
    })
    .connect(recorded(transport, lines))
  const { agent } = connection
  const initialized = await agent.request(on.initialize, { protocolVersion: 1, clientCapabilities: {} })
  return {
    agent,
    initialized,
    updates,
    permissions,
    text: () => textOf(updates.map(({ update }) => update)),
    open: (cwd: string) => agent.request(on.session.new, { cwd, mcpServers: [] }),
    prompt: (sessionId: string, words: string) =>
      agent.request(on.session.prompt, { sessionId, prompt: [{ type: "text", text: words }] }),
    closed: connection.closed,
    close: () => connection.close(),
    [Symbol.asyncDispose]: async () => {
      connection.close()
      checkExchange(lines)
    },
  }
}

function recorded(stream: Stream, lines: { fromAgent: string[]; fromClient: string[] }): Stream {
  const note = (into: string[]) =>
    new TransformStream<AnyMessage, AnyMessage>({
      transform(message, controller) {
        into.push(JSON.stringify(message))
        controller.enqueue(message)
      },
    })
  const sent = note(lines.fromClient)
  void sent.readable.pipeTo(stream.writable).catch(() => {})
  return { readable: stream.readable.pipeThrough(note(lines.fromAgent)), writable: sent.writable }
}

/** The first lines of a request for a WebSocket. */
export function handshake(port: number, headers: Record<string, string>, path = "/acp"): string {
  const all = {
    Host: `127.0.0.1:${port}`,
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`
}
