import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { createMCPClient } from "#ability/mcp/client/create-client.ts"
import { scanPause } from "#ability/shell/guarded-process.ts"
import { hostile } from "../../../fixture/mcp/servers.ts"
import { until } from "../../../fixture/until.ts"

const linux = process.platform === "linux"

test("after our own SIGKILL no process of a server is left, not even one that ignores every request to end", async () => {
  const { pids, kill } = await hold("stubborn", "connected")
  assert.equal(pids.length, 4)
  await endsAfter(pids, kill)
})

test("after our own SIGKILL no hidden process of a server is left, even if the server ended before", async () => {
  const { pids, kill } = await hold("careless", "settled")
  assert.equal(pids.length, 2)
  await endsAfter(pids, kill)
})

test("close() ends all processes of a server, also those that ignore it", async () => {
  const pids: number[] = []
  const client = createMCPClient({
    server: hostile("stubborn"),
    hooks: {
      onLog: ({ message }) => {
        if (message.startsWith("pids ")) pids.push(...message.split(" ").slice(1).map(Number))
      },
    },
  })
  await client.connect()
  await until(() => pids.length === 4)
  await endsAfter(pids, () => client.close())
  assert.equal(client.status().state, "closed")
  await assert.rejects(client.callTool("good"), { name: "MCP.Closed" })
})

test("processes that a crashed server started end with it", async () => {
  const pids: number[] = []
  const client = createMCPClient({
    server: hostile("stubborn"),
    hooks: {
      onLog: ({ message }) => {
        if (message.startsWith("pids ")) pids.push(...message.split(" ").slice(1).map(Number))
      },
    },
  })
  try {
    await client.connect()
    await until(() => pids.length === 4)
    // Long enough for one scan of the processes, even on a busy machine.
    await sleep(2 * scanPause)
    await endsAfter(pids, async () => {
      process.kill(pids[0]!, "SIGKILL")
      await until(() => client.status().state === "failed")
    })
  } finally {
    await client.close()
  }
})

test("close() ends hidden processes of a server, even if the server ends by itself", async () => {
  const pids: number[] = []
  const client = createMCPClient({
    server: hostile("careless"),
    hooks: {
      onLog: ({ message }) => {
        if (message.startsWith("pids ")) pids.push(...message.split(" ").slice(1).map(Number))
      },
    },
  })
  await client.connect()
  await until(() => pids.length === 2)
  await endsAfter(pids, () => client.close())
})

test("a server that listens to its input ends by itself when the client is closed", async () => {
  const client = createMCPClient({ server: hostile("plain") })
  const { content } = await client.callTool("pids")
  const pid = Number(content[0]?.type === "text" ? content[0].text : 0)
  assert.ok(isAlive(pid))
  await client.close()
  await until(() => !isAlive(pid))
})

/** Starts `holder.ts`, and returns when it has printed `until`. */
async function hold(mode: string, until: "connected" | "settled") {
  const holder = spawn(process.execPath, [`${import.meta.dirname}/../../../fixture/mcp/holder.ts`, mode], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const pids: number[] = []
  for await (const line of createInterface({ input: holder.stdout })) {
    if (line.startsWith("pids ")) pids.push(...line.split(" ").slice(1).map(Number))
    if (line === until) break
  }
  const kill = async () => {
    holder.kill("SIGKILL")
    await once(holder, "exit")
  }
  return { pids, kill }
}

/** Kills processes that are left after a failure; otherwise they would run on after the tests. */
async function endsAfter(pids: number[], end: () => Promise<void>): Promise<void> {
  assert.deepEqual(
    pids.map(isAlive),
    pids.map(() => true),
  )
  await end()
  try {
    await until(() => pids.every((pid) => !isAlive(pid)))
  } finally {
    for (const pid of pids) if (isAlive(pid)) process.kill(pid, "SIGKILL")
  }
}

/** A process that ended and was not collected yet does not count. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  if (!linux) return true
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return false
  const stat = readFileSync(file, "utf8")
  return !["Z", "X"].includes(stat.slice(stat.lastIndexOf(")") + 2)[0]!)
}
