// glob and grep through the gate beside ripgrep itself with the same arguments, on a tree of 50 000 files; and what a
// tool costs in memory that prints 1 GB.
import { fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runTool } from "#ability/tool/run-tool.ts"
import { Instance } from "#kernel/instance.ts"
import * as Ripgrep from "#knowledge/grounding/ripgrep.ts"
import { median, report } from "./measure.ts"

const files = 50_000
const rounds = 21
const goal = 1.2
const memoryGoal = 20

const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
for (const name of ["XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"]) process.env[name] = join(root, name)
const tree = join(root, "tree")
makeTree()

const listing = ["--files", "--null", "--no-messages", "--no-require-git"]
const searching = [
  ..."--line-number --with-filename --null --no-heading --no-messages --no-require-git".split(" "),
  ..."--max-columns=300 --max-columns-preview --max-count=101".split(" "),
]
const cases: [what: string, tool: string, args: Record<string, string>, same: string[]][] = [
  ["glob **/* (50 000 found)", "glob", { pattern: "**/*" }, listing],
  [
    "glob src/**/*.ts (10 000 found)",
    "glob",
    { pattern: "src/**/*.ts" },
    [...listing, "--type-add=vitamin:*.ts", "--type=vitamin"],
  ],
  ["grep, 500 matches", "grep", { pattern: "needle \\d+" }, [...searching, "--regexp=needle \\d+", "."]],
  ["grep, 50 000 matches", "grep", { pattern: "export const" }, [...searching, "--regexp=export const", "."]],
  ["grep, no match", "grep", { pattern: "nowhere" }, [...searching, "--regexp=nowhere", "."]],
]

await Instance.provide({
  directory: tree,
  fn: async () => {
    for (const [what, tool, args, same] of cases) {
      const times: Record<"ours" | "floor", number[]> = { ours: [], floor: [] }
      for (let round = 0; round < rounds; round++) {
        times.floor.push(await timed(() => ripgrep(same)))
        times.ours.push(await timed(() => call(tool, args)))
      }
      report(
        `${what} (floor: ripgrep)`,
        median(times.ours.slice(1)),
        median(times.floor.slice(1)),
        "ms",
        goal,
      )
    }
  },
})
await memory()
rmSync(root, { recursive: true, force: true })

function makeTree() {
  for (let folder = 0; folder < 500; folder++) {
    const path = join(tree, folder % 5 === 0 ? "src" : `part${folder % 5}`, `folder${folder}`)
    mkdirSync(path, { recursive: true })
    for (let n = 0; n < files / 500; n++) {
      const line = `export const value${n} = ${folder * n}\n`
      const needle = n === 0 ? `// needle ${folder}\n` : ""
      writeFileSync(join(path, `file${n}.ts`), `${line}${"// filler text of a line\n".repeat(20)}${needle}`)
    }
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

async function call(name: string, args: Record<string, string>) {
  const context = {
    sessionId: "bench",
    messageId: "bench",
    callId: "bench",
    signal: AbortSignal.timeout(60_000),
  }
  const result = await runTool({ call: { id: "bench", name, arguments: args }, context })
  if (result.status !== "success") throw new Error(result.text)
}

/** The output is read and thrown away. */
async function ripgrep(args: string[]) {
  const child = spawn(Ripgrep.find().file, ["--no-config", "--color=never", ...args], {
    cwd: tree,
    stdio: ["ignore", "pipe", "ignore"],
  })
  child.stdout.on("data", () => {})
  await once(child, "close")
}

async function memory() {
  // V8 may double the young heap at any time, by more than the tool costs.
  const execArgv = ["--max-semi-space-size=8"]
  const child = fork(join(import.meta.dirname, "tools-memory.ts"), [tree], { execArgv })
  const [grown] = (await once(child, "message")) as [number]
  console.log(`a tool that prints 1 GB: peak + ${(grown / 1e6).toFixed(1)} MB (goal ${memoryGoal})`)
  if (grown > memoryGoal * 1e6) process.exitCode = 1
}
