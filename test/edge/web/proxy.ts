// A proxy before the server, which can cut connections, refuse new ones, and put events of its own into streams.
import { once } from "node:events"
import { createServer, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export type Proxy = AsyncDisposable & {
  url: string
  /** Cuts every open event stream. */
  drop(): void
  /** Refuses requests until it is told otherwise. */
  refuse(isRefusing: boolean): void
  /** Passes nothing on, and ends nothing, until it is told otherwise. What came meanwhile is lost. */
  freeze(isFrozen: boolean): void
  /** Requests that came while it was frozen. */
  held(): number
  /** Sends text to every page that follows events. */
  inject(text: string): void
}

export async function startProxy(target: string): Promise<Proxy> {
  const { host, hostname, port } = new URL(target)
  const streams = new Set<ServerResponse>()
  let isRefusing = false
  let isFrozen = false
  let held = 0
  const server = createServer((incoming, outgoing) => {
    if (isRefusing) return void incoming.socket.destroy()
    if (isFrozen) return void held++
    const headers = { ...incoming.headers, host, ...(incoming.headers.origin ? { origin: target } : {}) }
    const { method, url } = incoming
    const passed = request({ hostname, port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      outgoing.flushHeaders()
      if (url!.startsWith("/event")) {
        streams.add(outgoing)
        outgoing.on("close", () => streams.delete(outgoing))
      }
      answer.on("error", () => outgoing.destroy())
      // A connection that was frozen stays dead.
      let isDead = false
      answer.on("data", (chunk) => {
        isDead ||= isFrozen
        if (!isDead) outgoing.write(chunk)
      })
      answer.on("end", () => isDead || outgoing.end())
    })
    outgoing.on("close", () => passed.destroy())
    passed.on("error", () => outgoing.destroy())
    incoming.pipe(passed)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    drop() {
      for (const stream of streams) stream.destroy()
    },
    refuse(value) {
      isRefusing = value
    },
    freeze(value) {
      isFrozen = value
    },
    held: () => held,
    inject(text) {
      for (const stream of streams) stream.write(text)
    },
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
