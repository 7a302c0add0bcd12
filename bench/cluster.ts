// Several `vitamin serve` processes on one PostgreSQL (fsync, on this machine): four workers beside one with a model that
// takes 200 ms, three workers with an instant model beside the engine of the jobs alone, the own time of a turn beside files,
// and the time from the check of a lease to the first effect of a call. ROUNDS=1 is quick.
import { fork } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { loadavg } from "node:os"
import { type Fleet, newSession, startFleet, type Worker } from "../test/edge/cluster/harness.ts"
import { serving } from "../test/fixture/cli.ts"
import { env, type FakeLlm } from "../test/fixture/fake-llm.ts"
import { cluster, noPostgres } from "../test/fixture/postgres.ts"
import { tmpdir } from "../test/fixture/tmpdir.ts"
import { until } from "../test/fixture/until.ts"
import { emptyJobsPerSecond } from "./bare-engine.ts"
import { measureWindow } from "./lease-window.ts"
import { median, report } from "./measure.ts"
import type { Notes, Order } from "./model.ts"

if (noPostgres) {
  console.log(`left out: ${noPostgres}`)
  process.exit()
}
const rounds = Number(process.env.ROUNDS ?? 3)
const promptsEach = 20
const busySessions = { sessions: 40, each: 5 }

await cluster({ fsync: true })
const model = fork(new URL("./model.ts", import.meta.url).pathname)
const [{ port }] = (await once(model, "message")) as [{ port: number }]
const llm = { url: `http://127.0.0.1:${port}` } as FakeLlm
try {
  await compareWorkers()
  await compareEngine()
  await compareFiles()
  await measureWindow()
} finally {
  model.kill()
}
console.log(
  `load of the machine: ${loadavg()
    .map((one) => one.toFixed(1))
    .join(", ")}`,
)

async function tell(order: Order | "notes"): Promise<unknown> {
  model.send(order)
  return (await once(model, "message"))[0]
}

/** Each worker is asked for one prompt at a time. */
async function compareWorkers() {
  await tell({ turns: 0, deltas: 20, over: 200, folder: "" })
  const perSecond = { one: [] as number[], four: [] as number[] }
  await using one = await startFleet(1, llm)
  await using four = await startFleet(4, llm)
  for (let round = 0; round <= rounds; round++) {
    const single = await promptsPerSecond(one)
    const several = await promptsPerSecond(four)
    // The first round fills caches.
    if (round === 0) continue
    perSecond.one.push(single)
    perSecond.four.push(several)
  }
  const [ours, floor] = [median(perSecond.four), median(perSecond.one)]
  compare("4 workers, a model of 200 ms (floor: 1 worker)", { ours, floor, least: 3.6, unit: "prompts/s" })
}

async function promptsPerSecond({ workers }: Fleet): Promise<number> {
  const began = performance.now()
  await Promise.all(workers.map(drive))
  return (workers.length * promptsEach * 1_000) / (performance.now() - began)
}

async function drive(worker: Worker) {
  const session = await newSession(worker)
  for (let i = 0; i < promptsEach; i++) await ask(worker, session)
}

async function ask(worker: Worker, session: string) {
  const { status, body } = await worker.call("POST", `/session/${session}/message`, { text: "go" })
  if (status !== 200) throw new Error(JSON.stringify(body))
}

/** Prompts that are accepted all at once, and an instant model. */
async function compareEngine() {
  await tell({ turns: 0, deltas: 1, folder: "" })
  const [ours, floor] = [[] as number[], [] as number[]]
  await using fleet = await startFleet(3, llm)
  for (let round = 0; round <= rounds; round++) {
    const prompts = await acceptedPerSecond(fleet, busySessions)
    const jobs = await emptyJobsPerSecond({ workers: 3, ...busySessions })
    if (round === 0) continue
    ours.push(prompts)
    floor.push(jobs)
  }
  const what = "3 workers, an instant model (floor: empty jobs)"
  compare(what, { ours: median(ours), floor: median(floor), least: 0.5, unit: "prompts/s" })
}

async function acceptedPerSecond(
  { workers, database }: Fleet,
  { sessions, each }: typeof busySessions,
): Promise<number> {
  const ids = await Promise.all(
    Array.from({ length: sessions }, (_, i) => newSession(workers[i % workers.length]!)),
  )
  const began = performance.now()
  await Promise.all(
    ids.map(async (id, i) => {
      for (let n = 0; n < each; n++) {
        const worker = workers[(i + n) % workers.length]!
        const { status, body } = await worker.call(
          "POST",
          `/session/${id}/message`,
          { text: "go" },
          { prefer: "respond-async" },
        )
        if (status !== 202) throw new Error(JSON.stringify(body))
      }
    }),
  )
  const text = "select 1 from vitamin_jobs.workflow_status where status in ('PENDING', 'ENQUEUED') limit 1"
  await until(async () => (await database.query(text)).length === 0, "all prompts")
  return (sessions * each * 1_000) / (performance.now() - began)
}

/** The own time between two requests of a prompt that reads 20 files. */
async function compareFiles() {
  await using tmp = await tmpdir({ git: true })
  for (let i = 0; i < 40; i++) tmp.write(`f${String(i).padStart(3, "0")}.txt`, `file ${i}\n`.repeat(20))
  await using fleet = await startFleet(1, llm)
  for (let i = 0; i < 40; i++) fleet.tmp.write(`f${String(i).padStart(3, "0")}.txt`, `file ${i}\n`.repeat(20))
  const { child, url, tokenFile } = await serving(tmp, ["--trust"], env(llm, "chat").variables)
  await using _ = child
  const token = readFileSync(tokenFile, "utf8").trim()
  const files = async () => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const post = async (path: string, body: object) => {
      const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
      if (!response.ok) throw new Error(await response.text())
      return (await response.json()) as { id: string }
    }
    const { id } = await post("/session", {})
    await post(`/session/${id}/message`, { text: "go" })
  }
  const tables = async () => ask(fleet.workers[0]!, await newSession(fleet.workers[0]!))
  const gaps = { files: [] as number[], tables: [] as number[] }
  for (let round = 0; round <= 2 * rounds; round++) {
    await tell({ turns: 20, deltas: 1, folder: tmp.path })
    await files()
    const noted = (await tell("notes")) as Notes
    await tell({ turns: 20, deltas: 1, folder: fleet.tmp.path })
    await tables()
    if (round === 0) continue
    gaps.files.push(...noted.gaps)
    gaps.tables.push(...((await tell("notes")) as Notes).gaps)
  }
  report("own time of a turn in a worker (floor: files)", median(gaps.tables), median(gaps.files), "ms", 3)
}

/** `report` for figures of which more is better. */
function compare(what: string, given: { ours: number; floor: number; least: number; unit: string }) {
  const { ours, floor, least, unit } = given
  const ratio = ours / floor
  const verdict = `goal at least ${least}× ${ratio >= least ? "met" : "MISSED"}`
  console.log(
    `${what.padEnd(52)} ${ours.toFixed(1)} ${unit}  floor ${floor.toFixed(1)} ${unit}  ${ratio.toFixed(2)}×  ${verdict}`,
  )
  if (ratio < least) process.exitCode = 1
}
