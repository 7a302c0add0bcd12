// How `vitamin serve` on PostgreSQL grows: listing, opening and a turn with 10,000 sessions and a million messages beside the
// same with 100 sessions, by turns; what one turn writes; how many events per second one counter row can number. Part of
// `npm run bench database`; SESSIONS=1000 makes it smaller.
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createEventTable } from "#kernel/bus/event-table.ts"
import { open } from "#kernel/database/database.ts"
import { type TmpDatabase, tmpDatabase } from "../test/fixture/postgres.ts"
import { median, report } from "./measure.ts"

type Tell = (order: object) => Promise<unknown>
type Served = {
  get(path: string): Promise<unknown>
  post(path: string, body: object): Promise<unknown>
  child: ChildProcess
}
/** Counters of a database: rows inserted and updated, bytes of the write-ahead log, commits, events. */
type Counts = { inserted: number; updated: number; wal: number; commits: number; events: number }

const many = Number(process.env.SESSIONS ?? 10_000)
const few = 100
const messages = 100
const rounds = 15
const command = new URL("../dist/vitamin.js", import.meta.url).pathname

export async function measureScale(options: { env: NodeJS.ProcessEnv; folder: string; tell: Tell }) {
  await using small = await tmpDatabase()
  await using large = await tmpDatabase()
  const servers: Served[] = []
  try {
    for (const [database, sessions] of [
      [small, few],
      [large, many],
    ] as const) {
      const server = await serve(database, options)
      servers.push(server)
      await fill(database, { sessions, server, ...options })
    }
    await compare(servers[0]!, servers[1]!, options)
    await weighTurn(large, { server: servers[1]!, ...options })
  } finally {
    for (const { child } of servers) child.kill()
  }
  await countEvents()
}

async function serve(
  database: TmpDatabase,
  { env, folder }: { env: NodeJS.ProcessEnv; folder: string },
): Promise<Served> {
  const child = spawn(process.execPath, [command, "serve", "--port", "0"], {
    cwd: folder,
    env: { ...env, VITAMIN_DATABASE: database.url },
    stdio: ["ignore", "pipe", "inherit"],
  })
  const [line] = (await once(child.stdout!, "data")) as [Buffer]
  const [, url, tokenFile] = /on (http:\S+) \(token in (.+)\)/.exec(line.toString())!
  const token = readFileSync(tokenFile!, "utf8").trim()
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const answer = async (response: Response) => {
    if (!response.ok) throw new Error(await response.text())
    return response.json()
  }
  return {
    child,
    get: async (path) => answer(await fetch(url + path, { headers })),
    post: async (path, body) =>
      answer(await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })),
  }
}

/** One session by real prompts, and copies of it under other ids. */
async function fill(
  database: TmpDatabase,
  { sessions, server, tell, folder }: { sessions: number; server: Served; tell: Tell; folder: string },
) {
  const { id } = (await server.post("/session", { title: "a session among many" })) as { id: string }
  const count = async () =>
    Number(
      (
        await database.query<{ n: string }>("select count(*) as n from vitamin.record where parent = $1", [
          `message/${id}`,
        ])
      )[0]!.n,
    )
  while ((await count()) < messages) {
    await tell({ turns: 0, deltas: 1, folder, perPrompt: true })
    await server.post(`/session/${id}/message`, { text: "go" })
  }
  await database.query(
    `insert into vitamin.record (parent, name, body)
      select replace(r.parent, $1, c.id), replace(r.name, $1, c.id), replace(r.body, $1, c.id)
      from (select left($1, 15) || lpad(n::text, 16, '0') as id from generate_series(1, $2::int) n) c,
        vitamin.record r where r.parent = 'message/' || $1 or r.name = $1`,
    [id, sessions - 1],
  )
  await database.query("vacuum analyze vitamin.record")
}

