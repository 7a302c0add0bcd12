// The way to the proxy for a program of Node: it forwards the port that its own programs know to the socket of the proxy. It
// saves the process that the launcher would start for it.
import { connect, createServer, type Socket } from "node:net"
import { gateFolder, proxyPort } from "./launcher.ts"

export function openBridge(): void {
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
  server.listen(proxyPort, "127.0.0.1").unref()
}
