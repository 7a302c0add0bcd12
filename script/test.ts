// Runs the tests and prints where the time went: the slowest files and tests, and the sum of each folder.
//   node script/test.ts [--concurrency n] [folder or file…]
// Each test file runs in its own process. All share one compile cache, also with the commands that they start:
// otherwise each would compile the same sources again.
import { availableParallelism } from "node:os"
import { dirname, relative, resolve } from "node:path"
import { run } from "node:test"
import { spec } from "node:test/reporters"
import { parseArgs } from "node:util"

type Took = { name: string; ms: number }

/** Test files that run at once on a core: many wait for a child process, a disk or a time limit. */
const perCore = 2
/** A test that hangs fails. The longest one takes less than a minute on an idle machine. */
const hung = 600_000
const shown = 15
/** Folders are summed up to this depth. */
const depth = 3

const { values, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: { concurrency: { type: "string", default: String(perCore * availableParallelism()) } },
})
if (asked.length === 0) asked.push("test")
process.env.NODE_COMPILE_CACHE ??= resolve("node_modules/.cache/vitamin-tests")

const began = performance.now()
const files: Took[] = []
const tests: Took[] = []
const stream = run({
  globPatterns: asked.map((path) => (path.endsWith(".ts") ? path : `${path}/**/*.test.ts`)),
  concurrency: Number(values.concurrency),
  timeout: hung,
})
stream.on("test:fail", ({ todo }) => {
  if (todo === undefined) process.exitCode = 1
})
stream.on("test:complete", ({ nesting, file, name, details: { duration_ms: ms } }) => {
  if (nesting > 0 || !file) return
  // The test that has the name of its file is the whole process, with its start and imports.
  if (resolve(name) === file) files.push({ name, ms })
  else tests.push({ name: `${relative(".", file)}: ${name}`, ms })
})
stream.compose(new spec()).pipe(process.stdout)
stream.on("close", printTimes)

function printTimes() {
  if (files.length < 2) return
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
    `\n${files.length} files: ${seconds(sum)} s in a row, ${seconds(performance.now() - began)} s as run`,
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
