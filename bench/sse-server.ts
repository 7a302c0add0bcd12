// The servers that bench/sse.ts and bench/memory.ts measure, each in a process of its own: ours, or a bare Node server
// that writes every event to every client. Both publish the same payloads at the same pace when told to.
import { readFileSync } from "node:fs"
import { createServer as createHttpServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { z } from "zod"

export type Publish = { events: number; size: number }
export type Ready = { port: number; token: string }

const [kind = "ours", directory = process.cwd()] = process.argv.slice(2)
const batch = 50
let n = 0

const emit = kind === "bare" ? await startBare() : await startOurs()

process.on("disconnect", () => process.exit())
process.on("message", async (message: Publish) => {
  const text = "x".repeat(message.size)
  for (let i = 0; i < message.events; i += batch) {
    for (let j = i; j < Math.min(i + batch, message.events); j++) emit({ n: n++, text })
    await new Promise((resolve) => setImmediate(resolve))
  }
  process.send?.("published")
})

async function startOurs() {
  const [{ createServer }, { Instance }, Bus] = await Promise.all([
    import("#edge/server/server.ts"),
    import("#kernel/instance.ts"),
    import("#kernel/bus/bus.ts"),
  ])
  const Tick = Bus.define("bench.tick", z.object({ n: z.number(), text: z.string() }))
  const server = await createServer({ port: 0, directory, config: () => ({}), version: "0" })
  ready(server.port, readFileSync(server.tokenFile, "utf8").trim())
  return Instance.provide({
    directory,
    fn: () => {
      const { AsyncResource } = process.getBuiltinModule("node:async_hooks")
      return AsyncResource.bind((payload: { n: number; text: string }) => void Bus.publish(Tick, payload))
    },
  })
}

async function startBare() {
  const clients = new Set<ServerResponse>()
  const server = createHttpServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "x-vitamin-cursor": "0" })
    response.write("retry: 1000\n\n")
    clients.add(response)
    response.on("close", () => clients.delete(response))
  })
  server.listen(0, "127.0.0.1", () => ready((server.address() as AddressInfo).port, "none"))
  return (payload: { n: number; text: string }) => {
    const event = { id: payload.n + 1, type: "bench.tick", time: Date.now(), directory, payload }
    const frame = `id: ${event.id}\nevent: bench.tick\ndata: ${JSON.stringify(event)}\n\n`
    for (const client of clients) client.write(frame)
  }
}

function ready(port: number, token: string) {
  process.send?.({ port, token } satisfies Ready)
}
