// Calls of a tool over stdio beside the bare SDK against the same server, interleaved in rounds; and whether 10 000 of
// them leave anything in memory.
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { createMCPClient } from "#ability/mcp/client/create-client.ts"
import { median, report } from "./measure.ts"

const calls = 10_000
/** How fast two processes talk depends on where they happen to run: several pairs of servers, in turns. */
const pairs = 5
const rounds = 20
const goal = 1.2
/** Megabytes of heap; a leak of 1 kB for each call would be 10. */
const leakGoal = 5

const command = [process.execPath, join(import.meta.dirname, "../test/fixture/mcp/hostile.mjs"), "plain"]
type Spent = { time: number; processor: number }
const spent: Record<"ours" | "floor", Spent[]> = { ours: [], floor: [] }
let grown = 0
for (let pair = 0; pair < pairs; pair++) await comparePair()
const each = (who: "ours" | "floor", what: keyof Spent) =>
  (median(spent[who].map((one) => one[what])) / (calls / pairs / rounds)) * 1000
// Our servers have a session of their own, which a busy Linux schedules apart: the time waits for that, the processor
// time does not.
report(`${calls} calls, each (floor: bare SDK)`, each("ours", "time"), each("floor", "time"), "µs", goal)
report("  processor time of each", each("ours", "processor"), each("floor", "processor"), "µs", goal)
console.log(
  `heap after them: ${grown.toFixed(1)} MB more  goal ${leakGoal} MB ${grown <= leakGoal ? "met" : "MISSED"}`,
)
if (grown > leakGoal) process.exitCode = 1

async function comparePair() {
  const bare = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: "auto" } })
  const [program, ...args] = command as [string, ...string[]]
  await bare.connect(new StdioClientTransport({ command: program, args, stderr: "ignore" }))
  const ours = createMCPClient({ server: { id: "bench", name: "bench", transport: "stdio", command } })
  const callBare = () => bare.callTool({ name: "good", arguments: { text: "x".repeat(100) } })
  const callOurs = () => ours.callTool("good", { text: "x".repeat(100) })
  await repeat(callBare, 500)
  await repeat(callOurs, 500)
  const before = heap()
  for (let round = 0; round < rounds; round++) {
    spent.floor.push(await repeat(callBare, calls / pairs / rounds))
    spent.ours.push(await repeat(callOurs, calls / pairs / rounds))
  }
  grown += (heap() - before) / 2 ** 20
  await ours.close()
  await bare.close()
}

async function repeat(call: () => Promise<unknown>, times: number): Promise<Spent> {
  const [start, used] = [performance.now(), process.cpuUsage()]
  for (let n = 0; n < times; n++) await call()
  const { user, system } = process.cpuUsage(used)
  return { time: performance.now() - start, processor: (user + system) / 1000 }
}

function heap(): number {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  return process.memoryUsage().heapUsed
}
