// Compares `vitamin run` with its records in PostgreSQL and the same run with files, by turns, with the same loopback
// model. The server is a real one with its default durability (fsync), on this machine.
import { fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { cluster, noPostgres, tmpDatabase } from "../test/fixture/postgres.ts"
import { measureScale } from "./database-scale.ts"
import { environmentFor } from "./environment.ts"
import { median, quantile, report } from "./measure.ts"
import type { Notes } from "./model.ts"

if (noPostgres) {
  console.log(`left out: ${noPostgres}`)
  process.exit()
}
const rounds = Number(process.env.ROUNDS ?? 7)
const command = new URL("../dist/vitamin.js", import.meta.url).pathname
const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
const folder = join(root, "repo")
mkdirSync(folder)
for (let i = 0; i < 40; i++)
  writeFileSync(join(folder, `f${String(i).padStart(3, "0")}.txt`), `file ${i}\n`.repeat(20))
await cluster({ fsync: true })
const database = await tmpDatabase()
const model = fork(new URL("./model.ts", import.meta.url).pathname)
const [{ port }] = (await once(model, "message")) as [{ port: number }]
const env = {
  ...environmentFor(root, `http://127.0.0.1:${port}/v1`),
}

type Sample = { wall: number; gaps: number[] }
const samples = { files: [] as Sample[], tables: [] as Sample[] }
try {
  for (let i = 0; i <= rounds; i++) {
    const files = await sample({})
    const tables = await sample({ VITAMIN_DATABASE: database.url })
    // The first round fills caches and creates the tables.
    if (i === 0) continue
    samples.files.push(files)
    samples.tables.push(tables)
  }
  const gaps = (all: Sample[]) => all.flatMap((one) => one.gaps)
  const walls = (all: Sample[]) => all.map((one) => one.wall)
  const { files, tables } = samples
  report("20 read turns in PostgreSQL: own time per turn", median(gaps(tables)), median(gaps(files)), "ms", 3)
  report("the same, p95", quantile(gaps(tables), 0.95), quantile(gaps(files), 0.95), "ms")
  report("20 read turns in PostgreSQL: whole run", median(walls(tables)), median(walls(files)), "ms", 3)
  await measureScale({ env, folder, tell })
} finally {
  model.kill()
  await database[Symbol.asyncDispose]()
  rmSync(root, { recursive: true, force: true })
}

async function sample(more: Record<string, string>): Promise<Sample> {
  await tell({ turns: 20, deltas: 1, folder })
  const started = performance.now()
  const child = spawn(process.execPath, [command, "run", "--yes", "go"], {
    cwd: folder,
    env: { ...env, ...more },
    stdio: "ignore",
  })
  const [code] = await once(child, "exit")
  if (code !== 0) throw new Error(`vitamin run ended with ${code}`)
  const wall = performance.now() - started
  return { wall, gaps: ((await tell("notes")) as Notes).gaps }
}

async function tell(message: object | "notes"): Promise<unknown> {
  model.send(message)
  return (await once(model, "message"))[0]
}
