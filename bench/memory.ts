// Resident memory of a server process, bundled as it is installed: idle, after 10 000 and 100 000 events of about 300
// bytes, and what a client costs that connects and never reads.
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "tsdown"
import type { Publish, Ready } from "./sse-server.ts"

const size = 150
const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
const server = await start()
const { port, token } = (await answer(server)) as Ready
await new Promise((resolve) => setTimeout(resolve, 1000))
report("idle", await rss(), 90)
await publish({ events: 10_000, size })
report("10 000 events", await rss(), 120)
await publish({ events: 90_000, size })
report("100 000 events", await rss(), 130)
await publish({ events: 100_000, size })
const before = await rss()
const socket = connect(port, "127.0.0.1")
socket.on("error", () => {})
socket.write(`GET /event HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`)
socket.pause()
await publish({ events: 100_000, size })
report("a client that never reads", Math.max(0, (await rss()) - before), 20)
socket.destroy()
server.kill()
await once(server, "exit")
rmSync(root, { recursive: true, force: true })

async function start(): Promise<ChildProcess> {
  const outDir = join(root, "dist")
  await build({
    entry: [join(import.meta.dirname, "sse-server.ts")],
    outDir,
    config: false,
    dts: false,
    logLevel: "silent",
    deps: { alwaysBundle: /./, onlyBundle: false },
  })
  const env = { ...process.env, XDG_STATE_HOME: join(root, "state"), XDG_DATA_HOME: join(root, "data") }
  return fork(join(outDir, "sse-server.mjs"), ["ours", root], { env })
}

function report(what: string, megabytes: number, goal: number) {
  console.log(`memory: ${what}: ${megabytes.toFixed(1)} MB (goal ${goal})`)
  if (megabytes > goal) process.exitCode = 1
}

async function publish(order: Publish) {
  server.send(order)
  await answer(server)
}

async function rss(): Promise<number> {
  server.send("rss")
  return Number(await answer(server)) / 1e6
}

async function answer(child: ChildProcess): Promise<unknown> {
  return (await once(child, "message"))[0]
}
