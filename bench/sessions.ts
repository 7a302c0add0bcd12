// Measures prompts late in a session: the CPU time of a prompt after 2 700 others and a compaction, against one in a new
// session, interleaved, with `vitamin run` (a process for each prompt) and on a server. Also measures the resident memory of
// that server after 2 000 prompts in 50 sessions.
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { laySession } from "./lay-session.ts"
import { median, report } from "./measure.ts"
import type { Order } from "./model.ts"

const rounds = Number(process.env.ROUNDS ?? 9)
const prompts = Number(process.env.PROMPTS ?? 2_700)
const served = Number(process.env.SERVED ?? 2_000)
const goals = { ratio: 1.3, megabytes: 200 }
const command = join(import.meta.dirname, "../dist/vitamin.js")
const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
const folder = join(root, "repo")
mkdirSync(folder)
for (let i = 0; i < 200; i++)
  writeFileSync(join(folder, `f${String(i).padStart(3, "0")}.txt`), `first line\n${`file ${i}\n`.repeat(20)}`)
process.env.VITAMIN_DATA_DIR = join(root, "data")
process.env.HOME = join(root, "home")

const model = fork(join(import.meta.dirname, "model.ts"))
const children: ChildProcess[] = [model]
try {
  const [{ port }] = (await once(model, "message")) as [{ port: number }]
  await tell({ turns: 0, deltas: 5, folder, perPrompt: true })
  const env = environment(port)
  const sessionId = await laySession(folder, prompts)
  const first = await runPrompt(env, sessionId)
  console.log(`the prompt that compacts ${prompts} prompts: ${first.toFixed(0)} ms of processor time`)
  await oneProcessEach(env, sessionId)
  await onServer(env, sessionId)
} finally {
  for (const child of children) child.kill()
  rmSync(root, { recursive: true, force: true, maxRetries: 5 })
}

async function oneProcessEach(env: NodeJS.ProcessEnv, sessionId: string) {
  const samples = { long: [] as number[], fresh: [] as number[] }
  for (let i = 0; i < rounds; i++) {
    samples.fresh.push(await runPrompt(env))
    samples.long.push(await runPrompt(env, sessionId))
  }
  const name = `vitamin run after ${prompts} prompts (floor: a new session)`
  report(name, median(samples.long), median(samples.fresh), "ms", goals.ratio)
}

async function onServer(env: NodeJS.ProcessEnv, sessionId: string) {
  const server = spawn(process.execPath, [command, "serve", "--port", "0"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  })
  children.push(server)
  const [line] = (await once(server.stdout!, "data")) as [Buffer]
  const [, url, tokenFile] = /on (http:\S+) \(token in (.+)\)/.exec(line.toString())!
  const headers = {
    authorization: `Bearer ${readFileSync(tokenFile!, "utf8").trim()}`,
    "content-type": "application/json",
    "x-vitamin-directory": folder,
  }
  const post = async (path: string, body: object) => {
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as { id: string }
  }
  const ask = (id: string) => post(`/session/${id}/message`, { text: "go", asks: "once" })
  for (let i = 0; i < 50; i++) await ask((await post("/session", {})).id)
  const samples = { long: [] as number[], fresh: [] as number[] }
  for (let i = 0; i < rounds; i++)
    for (const [kind, all] of Object.entries(samples)) {
      const ids: string[] = []
      for (let n = 0; n < 10; n++) ids.push(kind === "long" ? sessionId : (await post("/session", {})).id)
      const before = processorOf(server)
      for (const id of ids) await ask(id)
      all.push((processorOf(server) - before) / ids.length)
    }
  const name = `a served prompt after ${prompts} prompts (floor: a new session)`
  report(name, median(samples.long), median(samples.fresh), "ms", goals.ratio)
  const sessions: string[] = []
  for (let i = 0; i < 50; i++) sessions.push((await post("/session", {})).id)
  for (let i = 0; i < served; i += 5)
    await Promise.all(Array.from({ length: 5 }, (_, n) => ask(sessions[(i + n) % sessions.length]!)))
  const megabytes = residentOf(server)
  console.log(`memory after ${served} prompts: ${megabytes.toFixed(1)} MB (goal ${goals.megabytes})`)
  if (megabytes > goals.megabytes) process.exitCode = 1
}

/** Processor time of one prompt in a process of its own, in milliseconds. */
async function runPrompt(env: NodeJS.ProcessEnv, sessionId?: string): Promise<number> {
  const file = join(root, "cpu")
  const session = sessionId ? ["--session", sessionId] : []
  const args = ["--import", join(import.meta.dirname, "cpu-at-exit.mjs"), command, "run", "--yes"]
  const child = spawn(process.execPath, [...args, ...session, "go"], {
    cwd: folder,
    env: { ...env, BENCH_CPU_FILE: file },
    stdio: ["ignore", "ignore", "pipe"],
  })
  let errors = ""
  child.stderr.on("data", (text) => {
    errors += text
  })
  const [code] = await once(child, "exit")
  if (code !== 0) throw new Error(`vitamin run ended with ${code}: ${errors}`)
  return Number(readFileSync(file, "utf8"))
}

/** A window that a few dozen prompts fill, so that the session is compacted. */
function environment(port: number): NodeJS.ProcessEnv {
  const names = ["CONFIG", "STATE", "CACHE"].map((name) => [`XDG_${name}_HOME`, ""])
  return {
    ...process.env,
    ...Object.fromEntries(names),
    OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
    OPENAI_API_KEY: "x",
    VITAMIN_MODEL: "openai/m",
    VITAMIN_CONFIG: JSON.stringify({
      provider: { openai: { models: { m: { context: 32_000, output: 1_000 } } } },
    }),
  }
}

/** In milliseconds, all threads; the system counts in hundredths of a second. */
function processorOf({ pid }: ChildProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** In megabytes, as the system sees it. */
function residentOf({ pid }: ChildProcess): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!
  return (Number(kilobytes) * 1024) / 1e6
}

async function tell(message: Order): Promise<unknown> {
  model.send(message)
  return (await once(model, "message"))[0]
}
