// A fleet under load while workers are killed, paused and cut off, and PostgreSQL restarts: no acknowledged prompt is
// lost, no call runs twice, no fenced worker writes, every session continues, and every event is seen once.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { loadavg } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { fakeLlm } from "../../fixture/fake-llm.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { createRandom } from "../../fixture/random.ts"
import { repeat } from "../../fixture/soak.ts"
import { until } from "../../fixture/until.ts"
import { type Audit, createAudit, type Hit, type Takeover } from "./fault-audit.ts"
import {
  ask,
  createScript,
  type EventClient,
  followAcross,
  program,
  type Sent,
  startLoad,
} from "./fault-load.ts"
import { createFaulty } from "./fault-plan.ts"
import { type Fleet, startFleet, type Worker } from "./harness.ts"

const seed = Number(process.env.VITAMIN_SEED ?? 1)
const counts = {
  kill: repeat(4, 200),
  pause: repeat(2, 50),
  cut: repeat(1, 20),
  restart: repeat(1, 10),
  crash: repeat(1, 10),
}

test("a fleet under load survives kills, pauses, network cuts and restarts of PostgreSQL", {
  skip: noPostgres,
}, async (t) => {
  const random = createRandom(seed)
  await using llm = await fakeLlm(createScript(random))
  await using fleet = await startFleet(0, llm)
  fleet.tmp.write("run.sh", program)
  let audit: Audit | undefined
  await using faulty = await createFaulty(fleet, {
    size: 5,
    random: createRandom(seed),
    pauseFor: repeat(4_000, 10_000),
    audit: () => audit!,
  })
  audit = await createAudit(fleet.database)
  const clients = [1, 2, 3].map(() => followAcross(faulty.pick, 0, random))
  await using following = new AsyncDisposableStack()
  for (const client of clients) following.defer(client.stop)
  await using load = startLoad(repeat(6, 12), faulty.pick, random)
  const forget = setInterval(() => llm.requests.splice(0), 10_000)
  await until(() => load.sent.length > 6, "the load")
  const { hits, restarts } = await faulty.run(counts)
  await load.stop()
  clearInterval(forget)

  await untilDone(fleet)
  const wrong = await checkNewPrompts(fleet, load.sessions, faulty.pick)
  wrong.push(...(await checkEvents(fleet, clients)))
  const prompts = await checkPrompts(load, { worker: faulty.pick(), errors: clients[0]!.errors })
  wrong.push(...prompts.wrong)
  const calls = checkCalls(fleet)
  wrong.push(...calls.wrong, ...(await audit.fencedWrites()).map((row) => `fenced: ${JSON.stringify(row)}`))
  for (const line of [
    `seed ${seed}: ${JSON.stringify(counts)}; load ${loadavg().map(Math.round)}`,
    `prompts sent ${load.sent.length}, by status ${JSON.stringify(count(load.sent.map(({ status }) => status)))}, sessions ${load.sessions.length}`,
    `acknowledged: ${JSON.stringify(prompts.told)}; calls run ${calls.ran}; messages written ${await audit.writes()}; events ${clients[0]!.lastId()}`,
    ...takeoverLines(await audit.takeovers(hits), restarts),
  ])
    t.diagnostic(line)
  assert.deepEqual(wrong, [])
})

/** Waits for the end of all jobs. */
async function untilDone({ database, workers }: Fleet): Promise<void> {
  const text = `select workflow_uuid, status, executor_id, recovery_attempts, queue_partition_key, l.worker, w.seen
    from vitamin_jobs.workflow_status left join vitamin.lease l on l.session = queue_partition_key
    left join vitamin.worker w on w.id = l.worker where status in ('PENDING', 'ENQUEUED')`
  let left: unknown[] = []
  await until(async () => {
    left = await database.query(text)
    return left.length === 0
  }, "the end of all jobs").catch(async (error) => {
    const active = `select application_name, state, wait_event, state_change, query from pg_stat_activity
      where datname = current_database() and state <> 'idle'`
    left.push(...(await database.query(active)))
    const said = workers.map(
      ({ child }) => `${child.process.pid} ${child.process.exitCode}: ${child.errors()}`,
    )
    throw new Error(`${error.message}: ${JSON.stringify(left, undefined, 1)}\n${said.join("\n")}`)
  })
}

/** Every session takes a new prompt and answers it. */
async function checkNewPrompts(fleet: Fleet, sessions: string[], pick: () => Worker): Promise<string[]> {
  const left = [...sessions.entries()]
  const wrong: string[] = []
  const one = async () => {
    for (let next = left.pop(); next; next = left.pop()) {
      const [number, session] = next
      const worker = pick()
      const body = { text: `Prompt last${number}.`, allow: ["bash.execute"] }
      const { status, body: answer } = await ask(worker, "POST", `/session/${session}/message`, body)
      if (status === 200 && JSON.stringify(answer).includes(`Done last${number}.`)) continue
      const asked = worker.child.process.pid
      wrong.push(
        `session ${session} through ${asked}: ${status} ${JSON.stringify(answer)}; ${await stateOf(fleet, session)}`,
      )
    }
  }
  await Promise.all(Array.from({ length: 6 }, one))
  return wrong
}

