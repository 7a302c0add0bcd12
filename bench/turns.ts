// `vitamin run` against the bare loop of floor.mjs, with the same conversation and the same loopback model, interleaved:
// start, one answer, twenty turns that read a file, that edit one, that do both and run a command, a thousand that read,
// and the memory of it all.
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { environmentFor } from "./environment.ts"
import { median, quantile, report } from "./measure.ts"
import type { Notes, Order } from "./model.ts"

type Sample = { wall: number; start: number; gaps: number[]; rss: number; bytes: number }

const rounds = Number(process.env.ROUNDS ?? 7)
const command = new URL("../dist/vitamin.js", import.meta.url).pathname
const floorFile = new URL("./floor.mjs", import.meta.url).pathname
const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
const folder = join(root, "repo")
mkdirSync(folder)
layFiles()
const model = fork(new URL("./model.ts", import.meta.url).pathname)
const [{ port }] = (await once(model, "message")) as [{ port: number }]
const base = `http://127.0.0.1:${port}/v1`
const env = {
  ...environmentFor(root, base),
  VITAMIN_CONFIG: "",
}
const ours = (...more: string[]) => [command, "run", "--yes", ...more, "go"]
const bare = [floorFile, base, "go"]

try {
  await sample(ours(), { turns: 1, deltas: 1 })
  await compare("one answer", { turns: 0, deltas: 1 }, { wall: 2.3, start: 2.3 })
  await compare("20 read turns", { turns: 20, deltas: 1 }, { wall: 2, turn: 2 })
  const mixed: Order["tools"] = ["read", "edit", "bash"]
  env.VITAMIN_CONFIG = '{ "snapshot": false }'
  await compare("20 mixed turns, no snapshots", { turns: 20, deltas: 1, tools: mixed }, { wall: 2, turn: 2 })
  env.VITAMIN_CONFIG = ""
  await compare("20 mixed turns", { turns: 20, deltas: 1, tools: mixed }, { wall: 2.5 })
  await compare("20 edit turns", { turns: 20, deltas: 1, tools: ["edit"] }, { wall: 2.5 })
  await long(1_000)
} finally {
  model.kill()
  rmSync(root, { recursive: true, force: true })
}

async function compare(
  name: string,
  order: Omit<Order, "folder">,
  goals: { wall: number; start?: number; turn?: number },
) {
  const floor: Sample[] = []
  const mine: Sample[] = []
  for (let i = 0; i < rounds; i++) {
    floor.push(await sample(bare, order))
    mine.push(await sample(ours(), order))
  }
  const of = (samples: Sample[], pick: (sample: Sample) => number) => median(samples.map(pick))
  if (goals.start)
    report(
      `${name}: start to first request`,
      of(mine, (s) => s.start),
      of(floor, (s) => s.start),
      "ms",
      goals.start,
    )
  report(
    `${name}: whole run`,
    of(mine, (s) => s.wall),
    of(floor, (s) => s.wall),
    "ms",
    goals.wall,
  )
  report(
    `${name}: peak memory`,
    of(mine, (s) => s.rss),
    of(floor, (s) => s.rss),
    "MB",
  )
  console.log(`${name}: first request ${mine[0]!.bytes} bytes`)
  if (!goals.turn) return
  const gaps = (samples: Sample[]) => samples.flatMap((s) => s.gaps)
  report(`${name}: own time per turn`, median(gaps(mine)), median(gaps(floor)), "ms", goals.turn)
  report(`${name}: own time per turn, p95`, quantile(gaps(mine), 0.95), quantile(gaps(floor), 0.95), "ms")
}

async function long(turns: number) {
  const { gaps, rss } = await sample(ours("--max-steps", String(turns + 10)), { turns, deltas: 1 })
  const floor = await sample(bare, { turns, deltas: 1 })
  const late = (all: number[]) => median(all.slice(-50))
  const early = (all: number[]) => median(all.slice(5, 55))
  report(`${turns} turns: own time at the end (floor: the bare loop)`, late(gaps), late(floor.gaps), "ms")
  report(`${turns} turns: own time at the end (floor: turn 10)`, late(gaps), early(gaps), "ms", 1.3)
  report(`${turns} turns: peak memory`, rss, floor.rss, "MB")
}

async function sample(args: string[], order: Omit<Order, "folder">): Promise<Sample> {
  if (order.tools) layFiles()
  await tell(model, { ...order, folder })
  const started = performance.timeOrigin + performance.now()
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] })
  let errors = ""
  child.stderr.on("data", (text) => {
    errors += text
  })
  let rss = 0
  const look = setInterval(() => {
    rss = Math.max(rss, peakOf(child))
  }, 5)
  const [code] = await once(child, "exit")
  clearInterval(look)
  const wall = performance.timeOrigin + performance.now() - started
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${errors}`)
  const notes = (await tell(model, "notes")) as Notes
  return { wall, start: notes.first - started, gaps: notes.gaps, rss, bytes: notes.bytes[0]! }
}

/** As they are before anything was edited. */
function layFiles(): void {
  for (let i = 0; i < 200; i++)
    writeFileSync(
      join(folder, `f${String(i).padStart(3, "0")}.txt`),
      `first line\n${`file ${i}: the quick brown fox\n`.repeat(20)}`,
    )
}

async function tell(child: ChildProcess, message: Order | "notes"): Promise<unknown> {
  child.send(message)
  return (await once(child, "message"))[0]
}

function peakOf({ pid }: ChildProcess): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
