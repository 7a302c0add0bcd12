// Commands through the gate beside a bare spawn of the same shell with the same command, interleaved; and what a command
// costs in memory that prints 1 GB.
import { fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runTool } from "#ability/tool/run-tool.ts"
import { Instance } from "#kernel/instance.ts"
import { median, report } from "./measure.ts"

const rounds = 300
const goal = 1.3
const memoryGoal = 20
const commands = ["true", "ls /", "echo some text; echo more >&2", "cd . && true"]

const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
process.env.XDG_DATA_HOME = join(root, "data")

await Instance.provide({
  directory: root,
  fn: async () => {
    for (const command of commands) {
      const times: Record<"ours" | "floor", number[]> = { ours: [], floor: [] }
      for (let round = 0; round < rounds; round++) {
        times.floor.push(await timed(() => bare(command)))
        times.ours.push(await timed(() => ours(command)))
      }
      report(`${command} (floor: bare spawn)`, median(times.ours), median(times.floor), "ms", goal)
    }
  },
})
await Instance.disposeAll()
await memory()
rmSync(root, { recursive: true, force: true })

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** The output is read and thrown away. */
async function bare(command: string) {
  const child = spawn("bash", ["-c", command], { cwd: root, stdio: ["ignore", "pipe", "pipe"] })
  child.stdout.resume()
  child.stderr.resume()
  await once(child, "close")
}

async function ours(command: string) {
  const signal = new AbortController().signal
  const context = { sessionId: "bench", messageId: "bench", callId: "bench", signal }
  const call = { id: "bench", name: "bash", arguments: { command } }
  const result = await runTool({ call, context, slots: { permit: () => undefined } })
  if (result.status !== "success") throw new Error(result.text)
}

async function memory() {
  // V8 may double the young heap at any time, by more than the command costs.
  const execArgv = ["--max-semi-space-size=8"]
  const child = fork(join(import.meta.dirname, "shell-memory.ts"), [root], { execArgv })
  const [grown] = (await once(child, "message")) as [number]
  console.log(`a command that prints 1 GB: peak + ${(grown / 1e6).toFixed(1)} MB (goal ${memoryGoal})`)
  if (grown > memoryGoal * 1e6) process.exitCode = 1
}
