// Which connections count. One that has shown the token is kept; the others share a fixed number of places, and the
// oldest of them leaves when a new one comes. Clients without the token can therefore never lock out the others.
import type { Server } from "node:http"
import type { Socket } from "node:net"

/** Node refuses new connections above this number, whoever they are from. */
const maxConnections = 4_000
const maxStrangers = 500

export type Connections = Readonly<{
  /** A request on this connection showed the token. */
  admit(socket: Socket): void
}>

export function createConnections(server: Server): Connections {
  /** In the order in which they came. */
  const strangers = new Set<Socket>()
  server.maxConnections = maxConnections
  server.on("connection", (socket: Socket) => {
    strangers.add(socket)
    socket.once("close", () => strangers.delete(socket))
    if (strangers.size <= maxStrangers) return
    const [oldest] = strangers
    oldest!.destroy()
    strangers.delete(oldest!)
  })
  return Object.freeze({ admit: (socket: Socket) => void strangers.delete(socket) })
}
