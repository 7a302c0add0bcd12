// The interactive terminal on a real pseudo-terminal, against the bare program of terminal-floor.mjs, `vitamin run` and, with
// PEERS_DIR, peers, interleaved: until a key is accepted, memory, idle wake-ups, and a long answer into a long session.
//   node bench/terminal.ts [start memory idle stream]
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { loadavg } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import * as Storage from "#kernel/storage/storage.ts"
import { laySession } from "./lay-session.ts"
import { median, quantile, report } from "./measure.ts"
import type { Order } from "./model.ts"
import { openPty, type Pty } from "./pty.ts"
import { answerDeltas } from "./stream-answer.ts"
import { ours, type Program, peers } from "./terminal-peers.ts"

const rounds = Number(process.env.ROUNDS ?? 5)
const [deltas, over] = [5_000, 5_000]
/** Never the end of a control sequence that a program writes. */
const markers = "QWXYZVUO"
mkdirSync("node_modules/.bench", { recursive: true })
const root = join(process.cwd(), mkdtempSync(join("node_modules/.bench", "terminal-")))
const [folder, home, data] = [join(root, "repo"), join(root, "home"), join(root, "data")]
mkdirSync(folder)
for (let i = 0; i < 200; i++)
  writeFileSync(join(folder, `f${String(i).padStart(3, "0")}.txt`), `file ${i}\n`.repeat(20))
process.env.VITAMIN_DATA_DIR = data
process.env.HOME = home
for (const name of ["CONFIG", "STATE", "CACHE", "DATA"]) process.env[`XDG_${name}_HOME`] = ""

const model = fork(join(import.meta.dirname, "model.ts"))
const [{ port }] = (await once(model, "message")) as [{ port: number }]
const base = `http://127.0.0.1:${port}/v1`
const floor: Program = {
  name: "floor",
  args: [process.execPath, join(import.meta.dirname, "terminal-floor.mjs"), base],
  env: {},
  prompt: "> ",
}
const vitamin = ours(base)
const others = peers(base, home)
const chosen = process.argv.slice(2)
const parts = { start, memory, idle, stream }

try {
  console.log(`load ${loadavg()[0]!.toFixed(1)}`)
  for (const [name, part] of Object.entries(parts)) if (!chosen.length || chosen.includes(name)) await part()
} finally {
  model.kill()
  rmSync(root, { recursive: true, force: true })
}

/** Until a key that is typed when the prompt appears is visible. */
async function start() {
  const programs = [floor, vitamin, ...others]
  const all = programs.map((program) => ({ program, wall: [] as number[], processor: [] as number[] }))
  for (const program of programs) await (await open(program)).end()
  for (let i = 0; i < rounds * 3; i++)
    for (const { program, wall, processor } of all) {
      const pty = await open(program)
      const from = pty.length()
      pty.type("Z")
      wall.push(await pty.until((text) => text.includes("Z"), from))
      processor.push(pty.processor())
      await pty.end()
    }
  const quarter = (values: number[]) => quantile(values, 0.25)
  for (const { program, wall, processor } of all.slice(1)) {
    const goal = program === vitamin ? 2.3 : undefined
    report(`${program.name}: until a key is accepted`, quarter(wall), quarter(all[0]!.wall), "ms", goal)
    report(`${program.name}: processor time until then`, mean(processor), mean(all[0]!.processor), "ms")
  }
}

/** Twenty prompts, each with a call and an answer. */
async function memory() {
  await tell({ turns: 0, deltas: 1, folder, perPrompt: true })
  for (const program of [vitamin, ...others]) {
    const pty = await open(program)
    await quiet(pty)
    for (let i = 0; i < 20; i++) {
      const from = pty.length()
      await submit(pty, `go ${i}`)
      await pty.until((text) => text.includes("done"), from)
      await quiet(pty)
    }
    const { now, peak } = pty.memory()
    const goal = program === vitamin ? `  goal 110 MB ${now <= 110 ? "met" : "MISSED"}` : ""
    console.log(`${program.name}: after 20 prompts ${now.toFixed(0)} MB, peak ${peak.toFixed(0)} MB${goal}`)
    await pty.end()
  }
}

/** V8 releases memory for some seconds after the last work. */
async function idle() {
  for (const program of [floor, vitamin, ...others]) {
    const pty = await open(program)
    await setTimeout(20_000)
    const [before, processor] = [pty.switches(), pty.processor()]
    await setTimeout(10_000)
    const [switches, time] = [pty.switches() - before, pty.processor() - processor]
    const goal = program === vitamin ? `  goal 0 ${switches === 0 ? "met" : "MISSED"}` : ""
    console.log(`${program.name}: wake-ups of all threads in 10 idle seconds: ${switches}, ${time} ms${goal}`)
    await pty.end()
  }
}

