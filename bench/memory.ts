// Resident memory of a server. Idle: the command as it is installed (`npm run bench` builds dist/ before). After 10 000
// and 100 000 events of about 300 bytes, and with a client that never reads: a bundle that publishes when it is told.
import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "tsdown"
import type { Publish, Ready } from "./sse-server.ts"

const size = 150
const command = new URL("../dist/vitamin.js", import.meta.url).pathname
const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
const children: ChildProcess[] = []
process.on("exit", cleanUp)
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1))

const folders = {
  data: "XDG_DATA_HOME",
  config: "XDG_CONFIG_HOME",
  cache: "XDG_CACHE_HOME",
  state: "XDG_STATE_HOME",
}
const homes = Object.entries(folders).map(([name, variable]) => [variable, join(root, name)])
const env = { ...process.env, HOME: root, ...Object.fromEntries(homes) }
const project = join(root, "project")
mkdirSync(project)

report("idle", await idle(), 90)
const server = await harness()
const { port, token } = (await answer(server)) as Ready
await publish({ events: 10_000, size })
report("10 000 events", rss(server), 120)
await publish({ events: 90_000, size })
report("100 000 events", rss(server), 130)
await publish({ events: 100_000, size })
const before = rss(server)
const socket = connect(port, "127.0.0.1")
socket.on("error", () => {})
socket.write(`GET /event HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`)
socket.pause()
await publish({ events: 100_000, size })
report("a client that never reads", Math.max(0, rss(server) - before), 20)
process.exit()

async function idle(): Promise<number> {
  const child = spawn(process.execPath, [command, "serve", "--port", "0"], {
    cwd: project,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  })
  children.push(child)
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${command} serve ended with ${code}`)
  })
  await Promise.race([once(child.stdout, "data"), ended])
  await Promise.race([new Promise((resolve) => setTimeout(resolve, 1000)), ended])
  ended.catch(() => {})
  const weight = rss(child)
  child.kill()
  return weight
}

async function harness(): Promise<ChildProcess> {
  const outDir = join(root, "dist")
  await build({
    entry: [join(import.meta.dirname, "sse-server.ts")],
    outDir,
    config: false,
    dts: false,
    logLevel: "silent",
    // As in script/build.ts: the other build of jsonc-parser cannot be bundled.
    deps: { alwaysBundle: [/^(?!node:)/], onlyBundle: false },
    inputOptions: { resolve: { mainFields: ["module", "main"] } },
  })
  const child = fork(join(outDir, "sse-server.mjs"), ["ours", project], { env })
  children.push(child)
  return child
}

function report(what: string, megabytes: number, goal: number) {
  console.log(`memory: ${what}: ${megabytes.toFixed(1)} MB (goal ${goal})`)
  if (megabytes > goal) process.exitCode = 1
}

async function publish(order: Publish) {
  server.send(order)
  await answer(server)
}

/** In megabytes, as the system sees it. */
function rss({ pid }: ChildProcess): number {
  const kilobytes =
    process.platform === "linux"
      ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
      : execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })
  return (Number(kilobytes) * 1024) / 1e6
}

/** What a child says next; an error when it ends instead. */
async function answer(child: ChildProcess): Promise<unknown> {
  const gone = new AbortController()
  const ended = once(child, "exit", { signal: gone.signal }).then(([code]) => {
    throw new Error(`the server ended with ${code}`)
  })
  try {
    return (await Promise.race([once(child, "message", { signal: gone.signal }), ended]))[0]
  } finally {
    ended.catch(() => {})
    gone.abort()
  }
}

function cleanUp() {
  for (const child of children) child.kill("SIGKILL")
  rmSync(root, { recursive: true, force: true, maxRetries: 5 })
}
