// Runs the tests and prints where the time went: the slowest files and tests, and the sum of each folder.
//   node script/test.ts [--concurrency n] [folder or file…]
// A file that fails among the others runs once more alone; if it passes then, it is named as flaky.
// The slowest files of the last run start first. Test processes and the commands that they start share one compile cache:
// without it each of them compiles the same sources again.
import { once } from "node:events"
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { dirname, join, relative, resolve } from "node:path"
import { run } from "node:test"
import { spec } from "node:test/reporters"
import { parseArgs } from "node:util"
import { createMemoryFolder } from "./test/create-memory-folder.ts"
import { groupTests } from "./test/group-tests.ts"

type Took = { name: string; ms: number }

/** Test processes that run at once on a core: many wait for a child process, a disk or a time limit. */
const perCore = 2
/** A test that hangs fails. The longest one takes less than a minute on an idle machine. */
const hung = 600_000
const shown = 15
/** More failing files than this are no accident: they do not run a second time. */
const mostFlaky = 5
/** Folders are summed up to this depth. */
const depth = 3
const cache = resolve("node_modules/.cache/vitamin-tests")
const lastTimes = join(cache, "times.json")

const { values, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: { concurrency: { type: "string", default: String(perCore * availableParallelism()) } },
})
if (asked.length === 0) asked.push("test")
process.env.NODE_COMPILE_CACHE ??= cache
process.env.TMPDIR ??= createMemoryFolder() ?? tmpdir()

const began = performance.now()
const times = new Map<string, number>()
const tests: Took[] = []
const last = readTimes()
const patternOf = (path: string) => (path.endsWith(".ts") ? path : `${path}/**/*.test.ts`)
const empty = asked.filter((path) => !globSync(patternOf(path)).length)
if (empty.length) {
  console.error(`There are no tests in ${empty.join(", ")}. Name a folder or a file, such as test/kernel.`)
  process.exit(1)
}
const found = globSync(asked.map(patternOf)).sort()
const groups = groupTests(found, join(cache, "groups"))
const sorted = [...groups.keys()].sort((a, b) => expected(b) - expected(a))
const failed = await runTests(sorted, Number(values.concurrency))
mkdirSync(cache, { recursive: true })
writeFileSync(lastTimes, JSON.stringify({ ...last, ...Object.fromEntries(times) }))
printTimes()
if (failed.length) process.exitCode = (await areFlaky(failed)) ? 0 : 1

/** The entries that failed. */
async function runTests(entries: string[], concurrency: number): Promise<string[]> {
  const failed: string[] = []
  const stream = run({ files: entries, concurrency, timeout: hung })
  stream.on("test:complete", ({ nesting, file, name, details: { duration_ms: ms, passed } }) => {
    if (nesting > 0 || !file) return
    const path = relative(".", file)
    // The test that has the name of its file is the whole process, with its start and imports.
    if (resolve(name) === file) {
      if (!passed) failed.push(path)
      if (groups.get(path)?.[0] === path) times.set(path, ms)
      return
    }
    tests.push({ name: `${path}: ${name}`, ms })
    if (!groups.has(path)) times.set(path, (times.get(path) ?? 0) + ms)
  })
  stream.compose(new spec()).pipe(process.stdout)
  await once(stream, "close")
  return failed
}

/** Runs each entry alone. A failure that needs other tests beside it is a race, of the test or of the product. */
async function areFlaky(entries: string[]): Promise<boolean> {
  if (entries.length > mostFlaky) return false
  console.log(`\n${entries.length} failed; running alone: ${entries.join(", ")}`)
  if ((await runTests(entries, 1)).length) return false
  for (const entry of entries) console.log(`flaky, passed alone: ${groups.get(entry)!.join(", ")}`)
  return true
}

/** A new file comes first. */
function expected(entry: string): number {
  return groups.get(entry)!.reduce((sum, file) => sum + (last[file] ?? hung), 0)
}

function readTimes(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(lastTimes, "utf8"))
  } catch {
    return {}
  }
}

function printTimes() {
  if (times.size < 2) return
  const files = [...times].map(([name, ms]) => ({ name, ms }))
  const folders = new Map<string, number>()
  for (const { name, ms } of files) {
    const folder = dirname(name).split("/").slice(0, depth).join("/")
    folders.set(folder, (folders.get(folder) ?? 0) + ms)
  }
  print(
    "folders",
    [...folders].map(([name, ms]) => ({ name, ms })),
  )
  print("files", files)
  print("tests", tests)
  const sum = files.reduce((total, { ms }) => total + ms, 0)
  console.log(
    `\n${files.length} files in ${groups.size} processes: ${seconds(sum)} s in a row, ${seconds(performance.now() - began)} s as run`,
  )
}

function print(what: string, list: Took[]) {
  console.log(`\nslowest ${what} (seconds)`)
  for (const { name, ms } of list.sort((a, b) => b.ms - a.ms).slice(0, shown))
    console.log(`${seconds(ms).padStart(7)}  ${name}`)
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
