// How many of 200 typical calls ask, as docs/sandbox.md says.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

test("of 200 typical calls of a coding session, the presets ask as often as docs/sandbox.md says", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [at("bench/sandbox-questions.ts")])
  const said = readFileSync(at("docs/sandbox.md"), "utf8").replaceAll("\n", " ")
  const [, ask, edits, sandboxed] =
    /Of 200 typical calls of a coding session .*?, (\d+) ask by the default rules, (\d+) with "accept edits", and (\d+) with "sandboxed"/.exec(
      said,
    )!
  const count = (preset: string) =>
    new RegExp(`^${preset} +\\{ asks: (\\d+), denied: 0 \\}$`, "m").exec(stdout)?.[1]
  assert.match(stdout, /^calls: 200$/m)
  assert.deepEqual([count("ask"), count("accept edits"), count("sandboxed")], [ask, edits, sandboxed])
})
