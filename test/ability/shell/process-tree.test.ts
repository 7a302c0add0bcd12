// Which processes descend from a server's process group, and what a scan for them costs.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { createInterface } from "node:readline"
import { test } from "node:test"
import * as ProcessTree from "#ability/shell/process-tree.ts"

/** Starts a process in a group of its own at each line, and says which. */
const starter = `
const { spawn } = require("node:child_process")
require("node:readline").createInterface({ input: process.stdin }).on("line", () => {
  const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60_000)"], { detached: true, stdio: "ignore" })
  console.log(child.pid)
})`

test("findMore() finds new processes, and skips unrelated ones", async (t) => {
  const server = spawn(process.execPath, ["-e", starter], {
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
  })
  const hidden: number[] = []
  try {
    const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
    const start = async () => {
      server.stdin.write("\n")
      hidden.push(Number((await lines.next()).value))
    }
    await start()
    const reads = t.mock.method(fs, "readFileSync")
    syncBuiltinESMExports()
    const finder = ProcessTree.createFinder(server.pid!)
    const first = finder.find(new Map())
    assert.deepEqual([...first.keys()], hidden)
    const readBefore = new Set(reads.mock.calls.map((call) => String(call.arguments[0])))
    reads.mock.resetCalls()

    await start()
    const more = finder.findMore(first)
    assert.deepEqual(new Set(more.keys()), new Set(hidden))
    const own = [server.pid!, ...hidden].map((pid) => `/proc/${pid}/stat`)
    const again = reads.mock.calls
      .map((call) => String(call.arguments[0]))
      .filter((path) => path.startsWith("/proc/") && readBefore.has(path) && !own.includes(path))
    assert.deepEqual(again, [])
  } finally {
    t.mock.restoreAll()
    syncBuiltinESMExports()
    for (const pid of [server.pid!, ...hidden]) process.kill(pid, "SIGKILL")
    await once(server, "close")
  }
})

/** Starts a process that starts another one, each in a group of its own, and says who they are. */
const nested = `
const { spawn } = require("node:child_process")
const inner = 'console.log(process.ppid, process.pid); setTimeout(() => {}, 60_000)'
const outer = 'require("node:child_process").spawn(process.execPath, ["-e", ' + JSON.stringify(inner) + '], { detached: true, stdio: "inherit" }); setTimeout(() => {}, 60_000)'
spawn(process.execPath, ["-e", outer], { detached: true, stdio: "inherit" })
setTimeout(() => {}, 60_000)`

test("find() finds the child of a child, each in a group of its own", async () => {
  const server = spawn(process.execPath, ["-e", nested], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  })
  let hidden: number[] = []
  try {
    const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
    hidden = String((await lines.next()).value)
      .split(" ")
      .map(Number)
    const found = ProcessTree.createFinder(server.pid!).find(new Map())
    assert.deepEqual(new Set(found.keys()), new Set(hidden))
  } finally {
    for (const pid of [server.pid!, ...hidden]) process.kill(pid, "SIGKILL")
    await once(server, "close")
  }
})
