// `vitamin run` with telemetry against the same run without it, by turns: a thousand turns that read a file, whose traces,
// metrics and logs go to a loopback collector.
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { environmentFor } from "./environment.ts"
import { median, report } from "./measure.ts"
import type { Order } from "./model.ts"

type Sample = { wall: number; cpu: number; rss: number }

const rounds = Number(process.env.ROUNDS ?? 5)
const turns = Number(process.env.TURNS ?? 1_000)
const command = new URL("../dist/vitamin.js", import.meta.url).pathname
const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
const folder = join(root, "repo")
mkdirSync(folder)
for (let i = 0; i < 200; i++)
  writeFileSync(
    join(folder, `f${String(i).padStart(3, "0")}.txt`),
    `file ${i}: the quick brown fox\n`.repeat(20),
  )
const model = fork(new URL("./model.ts", import.meta.url).pathname)
const [{ port }] = (await once(model, "message")) as [{ port: number }]
const collector = fork(new URL("./otlp-collector.mjs", import.meta.url).pathname)
const [{ port: sink }] = (await once(collector, "message")) as [{ port: number }]
const cpuFile = join(root, "cpu")
const off = {
  ...environmentFor(root, `http://127.0.0.1:${port}/v1`),
  BENCH_CPU_FILE: cpuFile,
}
const on = { ...off, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${sink}` }

try {
  await sample(on, 20)
  const [mine, floor]: [Sample[], Sample[]] = [[], []]
  for (let i = 0; i < rounds; i++)
    for (const side of i % 2 ? [mine, floor] : [floor, mine])
      side.push(await sample(side === mine ? on : off, turns))
  const of = (samples: Sample[], pick: (sample: Sample) => number) => median(samples.map(pick))
  for (const [what, pick, unit] of [
    ["processor time", (s: Sample) => s.cpu, "ms"],
    ["whole run", (s: Sample) => s.wall, "ms"],
  ] as const)
    report(`${turns} turns with telemetry: ${what}`, of(mine, pick), of(floor, pick), unit, 1.1)
  const rss = (s: Sample) => s.rss
  report(`${turns} turns with telemetry: peak memory`, of(mine, rss), of(floor, rss), "MB")
  collector.send("count")
  const [{ count }] = (await once(collector, "message")) as [{ count: number }]
  console.log(`the collector took ${count} requests`)
} finally {
  model.kill()
  collector.kill()
  rmSync(root, { recursive: true, force: true })
}

async function sample(env: NodeJS.ProcessEnv, turns: number): Promise<Sample> {
  const order: Order = { turns, deltas: 1, folder }
  model.send(order)
  await once(model, "message")
  const preload = join(import.meta.dirname, "cpu-at-exit.mjs")
  const args = ["--import", preload, command, "run", "--yes", "--max-steps", String(turns + 10), "go"]
  const started = performance.now()
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] })
  let errors = ""
  child.stderr.on("data", (text) => {
    errors += text
  })
  let rss = 0
  const look = setInterval(() => {
    rss = Math.max(rss, peakOf(child))
  }, 20)
  const [code] = await once(child, "exit")
  clearInterval(look)
  if (code !== 0) throw new Error(`vitamin run ended with ${code}: ${errors}`)
  return { wall: performance.now() - started, cpu: Number(readFileSync(cpuFile, "utf8")), rss }
}

function peakOf({ pid }: ChildProcess): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
