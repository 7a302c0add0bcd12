// A server that uses too much memory is found, with the memory of its children.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { test } from "node:test"
import { watchMemory } from "#ability/lsp/wire/watch-memory.ts"

const eater = `
const { spawn } = require("node:child_process")
const eat = "globalThis.kept = Buffer.alloc(200 << 20, 1); setInterval(() => {}, 1_000)"
spawn(process.execPath, ["-e", eat], { stdio: "ignore" })
setInterval(() => {}, 1_000)`

test("watchMemory() reports a process whose child uses more than the limit", async (t) => {
  if (process.platform !== "linux") return t.skip("memory is measured on Linux only")
  const child = spawn(process.execPath, ["-e", eater], { stdio: "ignore", detached: true })
  t.after(() => process.kill(-child.pid!, "SIGKILL"))
  const keep = setInterval(() => {}, 1_000)
  t.after(() => clearInterval(keep))
  const reason = await new Promise<string>((resolve) => {
    const stop = watchMemory({ pid: child.pid, limit: 180 << 20, onExceeded: resolve })
    t.after(stop)
  })
  assert.match(reason, /^it used \d+ MB of memory, more than 180$/)
})
