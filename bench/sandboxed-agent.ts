// `vitamin run --sandbox` beside `vitamin run`, interleaved, with the same loopback model: the time to the first request, and
// twenty turns that read files, edit them and run commands.
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { median } from "./measure.ts"
import type { Notes, Order } from "./model.ts"

const rounds = Number(process.env.ROUNDS ?? 7)
const goals = { start: 120, turns: 1.3 }
const command = new URL("../dist/vitamin.js", import.meta.url).pathname

export async function compareAgents(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
  const folder = join(root, "repo")
  mkdirSync(folder)
  const model = fork(new URL("./model.ts", import.meta.url).pathname)
  try {
    const [{ port }] = (await once(model, "message")) as [{ port: number }]
    const run = createRun({ root, folder, model, base: `http://127.0.0.1:${port}/v1` })
    await run({ turns: 1, deltas: 1 }, [])
    await run({ turns: 1, deltas: 1 }, ["--sandbox"])
    const one = await interleaved((more) => run({ turns: 0, deltas: 1 }, more))
    const more = median(one.inside.map(({ start }) => start)) - median(one.outside.map(({ start }) => start))
    show(
      "start to first request",
      one,
      ({ start }) => start,
      `+ ${more.toFixed(0)} ms  goal + ${goals.start} ms`,
      more <= goals.start,
    )
    const tools: Order["tools"] = ["read", "edit", "bash"]
    const many = await interleaved((more) => run({ turns: 20, deltas: 1, tools }, more))
    const ratio = median(many.inside.map(({ wall }) => wall)) / median(many.outside.map(({ wall }) => wall))
    show(
      "20 mixed turns, whole run",
      many,
      ({ wall }) => wall,
      `${ratio.toFixed(2)} x  goal ${goals.turns} x`,
      ratio <= goals.turns,
    )
    for (const step of ["start", "turns", "end"] as const) {
      const more = median(many.inside.map((one) => one[step])) - median(many.outside.map((one) => one[step]))
      console.log(`  of it the ${step.padEnd(15)} + ${more.toFixed(0)} ms`)
    }
  } finally {
    model.kill()
    rmSync(root, { recursive: true, force: true })
  }
}

/** `turns`: between an answer and the next request; `end`: after the last answer. */
type Sample = { wall: number; start: number; turns: number; end: number }
type Samples = Record<"inside" | "outside", Sample[]>

async function interleaved(run: (more: string[]) => Promise<Sample>): Promise<Samples> {
  const samples: Samples = { inside: [], outside: [] }
  for (let round = 0; round < rounds; round++) {
    samples.outside.push(await run([]))
    samples.inside.push(await run(["--sandbox"]))
  }
  return samples
}

function show(
  name: string,
  samples: Samples,
  pick: (sample: Sample) => number,
  result: string,
  isMet: boolean,
): void {
  const [inside, outside] = [samples.inside, samples.outside].map((all) => median(all.map(pick)).toFixed(0))
  console.log(`${name.padEnd(26)} ${inside} ms  floor ${outside} ms  ${result} ${isMet ? "met" : "MISSED"}`)
  if (!isMet) process.exitCode = 1
}

function createRun(options: { root: string; folder: string; model: ChildProcess; base: string }) {
  const { root, folder, model, base } = options
  const homes = Object.fromEntries(
    ["DATA", "CONFIG", "STATE", "CACHE"].map((name) => [`XDG_${name}_HOME`, ""]),
  )
  const own = { OPENAI_BASE_URL: base, OPENAI_API_KEY: "x", VITAMIN_MODEL: "openai/m", VITAMIN_CONFIG: "" }
  const env = { ...process.env, ...homes, ...own, HOME: join(root, "home") }
  return async (order: Omit<Order, "folder">, more: string[]): Promise<Sample> => {
    for (let i = 0; i < 200; i++) {
      const name = `f${String(i).padStart(3, "0")}.txt`
      writeFileSync(join(folder, name), `first line\n${`file ${i}: the quick brown fox\n`.repeat(20)}`)
    }
    await tell(model, { ...order, folder })
    const started = performance.timeOrigin + performance.now()
    const args = [command, "run", "--yes", ...more, "go"]
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] })
    let errors = ""
    child.stderr.on("data", (text) => {
      errors += text
    })
    const [code] = await once(child, "exit")
    const wall = performance.timeOrigin + performance.now() - started
    if (code !== 0) throw new Error(`vitamin ${args.slice(1).join(" ")} ended with ${code}: ${errors}`)
    const notes = (await tell(model, "notes")) as Notes
    const turns = notes.gaps.reduce((sum, gap) => sum + gap, 0)
    return { wall, start: notes.first - started, turns, end: started + wall - notes.last }
  }
}

async function tell(child: ChildProcess, message: Order | "notes"): Promise<unknown> {
  child.send(message)
  return (await once(child, "message"))[0]
}
