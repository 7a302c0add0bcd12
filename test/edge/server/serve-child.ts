// A server in a process of its own, for tests and benchmarks that kill or measure it. It publishes events on request.
import { createServer } from "#edge/server/server.ts"
import * as Storage from "#kernel/storage/storage.ts"
import "../../fixture/use-backend.ts"
import { publish, range } from "./harness.ts"

const directory = process.argv[2] ?? process.cwd()
const server = await createServer({ port: 0, directory, config: () => ({}), version: "0" })
process.send?.({ url: server.url, port: server.port, tokenFile: server.tokenFile })

process.on(
  "message",
  async (message: { from: number; to: number; size?: number; step?: number } | "rss" | "stop") => {
    if (message === "stop") {
      await server.stop()
      await Storage.close()
      process.disconnect()
    } else if (message === "rss") process.send?.({ rss: process.memoryUsage.rss() })
    else {
      const { from, to, size = 200, step = 50 } = message
      for (let n = from; n < to; n += step) {
        await publish(directory, range(n, Math.min(n + step, to)), "x".repeat(size))
        await new Promise((resolve) => setImmediate(resolve))
      }
      process.send?.({ published: to })
    }
  },
)
