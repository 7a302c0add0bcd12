// A gate between a terminal and a server: a test can hold requests or answers back, and the stream of events.
import { once } from "node:events"
import { createServer, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export async function openGate(target: string) {
  const held: (() => void)[] = []
  const streams = new Set<ServerResponse>()
  let rule: { path: RegExp; part: "request" | "answer" } | undefined
  let areEventsCut = false
  let areEventsHeld = false
  const server = createServer((incoming, outgoing) => {
    const { method, url } = incoming
    const isEvents = url!.startsWith("/event")
    if (isEvents && areEventsCut) return void outgoing.destroy()
    const isHeld = (part: "request" | "answer") =>
      (method === "POST" || isEvents) && rule?.part === part && rule.path.test(url!)
    const headers = { ...incoming.headers, host: new URL(target).host }
    const forward = () => {
      const far = request(target + url, { method, headers }, (answer) => {
        const pass = () => {
          outgoing.writeHead(answer.statusCode!, answer.headers)
          if (!isEvents) return void answer.pipe(outgoing)
          streams.add(outgoing)
          outgoing.on("close", () => streams.delete(outgoing))
          answer.on("data", (bytes) =>
            areEventsHeld ? held.push(() => outgoing.write(bytes)) : outgoing.write(bytes),
          )
          answer.on("close", () => outgoing.destroy())
        }
        if (isHeld("answer")) held.push(pass)
        else pass()
      })
      far.on("error", () => outgoing.destroy())
      outgoing.on("close", () => far.destroy())
      incoming.pipe(far)
    }
    if (isHeld("request")) held.push(forward)
    else forward()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held,
    /** Holds this part of POST requests to such a path, or of the request for events, until `release`. */
    hold(part: "request" | "answer", path: RegExp) {
      rule = { part, path }
    },
    holdEvents() {
      areEventsHeld = true
    },
    release() {
      rule = undefined
      areEventsHeld = false
      for (const go of held.splice(0)) go()
    },
    cutEvents() {
      areEventsCut = true
      for (const stream of streams) stream.destroy()
    },
    restoreEvents() {
      areEventsCut = false
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
