// An orchestrator with a model that answers after 200 ms: ten tasks at once against one task, and the heap after 100 tasks one
// after the other against the heap after 20.
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import { median, report } from "./measure.ts"

const rounds = Number(process.env.ROUNDS ?? 7)
const thinking = 200
const goal = 1.5
/** Megabytes of heap that 80 more tasks may add. */
const leakGoal = 5

/** How many tasks the orchestrator gives in one answer, and in how many answers. */
let order = { atOnce: 1, answers: 1 }

type Sent = { role: string; content: unknown }
const server = createServer(async (request, response) => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const { messages } = JSON.parse(Buffer.concat(parts).toString()) as { messages: Sent[] }
  await sleep(thinking)
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.end(`data: ${JSON.stringify(chunk(messages))}\n\ndata: [DONE]\n\n`)
})
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
Object.assign(process.env, {
  VITAMIN_DATA_DIR: join(root, "data"),
  OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
  OPENAI_API_KEY: "x",
  VITAMIN_MODEL: "openai/m",
})
try {
  await Instance.provide({ directory: root, fn: measure })
} finally {
  await Instance.disposeAll()
  server.close()
  rmSync(root, { recursive: true, force: true })
}

async function measure() {
  await timed(1)
  const times = { ten: [] as number[], one: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    times.one.push(await timed(1))
    times.ten.push(await timed(10))
  }
  report("ten tasks at once (floor: one task)", median(times.ten), median(times.one), "ms", goal)
  order = { atOnce: 1, answers: 20 }
  await ask()
  const before = heap()
  order = { atOnce: 1, answers: 80 }
  await ask()
  const grown = (heap() - before) / 2 ** 20
  console.log(
    `heap after 80 more tasks: ${grown.toFixed(1)} MB more  goal ${leakGoal} MB ${grown <= leakGoal ? "met" : "MISSED"}`,
  )
  if (grown > leakGoal) process.exitCode = 1
}

async function timed(atOnce: number): Promise<number> {
  order = { atOnce, answers: 1 }
  const start = performance.now()
  await ask()
  return performance.now() - start
}

async function ask() {
  const { id } = await Session.create({ agent: "orchestrator" })
  await Session.prompt({ sessionId: id, text: "go" })
}

function chunk(messages: Sent[]): object {
  const isLeading = JSON.stringify(messages[0]).includes("You are the orchestrator.")
  const given = messages.filter(({ role }) => role === "tool").length
  const isOver = !isLeading || given >= order.atOnce * order.answers
  const calls = Array.from({ length: order.atOnce }, (_, index) => ({
    index,
    id: `call_${given}_${index}`,
    type: "function",
    function: {
      name: "delegate",
      arguments: JSON.stringify({ agent: "operator", task: `Task ${given + index}` }),
    },
  }))
  const delta = isOver ? { role: "assistant", content: "Done." } : { role: "assistant", tool_calls: calls }
  return { choices: [{ index: 0, delta, finish_reason: isOver ? "stop" : "tool_calls" }] }
}

function heap(): number {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  return process.memoryUsage().heapUsed
}
