// An HTTP proxy for programs that must not choose their own addresses, such as a browser or those in a sandbox: it
// resolves each name, checks the URL, and connects to exactly the address that was checked. A name that resolves
// differently a moment later gains nothing. With a proxy of the environment the address is not certain: that proxy gets
// the name, after it was checked here, and resolves it again. Private addresses are always reached directly.
import { once } from "node:events"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import type { Checked } from "./check-url.ts"

export type Proxy = Readonly<{ port: number; close(): Promise<void> }>
/** Throws `UrlDenied` for URLs that may not be reached. */
export type Check = (url: string) => Promise<Checked>

/** Loaded at the first request: most sandboxes never make one. */
const loadForward = () => import("./forward.ts")

/** On a port of loopback, or on a socket in the file system. */
export async function createProxy(check: Check, socketFile?: string): Promise<Proxy> {
  const sockets = new Set<Duplex>()
  const server = Http.createServer(
    async (request, response) => void (await loadForward()).forward(request, response, check),
  )
  server.on("connection", keep)
  server.on(
    "connect",
    async (request, socket, head) =>
      void (await loadForward()).tunnel({ request, socket, head, check, keep }),
  )
  // The proxy itself must not keep the program running.
  if (socketFile) server.listen(socketFile).unref()
  else server.listen(0, "127.0.0.1").unref()
  await once(server, "listening")

  function keep(socket: Duplex): void {
    sockets.add(socket)
    socket.on("error", () => {}).once("close", () => sockets.delete(socket))
  }

  async function close(): Promise<void> {
    const closed = once(server, "close")
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }

  const port = socketFile ? 0 : (server.address() as AddressInfo).port
  return Object.freeze({ port, close })
}