async function compare(small: Served, large: Served, { tell, folder }: { tell: Tell; folder: string }) {
  const works: Record<string, (server: Served, id: string) => Promise<unknown>> = {
    "list the newest 50 sessions": (server) => server.get("/session?limit=50"),
    "open a session of 100 messages": async (server, id) => {
      await server.get(`/session/${id}`)
      return server.get(`/session/${id}/message`)
    },
    "a turn with one call": async (server) => {
      const { id } = (await server.post("/session", {})) as { id: string }
      await tell({ turns: 0, deltas: 1, folder, perPrompt: true })
      return server.post(`/session/${id}/message`, { text: "go" })
    },
  }
  const oneOf = async (server: Served) => ((await server.get("/session?limit=50")) as { id: string }[])[7]!.id
  const ids = [await oneOf(small), await oneOf(large)] as const
  for (const [name, work] of Object.entries(works)) {
    const times = { small: [] as number[], large: [] as number[] }
    for (let i = 0; i < rounds + 2; i++) {
      const [a, b] = [await timed(() => work(small, ids[0])), await timed(() => work(large, ids[1]))]
      if (i < 2) continue
      times.small.push(a)
      times.large.push(b)
    }
    report(`${many} sessions: ${name} (floor: ${few})`, median(times.large), median(times.small), "ms", 1.5)
  }
  const whole = await timed(() => large.get("/session"))
  console.log(`${many} sessions: list all of them: ${whole.toFixed(0)} ms`)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

async function weighTurn(
  database: TmpDatabase,
  { server, tell, folder }: { server: Served; tell: Tell; folder: string },
) {
  const turns = 20
  const before = await counts(database)
  for (let i = 0; i < turns; i++) {
    const { id } = (await server.post("/session", {})) as { id: string }
    await tell({ turns: 0, deltas: 1, folder, perPrompt: true })
    await server.post(`/session/${id}/message`, { text: "go" })
  }
  // Statistics are written with a delay.
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  const after = await counts(database)
  const each = (name: keyof Counts) => ((after[name] - before[name]) / turns).toFixed(1)
  console.log(
    `a prompt with one call (with its session): ${each("inserted")} rows inserted, ${each("updated")} updated, ${each("wal")} bytes of log, ${each("commits")} commits, ${each("events")} events`,
  )
  const [{ n }] = (await database.query<{ n: string }>(
    "select count(*) as n from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  )) as [{ n: string }]
  console.log(`connections of one server: ${n}`)
}

async function counts(database: TmpDatabase): Promise<Counts> {
  const [row] = await database.query<Counts>(
    `select sum(n_tup_ins)::float8 as inserted, sum(n_tup_upd)::float8 as updated,
      (pg_current_wal_lsn() - '0/0')::float8 as wal, (select seq::float8 from vitamin.event_head) as events,
      (select xact_commit::float8 from pg_stat_database where datname = current_database()) as commits
      from pg_stat_user_tables where schemaname = 'vitamin'`,
  )
  return row!
}

/** Servers that publish as fast as they can: one event each time, and fifty. */
async function countEvents() {
  await using tmp = await tmpDatabase()
  for (const [servers, batch] of [
    [1, 1],
    [4, 1],
    [4, 50],
  ] as const) {
    const logs = await Promise.all(
      Array.from({ length: servers }, async () => {
        const database = await open(tmp.url)
        return { database, log: await createEventTable(database) }
      }),
    )
    const before = logs[0]!.log.lastId()
    const end = performance.now() + 3_000
    const payload = { text: "x".repeat(300) }
    await Promise.all(
      logs.map(async ({ log }) => {
        const { promise, resolve } = Promise.withResolvers<void>()
        let own = 0
        const publish = () => {
          if (performance.now() > end) return resolve()
          own = batch
          for (let i = 0; i < batch; i++)
            log.publish({ id: 1, type: "t.t", time: 1, directory: "/a", payload })
        }
        log.follow(({ live, kept }) => {
          // Own events are sent from memory in one piece; the next ones follow when they are stored.
          if (own && live === kept) return
          own = 0
          publish()
        })
        publish()
        await promise
      }),
    )
    const [{ seq }] = (await tmp.query<{ seq: string }>("select seq from vitamin.event_head")) as [
      { seq: string },
    ]
    const rate = (Number(seq) - before) / 3
    console.log(
      `${servers} servers, ${batch} event${batch > 1 ? "s" : ""} a transaction: ${rate.toFixed(0)} events/s, ${(rate / batch).toFixed(0)} transactions/s`,
    )
    for (const { log, database } of logs) {
      await log.close()
      await database.close()
    }
  }
}
