// A page on a server with many sessions, as files or in a database.
import { readFileSync, renameSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Script } from "../../fixture/fake-llm.ts"
import type { TmpDatabase } from "../../fixture/postgres.ts"
import { type Opened, openPage } from "./harness.ts"

export const minute = 60_000
const config = { permission: [{ permission: "agent.delegate", pattern: "*", action: "allow" }] }

export type Many = Opened & {
  /** Of "Session 0", "Session 1" and so on. */
  ids: string[]
  /** Of their records, if they are files. */
  folder: string
}
type Options = {
  count?: number
  /** When "Session 0" was used; each further session was used a minute before the last. */
  from?: number
  database?: TmpDatabase
}

/** Shows the list, with the sessions that were used last. */
export async function openMany(
  script: Script,
  { count = 150, from = Date.now(), database }: Options = {},
): Promise<Many> {
  await using stack = new AsyncDisposableStack()
  const variables = database ? { variables: { VITAMIN_DATABASE: database.url } } : {}
  const t = stack.use(await openPage(script, { config, ...variables }))
  const { id, projectId } = await t.client.createSession({ title: "Session 0" })
  const folder = join(t.tmp.env.XDG_DATA_HOME!, "vitamin/storage/session", projectId)
  const record = database
    ? (await database.query<{ body: string }>("select body from vitamin.record where name = $1", [id]))[0]!
        .body
    : readFileSync(join(folder, `${id}.json`), "utf8")
  const all = copies(record, { id, count, from })
  if (database) await writeRows(database, `session/${projectId}`, all)
  else writeFiles(folder, t, all)
  await t.restart()
  await reload(t)
  stack.move()
  return Object.assign(t, { ids: all.map((one) => one.id), folder })
}

/** Opens the list again. */
export async function reload({ page, url }: Opened, shown = "100 sessions, the last used"): Promise<void> {
  await page.goto(`${url}/#/`)
  await page.reload()
  await page.getByText("Connected").waitFor()
  await page.getByText(shown, { exact: true }).waitFor()
}

type Copy = { id: string; updated: number; body: string }

function copies(record: string, { id, count, from }: { id: string; count: number; from: number }): Copy[] {
  return Array.from({ length: count }, (_, n) => {
    const copy = n ? `${id.slice(0, -6)}${String(n).padStart(6, "0")}` : id
    const updated = from - n * minute
    const named = record.replaceAll(id, copy).replace('"Session 0"', `"Session ${n}"`)
    return { id: copy, updated, body: named.replace(/("updated":\s*)\d+/, `$1${updated}`) }
  })
}

/** The server runs: it must not read half of a file, and quarantine it. */
function writeFiles(folder: string, { tmp }: Opened, all: Copy[]): void {
  const whole = join(tmp.path, "whole.json")
  for (const { id, updated, body } of all) {
    writeFileSync(whole, body)
    utimesSync(whole, updated / 1000, updated / 1000)
    renameSync(whole, join(folder, `${id}.json`))
  }
}

async function writeRows(database: TmpDatabase, parent: string, all: Copy[]): Promise<void> {
  await database.query(
    `insert into vitamin.record (parent, name, body, changed)
      select $1, name, body, to_timestamp(at / 1000) from unnest($2::text[], $3::text[], $4::float8[]) as t (name, body, at)
      on conflict (parent, name) do update set body = excluded.body, changed = excluded.changed`,
    [parent, all.map(({ id }) => id), all.map(({ body }) => body), all.map(({ updated }) => updated)],
  )
}
