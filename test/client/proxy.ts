// A TCP proxy in front of a server whose connections a test can cut.
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

export async function startProxy(target: number) {
  const sockets = new Set<Socket>()
  let bytes = 0
  let cutAt = Number.POSITIVE_INFINITY
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1")
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on("error", () => {})
      from.on("close", () => {
        sockets.delete(from)
        to.destroy()
      })
    }
    // The server answers only under its own Host.
    near.on("data", (part: Buffer) => {
      const text = part.toString("latin1").replace(/^host: .*$/im, `host: 127.0.0.1:${target}`)
      far.write(text, "latin1")
    })
    far.on("data", (part: Buffer) => {
      bytes += part.length
      if (bytes < cutAt) return void near.write(part)
      // The last bytes leave, so that a frame is cut in the middle.
      cutAt = Number.POSITIVE_INFINITY
      near.write(part.subarray(0, Math.floor(part.length / 2)), () => near.destroy())
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Cut the connection that passes this many more bytes, in the middle of a write. */
    cutAfter(more: number) {
      cutAt = bytes + more
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, "close")
    },
  }
}
