// A line between a terminal and a server that a test can cut.
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** A line to a port of this machine that can be cut. */
export async function openLine(port: number) {
  const open = new Set<Socket>()
  const server = createServer((from) => {
    const to = connect(port, "127.0.0.1")
    // The server answers under its own address only.
    from.on("data", (bytes) => {
      const text = bytes
        .toString("latin1")
        .replace(new RegExp(`^host: 127.0.0.1:${own}`, "im"), `host: 127.0.0.1:${port}`)
      to.write(text, "latin1")
    })
    to.pipe(from)
    for (const socket of [from, to]) {
      open.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => {
        open.delete(socket)
        from.destroy()
        to.destroy()
      })
    }
  })
  const listen = async (own: number) => {
    server.listen(own, "127.0.0.1")
    await once(server, "listening")
    return (server.address() as AddressInfo).port
  }
  const own = await listen(0)
  const cut = async () => {
    const closed = once(server, "close")
    server.close()
    for (const socket of open) socket.destroy()
    await closed
  }
  return {
    url: `http://127.0.0.1:${own}`,
    cut,
    restore: async () => void (await listen(own)),
    [Symbol.asyncDispose]: async () => (server.listening ? await cut() : undefined),
  }
}
