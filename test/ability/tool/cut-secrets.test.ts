// Tools that cut long lines, through the gate: if a stored key lies across the cut, no part of it is shown.
import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import type { Json } from "#ability/tool/tool.ts"
import { call, free, inProject } from "./harness.ts"

const key = "saved-key-canary-0123456789"
const file = "long.js"
const above = "// alpha beta\n// gamma delta\n"
/** `width`: after how many characters the tool cuts the line. */
const cases: [tool: string, width: number, args: Json][] = [
  ["grep", 300, { pattern: "needle" }],
  ["grep", 300, { pattern: "needle", path: file }],
  ["symbols", 160, { name: "needle" }],
  ["read", 2_000, { path: file }],
  ["edit", 160, { path: file, edits: [{ oldText: `${above}function needle() {\n`, newText: "x" }] }],
  ["edit", 300, { path: file, edits: [{ oldText: "delta\n", newText: "x\n" }] }],
]

for (const [tool, width, args] of cases)
  test(`${tool} ${JSON.stringify(args)} shows no part of a saved key where it cuts the line`, async () => {
    await inProject(async (tmp) => {
      const folder = join(tmp.env.XDG_DATA_HOME!, "vitamin")
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const auth = JSON.stringify({ groq: { key, time: 1 } })
      writeFileSync(join(folder, "auth.json"), auth, { mode: 0o600 })
      const start = `function needle() ${key} `.padEnd(width - 10, "-")
      tmp.write(file, `${above}${start}${key}${"-".repeat(500)}\n`)
      const { text, data } = await call(tool, args, { slots: free })
      const shown = text + JSON.stringify(data)
      assert.match(shown, /needle\(\) \[groq key\] -+/)
      assert.doesNotMatch(shown, /sav/)
    })
  })
