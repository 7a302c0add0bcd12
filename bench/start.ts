// How long the installed command takes to answer, against a bare `node -e 0`, interleaved.
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { get } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { median, report } from "./measure.ts"

const rounds = 15
const command = new URL("../dist/vitamin.js", import.meta.url).pathname
const home = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
const env = {
  ...process.env,
  HOME: home,
  XDG_CACHE_HOME: "",
  XDG_DATA_HOME: "",
  XDG_CONFIG_HOME: "",
  XDG_STATE_HOME: "",
}

const times: Record<"floor" | "version" | "help" | "config" | "health", number[]> = {
  floor: [],
  version: [],
  help: [],
  config: [],
  health: [],
}
await health()
once([command, "config", "show"])
for (let i = 0; i < rounds; i++) {
  times.floor.push(once(["-e", "0"]))
  times.version.push(once([command, "--version"]))
  times.help.push(once([command, "--help"]))
  times.config.push(once([command, "config", "show"]))
  times.health.push(await health())
}
const floor = median(times.floor)
report("vitamin --version (floor: node -e 0)", median(times.version), floor, "ms", 1.5)
report("vitamin --help", median(times.help), floor, "ms")
report("vitamin config show", median(times.config), floor, "ms")
report("vitamin serve until /health answers", median(times.health), floor, "ms", 6)
rmSync(home, { recursive: true, force: true })

function once(args: string[]): number {
  const start = performance.now()
  spawnSync(process.execPath, args, { cwd: home, env })
  return performance.now() - start
}

/** From the start of the process to the answer. The port is known in advance, so that nothing waits for the ready line. */
async function health(): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 20_000)
  const start = performance.now()
  const server = spawn(process.execPath, [command, "serve", "--port", String(port)], {
    cwd: home,
    env,
    stdio: "ignore",
  })
  while (!(await answers(port))) {
    // Somebody else has the port.
    if (server.exitCode !== null) return health()
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  const time = performance.now() - start
  server.kill("SIGTERM")
  await new Promise((resolve) => server.once("exit", resolve))
  return time
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ port, path: "/health", agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    }).on("error", () => resolve(false))
  })
}