type Streamed = { processor: number; bytes: number; keys: number[]; memory: number }

/** A long answer into a session of 5 000 messages. Only ours is laid on the disk: beside the peers, all answer in a new session. */
async function stream() {
  const text = answerDeltas(deltas).join("")
  const id = await laySession(folder, 1_250)
  await Storage.close()
  const session = ["--session", id]
  const long = { ...vitamin, args: [...vitamin.args, ...session], prompt: "/export writes all" }
  const run = { ...vitamin, args: [...vitamin.args, "run", ...session, "--yes", "go"], prompt: "the end" }
  const programs = [floor, long, vitamin, ...others]
  const all = programs.map((program) => ({ program, samples: [] as Streamed[] }))
  const printed: number[] = []
  await tell({ turns: 0, deltas: 1, folder })
  await (await open({ ...run, prompt: "done" })).ended
  cpSync(data, `${data}-before`, { recursive: true })
  for (let i = 0; i < rounds; i++) {
    restore()
    await tell({ turns: 0, deltas, folder, over })
    const pty = await open(run)
    await pty.ended
    printed.push(await pty.end())
    for (const { program, samples } of all) samples.push(await streamOnce(program))
  }
  const of = (samples: Streamed[], pick: (one: Streamed) => number) => median(samples.map(pick))
  const floorKeys = all[0]!.samples.flatMap(({ keys }) => keys)
  for (const { program, samples } of all) {
    const isOurs = program === long
    const name = isOurs ? "vitamin, 5 000 messages" : program.name
    const keys = samples.flatMap((one) => one.keys)
    report(
      `${name}: bytes (floor: the text)`,
      of(samples, (one) => one.bytes),
      text.length,
      "B",
      isOurs ? 6 : undefined,
    )
    report(
      `${name}: processor time (floor: vitamin run)`,
      of(samples, (one) => one.processor),
      median(printed),
      "ms",
      isOurs ? 1.5 : undefined,
    )
    const [half, most] = [median(keys), quantile(keys, 0.95)]
    report(`${name}: a key until it is visible`, half, median(floorKeys), "ms")
    report(`${name}: the same, p95`, most, quantile(floorKeys, 0.95), "ms")
    if (isOurs) console.log(`goal 16 ms, p95 33 ms ${half <= 16 && most <= 33 ? "met" : "MISSED"}`)
    console.log(`${name}: ${of(samples, (one) => one.memory).toFixed(0)} MB`)
  }
}

/** The answers of the runs before are not in the session. */
function restore(): void {
  rmSync(data, { recursive: true, force: true })
  cpSync(`${data}-before`, data, { recursive: true })
}

async function streamOnce(program: Program): Promise<Streamed> {
  restore()
  await tell({ turns: 0, deltas, folder, over })
  const pty = await open(program)
  await quiet(pty)
  const [from, before] = [pty.length(), pty.bytes()]
  await submit(pty, "go")
  await pty.until((text) => text.includes("word 100 "), from)
  const keys: number[] = []
  for (let i = 0; !pty.raw(from).includes("the end"); i++) {
    const marker = markers[i % markers.length]!
    const typed = performance.now()
    const at = pty.length()
    pty.type(marker)
    await pty.until((text) => text.includes(marker), at)
    keys.push(performance.now() - typed)
    pty.type("\u007f")
    await setTimeout(40 + (i % 7) * 5)
  }
  await quiet(pty)
  const [bytes, memory] = [pty.bytes() - before, pty.memory().now]
  return { processor: await pty.end(), bytes, keys, memory }
}

/** Open, and the prompt is visible. */
async function open(program: Program): Promise<Pty> {
  const pty = openPty(program.args, { root, folder, env: { ...process.env, ...program.env } })
  await pty.until((text) => text.includes(program.prompt))
  return pty
}

/** Some programs take text and Enter that come together for a paste. */
async function submit(pty: Pty, text: string): Promise<void> {
  pty.type(text)
  await setTimeout(100)
  pty.type("\r")
}

/** Nothing was written for half a second. */
async function quiet(pty: Pty): Promise<void> {
  for (let before = -1; before !== pty.bytes(); await setTimeout(500)) before = pty.bytes()
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

async function tell(order: Order): Promise<void> {
  model.send(order)
  await once(model as ChildProcess, "message")
}
