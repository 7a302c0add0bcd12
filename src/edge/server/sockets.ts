// WebSockets at /acp: each is a connection of the Agent Client Protocol, behind the same checks as every request.
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import type { WebSocketServer } from "ws"
import type { Serving } from "#edge/acp/acp-agent.ts"
import { forbidden, Refusal, unknownPath } from "#edge/server/http/refusal.ts"
import { writeRefusal } from "#edge/server/http/wire.ts"
import type { Audit } from "#edge/server/people/audit.ts"
import { auditSocket } from "#edge/server/people/audit-socket.ts"
import type { Presence } from "#edge/server/people/presence.ts"
import * as Person from "#kernel/person.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import type { Guard } from "./guard.ts"

const path = "/acp"
const needed = "member"

export function createSockets(
  serving: Serving,
  { check, presence, audit }: { check: Guard; presence: Presence; audit: Audit },
) {
  const stopping = new AbortController()
  const open = new Set<Promise<void>>()
  let server: WebSocketServer | undefined

  /** The listener for `upgrade` of the HTTP server. */
  function upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Without a listener an error would end the process.
    socket.on("error", () => socket.destroy())
    void admit(incoming)
      .then((person) => accept(incoming, socket, { head, person }))
      .catch((error) => {
        if (error instanceof Refusal) return writeRefusal(socket, error)
        Log.warn("a WebSocket could not be served", { error: errorText(error) })
        socket.destroy()
      })
  }

  async function admit(incoming: IncomingMessage): Promise<Person.Person | undefined> {
    const asked = URL.parse(incoming.url ?? "", "http://localhost")?.pathname ?? ""
    const header = (name: string) => joined(incoming.headers[name])
    const { person } = (await check({ method: "GET", path: asked, header, incoming })) ?? {}
    if (asked !== path) throw unknownPath(asked)
    if (person && !Person.includes(person.role, needed)) throw forbidden(needed, person.role)
    return person
  }

  async function accept(
    incoming: IncomingMessage,
    socket: Duplex,
    { head, person }: { head: Buffer; person: Person.Person | undefined },
  ): Promise<void> {
    const { maxFrame, serveSocket } = await import("#edge/acp/serve-socket.ts")
    const { WebSocketServer } = await import("ws")
    server ??= new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: maxFrame,
    })
    server.handleUpgrade(incoming, socket, head, (webSocket) => {
      if (person)
        socket.once(
          "close",
          presence.watch(person, () => webSocket.terminate()),
        )
      const tapped = auditSocket(webSocket, { person, audit })
      // Everything that the connection does, it does for this person.
      const served = Person.run(person, () => serveSocket(serving, tapped, { signal: stopping.signal }))
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