/** What the database knows about a session, for the report of a failed run. */
async function stateOf({ database, workers }: Fleet, session: string): Promise<string> {
  const jobs = `select workflow_uuid, status, executor_id, recovery_attempts, error from vitamin_jobs.workflow_status
    where queue_partition_key = $1 order by created_at desc limit 3`
  const records = `select parent, name, left(body, 500) as body from vitamin.record
    where parent like 'session/%' and name = $1 or parent = 'job/' || $1
    or parent = 'message/' || $1 order by changed desc limit 6`
  const leases = "select * from vitamin.lease left join vitamin.worker w on w.id = worker where session = $1"
  const found = await Promise.all([jobs, records, leases].map((text) => database.query(text, [session])))
  const said = workers.flatMap(({ child }) =>
    child.process.signalCode ? [] : [`${child.process.pid}: ${child.errors().slice(-1_500)}`],
  )
  return `${JSON.stringify(found, undefined, 1)}\n${said.join("\n")}`
}

/** Every client has every event from the first one on, once, in order, and all have the same. */
async function checkEvents({ database }: Fleet, clients: EventClient[]): Promise<string[]> {
  const text = "select seq::float8 from vitamin.event_head"
  const [head] = await database.query<{ seq: number }>(text)
  await until(() => clients.every((client) => client.lastId() >= head!.seq), "the last event")
  await Promise.all(clients.map((client) => client.stop()))
  const [first] = clients
  return clients.flatMap(({ events, gaps }, client) => {
    const at = events.findIndex(
      ({ id, hash }, at) => id !== at + 1 || hash !== (first!.events[at]?.hash ?? hash),
    )
    return [
      ...gaps.map((gap) => `client ${client} got a gap: ${gap}`),
      ...(at < 0 ? [] : [`client ${client}: event ${events[at]!.id} is at place ${at + 1}, or differs`]),
    ]
  })
}

/** Every acknowledged prompt is in its session once, and has an answer, or an error that was published. */
async function checkPrompts(
  { sent, sessions }: { sent: Sent[]; sessions: string[] },
  { worker, errors }: { worker: Worker; errors: Map<string, string> },
) {
  const how: string[] = []
  const wrong: string[] = []
  const bySession = Map.groupBy(sent, ({ session }) => session)
  for (const session of sessions) {
    const { body: messages } = await worker.call("GET", `/session/${session}/message`)
    const texts: { role: string; text: string }[] = messages.flatMap(wordsOf)
    const times = (role: string, text: string) =>
      texts.filter((one) => one.role === role && one.text === text).length
    for (const { name, status, promptId } of bySession.get(session) ?? []) {
      const where = `prompt ${name} (status ${status}, ${promptId}) of session ${session}`
      const asked = times("user", `Prompt ${name}.`)
      if (status === 1) wrong.push(`${where} was not answered in time`)
      if (asked > 1) wrong.push(`${where} is there ${asked} times`)
      if (status !== 200 && status !== 202) continue
      const ended = times("assistant", `Done ${name}.`) ? "answered" : errors.get(promptId ?? "")
      if (asked === 0 || !ended) wrong.push(`${where} is lost: ${asked}, ${ended}, ${JSON.stringify(texts)}`)
      how.push(ended ?? "lost")
    }
  }
  return { told: count(how), wrong }
}

function wordsOf({ type, data }: { type: string; data: { role: string; parts: { text?: string }[] } }) {
  return type === "text" ? [{ role: data.role, text: data.parts.map(({ text = "" }) => text).join("") }] : []
}

/** The model asks for one call of a prompt, so a prompt with two of them had a call that was taken over, and still ran. */
function checkCalls({ tmp }: Fleet): { ran: number; wrong: string[] } {
  const lines = readFileSync(join(tmp.path, "ran.txt"), "utf8").trim().split("\n")
  const prompts = Map.groupBy(lines, (line) => line.split(" ")[0]!)
  return { ran: lines.length, wrong: [...prompts.values()].filter((all) => all.length > 1).map(String) }
}

/** Nobody counts as dead right after a start of PostgreSQL, so faults beside one are listed apart. */
function takeoverLines(takeovers: Takeover[], restarts: number[]): string[] {
  const isApart = ({ at }: Hit) => restarts.some((time) => time > at - 8_000 && time < at + 8_000)
  const kinds = Map.groupBy(takeovers, (one) => (isApart(one) ? "beside a restart" : one.kind))
  return [...kinds].map(([kind, all]) => {
    const of = (values: number[]) => {
      const sorted = values.filter(Number.isFinite).sort((a, b) => a - b)
      const at = (q: number) =>
        Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? -1)
      return `median ${at(0.5)} p95 ${at(0.95)} longest ${at(1)} ms`
    }
    return `takeover, ${kind} (${all.length}): lease ${of(all.map(({ lease }) => lease))}; first record ${of(all.map(({ record }) => record))}`
  })
}

function count(values: (string | number)[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}
