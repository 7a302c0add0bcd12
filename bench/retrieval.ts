// How well and how fast tools are found: words, vectors, RRF and the default on two development sets; which tools a first
// request offers, and which skills come with everyday prompts; then an index of 10 000 tools beside a bare FTS5 query, and one of 50 000 chunks.
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { createIndex } from "#knowledge/index/create-index.ts"
import { queryWords } from "#knowledge/index/spell.ts"
import type { Document } from "#knowledge/index/types.ts"
import { median, report } from "./measure.ts"
import { judgeOffers, offerSets } from "./offered-tools.ts"
import { judge, readQueries, readTools, sets } from "./retrieval-sets.ts"
import { judgeSkills } from "./skill-prompts.ts"

const modes = ["text", "vector", "rrf", "fused"] as const
const goals = { metatool: 75, sealtools: 91 }
/** Below text alone by no more than this, in points. */
const loss = 1
const embedder = createEmbedder()
const folder = mkdtempSync(join(tmpdir(), "vitamin-bench-"))

try {
  for (const set of sets) await judgeSet(set)
  await judgeFirstRequests()
  await judgePrompts()
  const tools = sets.flatMap(readTools)
  await measureTools(repeat(tools, 10_000))
  await measureChunks(chunksOf(tools, 50_000))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function judgeSet(set: (typeof sets)[number]): Promise<void> {
  const [tools, queries] = [readTools(set), readQueries(set)]
  const index = createIndex({ embedder })
  await index.put(tools)
  console.log(`${set}: ${tools.length} tools, ${queries.length} queries`)
  console.log("            recall@5  recall@10  NDCG@10  whole@10  µs of processor each")
  const recall: Record<string, number> = {}
  for (const mode of modes) {
    const start = process.cpuUsage()
    const rankings: string[][] = []
    for (const { query } of queries) rankings.push((await index.search(query, { mode })).map(({ id }) => id))
    const spent = cpu(start) / queries.length
    const { recall5, recall10, ndcg10, whole10 } = judge(queries, rankings)
    recall[mode] = recall5
    const cells = [recall5, recall10, ndcg10, whole10].map((value) => value.toFixed(1).padStart(9))
    console.log(`  ${mode.padEnd(8)}${cells.join(" ")}${(spent * 1000).toFixed(0).padStart(9)}`)
  }
  expect(`recall@5 on ${set}`, recall.fused!, recall.fused! >= goals[set], `at least ${goals[set]}`)
  const least = recall.text! - loss
  expect("  beside text alone", recall.fused! - recall.text!, recall.fused! >= least, `not below -${loss}`)
  index.close()
}

/** Tools are sent with every request: those that are right are wanted, those for coding prompts are not. */
async function judgeFirstRequests(): Promise<void> {
  console.log("tools that a first request offers")
  console.log("                          recall  of first ten  offered  needless for a coding prompt")
  for (const set of offerSets)
    for (const half of ["chosen on", "judged on"] as const) {
      const { recall, firstTen, offered, needless } = await judgeOffers(set, half)
      const cells = [recall.toFixed(1), firstTen.toFixed(1), offered.toFixed(1), needless.toFixed(2)]
      console.log(
        `  ${`${set}, ${half}`.padEnd(22)} ${cells.map((cell, i) => cell.padStart([7, 14, 9, 10][i]!)).join("")}`,
      )
      if (set === "servers" && half === "judged on")
        expect("right tools that are offered", recall, recall >= 80, "at least 80")
    }
}

/** A skill that is missing costs less than a wrong one, so precision is chosen first. */
async function judgePrompts(): Promise<void> {
  console.log(
    "skills for prompts: 30 skills and 164 prompts, then 17 skills with long descriptions and 60 prompts",
  )
  console.log(
    "                                         told  precision  recall  prompts for none that brought one",
  )
  for (const set of ["skills", "public-skills"] as const)
    for (const hasVectors of [true, false])
      for (const half of ["chosen on", "judged on"] as const) {
        const { told, precision, recall, byChance } = await judgeSkills(half, { hasVectors, set })
        const name = `${set}, ${hasVectors ? "vectors" : "words alone"}, ${half}`
        const cells = [String(told), precision.toFixed(1), recall.toFixed(1), String(byChance)]
        console.log(
          `  ${name.padEnd(38)} ${cells.map((cell, i) => cell.padStart([4, 11, 8, 6][i]!)).join("")}`,
        )
        if (half === "judged on" && (set === "skills" || hasVectors))
          expect("precision of skills", precision, precision >= 95, "at least 95")
      }
}

async function measureTools(tools: Document[]): Promise<void> {
  const path = join(folder, "tools.db")
  const before = memory()
  const index = createIndex({ path, embedder })
  await atMost("indexing 10 000 tools", 3_000, () => index.put(tools))
  await atMost("  again, nothing changed", 100, () => index.put(tools))
  const queries = someQueries()
  const bare = createBare(tools)
  await atMost("  first query", 1_000, () => index.search(queries[0]!))
  for (const query of queries) await index.search(query)
  const times: Record<"ours" | "floor", number[]> = { ours: [], floor: [] }
  for (const query of queries) {
    times.floor.push(await spend(() => bare.search(query)))
    times.ours.push(await spend(() => index.search(query)))
  }
  report("query over 10 000 tools (floor: bare FTS5)", sum(times.ours), sum(times.floor), "ms", 1.5)
  bare.close()
  const used = memory() - before
  expect("memory beyond the file, MB", used, used < 60, "under 60")
  index.close()
  console.log(`size of the file: ${(statSync(path).size / 2 ** 20).toFixed(1)} MB`)
  const again = createIndex({ path, embedder })
  await atMost("opened again, first query", 1_000, () => again.search(queries[0]!))
  again.close()
}

async function measureChunks(chunks: Document[]): Promise<void> {
  const index = createIndex({ path: join(folder, "chunks.db"), embedder })
  const start = performance.now()
  await index.put(chunks)
  console.log(`indexing 50 000 chunks: ${(performance.now() - start).toFixed(0)} ms`)
  const times: number[] = []
  for (const query of someQueries()) times.push(await spend(() => index.search(query)))
  expect("query over 50 000 chunks, ms", median(times), median(times) < 15, "under 15")
  index.close()
}

/** The same words, one table, no vectors: what SQLite itself needs. */
function createBare(tools: Document[]) {
  const db = new DatabaseSync(join(folder, "bare.db"))
  db.exec("create virtual table words using fts5 (name, text, more, tokenize = 'porter unicode61')")
  db.exec("begin")
  const put = db.prepare("insert into words values (?, ?, ?)")
  for (const { name, text, more } of tools) put.run(name, text, more ?? "")
  db.exec("commit")
  const find = db.prepare(
    "select rowid, bm25(words, 2, 1, 0.5) as score from words where words match ? order by score limit 10",
  )
  const search = (query: string) => {
    const words = queryWords(query).map((word) => `"${word}"`)
    return words.length ? find.all(words.join(" OR ")) : []
  }
  return { search, close: () => db.close() }
}

function someQueries(): string[] {
  return sets.flatMap((set) => readQueries(set).slice(0, 100)).map(({ query }) => query)
}

function repeat(tools: Document[], count: number): Document[] {
  return Array.from({ length: count }, (_, at) => {
    const round = Math.floor(at / tools.length)
    const tool = tools[at % tools.length]!
    return round
      ? { ...tool, id: `${tool.id}-${round}`, name: `${tool.name}_${round}`, group: `server${round}` }
      : tool
  })
}

/** Three tools' texts each, so that a chunk is about as long as a paragraph. */
function chunksOf(tools: Document[], count: number): Document[] {
  return Array.from({ length: count }, (_, at) => {
    const of = [at, at * 7 + 1, at * 13 + 5].map((number) => tools[number % tools.length]!)
    const text = of.map((tool) => `${tool.text}. ${tool.more}`).join(" ")
    return { id: `chunk-${at}`, group: `file-${at % 500}.md`, name: of[0]!.name, text }
  })
}

async function atMost(what: string, most: number, work: () => Promise<unknown>): Promise<void> {
  const spent = await spend(work)
  expect(`${what}, ms`, spent, spent <= most, `at most ${most}`)
}

/** Milliseconds of processor time: what else the machine does is not counted. */
async function spend(work: () => unknown): Promise<number> {
  const start = process.cpuUsage()
  await work()
  return cpu(start)
}

function cpu(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}

function memory(): number {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

function expect(what: string, value: number, isMet: boolean, goal: string): void {
  console.log(`${what.padEnd(44)} ${value.toFixed(1).padStart(8)}  goal ${goal} ${isMet ? "met" : "MISSED"}`)
  if (!isMet) process.exitCode = 1
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length
}
