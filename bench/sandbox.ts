// A command in a sandbox of its own (`bash.sandbox`) beside the same command outside, interleaved; then the whole agent.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { checkSandbox, type Policy } from "#ability/sandbox/sandbox.ts"
import { runCommand } from "#ability/shell/exec.ts"
import { createRecord } from "#ability/shell/record.ts"
import { createShells } from "#ability/shell/shells.ts"
import { median, quantile } from "./measure.ts"
import { compareAgents } from "./sandboxed-agent.ts"

const rounds = 100
/** Milliseconds more than outside. */
const goal = 20
const commands = ["true", "ls /", "git status --short"]

const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
for (const name of ["DATA", "STATE", "CONFIG", "CACHE"]) process.env[`XDG_${name}_HOME`] = join(root, name)
const shells = createShells({ pipes: 16 })
const policy: Policy = {
  directory: root,
  allowWrite: [root],
  denyRead: ["~/.ssh", "~/.aws", ".env"],
  allowedDomains: [],
}

const { isolated, missing } = await checkSandbox()
if (isolated) {
  await timed("git init -q", undefined)
  for (const command of commands) await compare(command)
  await compareAgents()
} else console.log(missing.join(" "))
await shells.end()
rmSync(root, { recursive: true, force: true })

async function compare(command: string): Promise<void> {
  const times: Record<"inside" | "outside", number[]> = { inside: [], outside: [] }
  for (let round = 0; round < rounds; round++) {
    times.outside.push(await timed(command, undefined))
    times.inside.push(await timed(command, policy))
  }
  const more = median(times.inside) - median(times.outside)
  const p95 = quantile(times.inside, 0.95) - quantile(times.outside, 0.95)
  console.log(
    `${command.padEnd(24)} ${median(times.inside).toFixed(1)} ms  floor ${median(times.outside).toFixed(1)} ms  ` +
      `+ ${more.toFixed(1)} ms (p95 + ${p95.toFixed(1)})  goal + ${goal} ms ${more <= goal ? "met" : "MISSED"}`,
  )
  if (more > goal) process.exitCode = 1
}

async function timed(command: string, inside: Policy | undefined): Promise<number> {
  const record = createRecord({ sessionId: "bench", callId: "bench" })
  const start = performance.now()
  const { exitCode } = await runCommand({ command, cwd: root, policy: inside, shells, record })
  const time = performance.now() - start
  const output = await record.cut()
  if (exitCode !== 0) throw new Error(`${command}: ${output}`)
  return time
}
