// Measures what a turn costs while its text streams to the clients of other servers: an answer of 5 000 deltas over three
// seconds, and one at full speed, at two servers that have a client each. The floor: the same servers without clients.
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { cluster, noPostgres, tmpDatabase } from "../test/fixture/postgres.ts"
import { environmentFor } from "./environment.ts"
import { median, report } from "./measure.ts"

type Server = { child: ChildProcess; url: string; headers: Record<string, string> }
type Sample = { wall: number; cpu: number }

if (noPostgres) {
  console.log(`left out: ${noPostgres}`)
  process.exit()
}
const deltas = 5_000
const rounds = Number(process.env.ROUNDS ?? 4)
const command = new URL("../dist/vitamin.js", import.meta.url).pathname
const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
const folder = join(root, "repo")
mkdirSync(folder)
await cluster({ fsync: true })
const database = await tmpDatabase()
const model = fork(new URL("./model.ts", import.meta.url).pathname)
const [{ port }] = (await once(model, "message")) as [{ port: number }]
const env = { ...environmentFor(root, `http://127.0.0.1:${port}/v1`), VITAMIN_DATABASE: database.url }
const samples = {
  none: [] as Sample[],
  both: [] as Sample[],
  noneFast: [] as Sample[],
  bothFast: [] as Sample[],
}
const servers: Server[] = []
try {
  for (let n = 0; n < 2; n++) servers.push(await serve())
  // Fills caches.
  await answer()
  for (let cycle = 0; cycle < 2; cycle++) {
    for (let i = 0; i < rounds; i++) {
      samples.none.push(await answer(3_000))
      samples.noneFast.push(await answer())
    }
    const stopping = new AbortController()
    await Promise.all(servers.map((server) => follow(server, stopping.signal)))
    for (let i = 0; i < rounds; i++) {
      samples.both.push(await answer(3_000))
      samples.bothFast.push(await answer())
    }
    stopping.abort()
    // Servers send live events until they have not heard of clients for 15 seconds.
    if (cycle === 0) await sleep(16_000)
  }
  const of = (all: Sample[], name: keyof Sample) => median(all.map((sample) => sample[name]))
  const { none, both, noneFast, bothFast } = samples
  report(
    "5 000 deltas in 3 s: processor time of the working server",
    of(both, "cpu"),
    of(none, "cpu"),
    "ms",
    1.5,
  )
  report("the same: whole turn", of(both, "wall"), of(none, "wall"), "ms", 1.1)
  report("5 000 deltas at once: whole turn", of(bothFast, "wall"), of(noneFast, "wall"), "ms", 1.5)
} finally {
  for (const { child } of servers) child.kill()
  model.kill()
  await database[Symbol.asyncDispose]()
  rmSync(root, { recursive: true, force: true })
}

async function serve(): Promise<Server> {
  const child = spawn(process.execPath, [command, "serve", "--port", "0"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  })
  const [line] = (await once(child.stdout!, "data")) as [Buffer]
  const [, url, tokenFile] = /on (http:\S+) \(token in (.+)\)/.exec(line.toString())!
  const token = readFileSync(tokenFile!, "utf8").trim()
  return {
    child,
    url: url!,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  }
}

/** A client of a server. */
async function follow({ url, headers }: Server, signal: AbortSignal): Promise<void> {
  const { body } = await fetch(`${url}/event`, { headers, signal })
  void body!.pipeTo(new WritableStream()).catch(() => {})
  // The server says to the other one that it has a client.
  await sleep(500)
}

async function answer(over?: number): Promise<Sample> {
  model.send({ turns: 0, deltas, folder, ...(over ? { over } : {}) })
  await once(model, "message")
  const { url, headers } = servers[0]!
  const post = async (path: string, body: object) => {
    const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as { id: string }
  }
  const { id } = await post("/session", {})
  const before = servers.map(cpuOf)
  const started = performance.now()
  await post(`/session/${id}/message`, { text: "go" })
  const wall = performance.now() - started
  // The server that works is the one that was busiest.
  return { wall, cpu: Math.max(...servers.map((server, i) => cpuOf(server) - before[i]!)) }
}

/** Milliseconds of processor time. */
function cpuOf({ child }: Server): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]!.split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10
}
