// The way to the proxy for a program of Node: it forwards the port that its own programs know to the socket of the proxy. It
// saves the process that the launcher would start for it.
import { connect, createServer, type Socket } from "node:net"
import { useProxy } from "#kernel/process/guest.ts"
import { forNode, gateFolder, proxyPort } from "./launcher.ts"

/** In a network of its own this process needs no address: loopback is all there is. With one, Node would look it up, which
 * takes 5 ms, and a program that starts meanwhile would not find the way. */
const host = process.platform === "linux" ? {} : { host: "127.0.0.1" }

export function openBridge(): void {
  // Not at the start of this process: see `useProxy`.
  process.env[forNode] = "1"
  const { fetch } = globalThis
  globalThis.fetch = (...request) => {
    useProxy()
    globalThis.fetch = fetch
    return fetch(...request)
  }
  const server = createServer({ allowHalfOpen: true }, (from) => {
    const to = connect({ path: `${gateFolder}/proxy`, allowHalfOpen: true })
    const end = () => {
      from.destroy()
      to.destroy()
    }
    for (const one of [from, to] as Socket[]) one.on("error", end).on("close", end)
    from.pipe(to).pipe(from)
  })
  // Without it nothing can be reached, which is safe.
  server.on("error", () => {})
  server.listen({ port: proxyPort, ...host }).unref()
}
