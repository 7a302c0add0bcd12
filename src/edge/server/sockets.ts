// WebSockets at /acp: each is a connection of the Agent Client Protocol, behind the same checks as every request.
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import type { WebSocketServer } from "ws"
import type { Serving } from "#edge/acp/acp-agent.ts"
import { Refusal, unknownPath } from "#edge/server/http/refusal.ts"
import { writeRefusal } from "#edge/server/http/wire.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import type { Guard } from "./guard.ts"

const path = "/acp"

export function createSockets(serving: Serving, check: Guard) {
  const stopping = new AbortController()
  const open = new Set<Promise<void>>()
  let server: WebSocketServer | undefined

  /** The listener for `upgrade` of the HTTP server. */
  function upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Without a listener an error would end the process.
    socket.on("error", () => socket.destroy())
    try {
      const asked = URL.parse(incoming.url ?? "", "http://localhost")?.pathname ?? ""
      const header = (name: string) => joined(incoming.headers[name])
      check({ method: "GET", path: asked, header, incoming })
      if (asked !== path) throw unknownPath(asked)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      writeRefusal(socket, error)
      return
    }
    void accept(incoming, socket, head).catch((error) => {
      Log.warn("a WebSocket could not be served", { error: errorText(error) })
      socket.destroy()
    })
  }

  async function accept(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { maxFrame, serveSocket } = await import("#edge/acp/serve-socket.ts")
    const { WebSocketServer } = await import("ws")
    server ??= new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: maxFrame,
    })
    server.handleUpgrade(incoming, socket, head, (webSocket) => {
      const served = serveSocket(serving, webSocket, { signal: stopping.signal })
      open.add(served)
      void served.finally(() => open.delete(served))
    })
  }

  /** Ends all connections, and waits until their work has stopped. */
  async function close(): Promise<void> {
    stopping.abort()
    await Promise.allSettled(open)
  }

  return Object.freeze({ path, upgrade, close })
}

function joined(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value
}
