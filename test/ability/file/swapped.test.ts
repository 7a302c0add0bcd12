// While tools work on a file, it is swapped for a link to a file outside and back, as fast as possible. No byte from
// outside is shown, and none is written there.
import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { test } from "node:test"
import type { Json } from "#ability/tool/tool.ts"
import { run } from "../../fixture/child.ts"
import { repeat } from "../../fixture/soak.ts"
import { call, free, inProject } from "../tool/harness.ts"

/** The name is always there: a file, then a link, each put in the place of the other in one step. */
const swap = `
  const { renameSync, symlinkSync, writeFileSync } = require("node:fs")
  const [path, outside] = process.argv.slice(1)
  const next = path + ".next"
  console.log("swapping")
  for (;;) {
    symlinkSync(outside, next)
    renameSync(next, path)
    writeFileSync(next, "the inside\\n")
    renameSync(next, path)
  }`

const tools: [name: string, args: (n: number) => Json, tries: number][] = [
  ["read", () => ({ path: "folder/swapped.txt" }), 200],
  ["grep", () => ({ pattern: "the", path: "folder/swapped.txt" }), 60],
  ["edit", (n) => ({ path: "folder/swapped.txt", edits: [{ oldText: "the", newText: `the ${n}` }] }), 200],
  ["write", (n) => ({ path: "folder/swapped.txt", content: `the inside ${n}` }), 200],
]
for (const [name, args, tries] of tools)
  test(`${name} ${JSON.stringify(args(1))} reaches nothing outside while the file is swapped for a link`, {
    timeout: 600_000,
  }, async () => {
    await inProject(async (tmp) => {
      const path = tmp.write("folder/swapped.txt", "the inside\n")
      const secret = tmp.write("../outside/secret.txt", "the SECRET\n")
      const seen = new Set<string>()
      await call("read", { path: "folder/swapped.txt" })
      await using child = run(process.execPath, ["-e", swap, path, secret])
      await child.line(/swapping/)
      for (let n = 0; n < repeat(tries, 1_000) || (n < 20_000 && seen.size < 2); n++) {
        const { status, text } = await call(name, args(n), { slots: free })
        assert.doesNotMatch(text, /SECRET/, `try ${n}`)
        seen.add(status)
      }
      assert.deepEqual(readdirSync(resolve(tmp.path, "../outside")), ["secret.txt"])
      assert.equal(readFileSync(join(tmp.path, "../outside/secret.txt"), "utf8"), "the SECRET\n")
      assert.deepEqual([...seen].sort(), ["error", "success"], "it was met as a file and as a link")
    })
  })
