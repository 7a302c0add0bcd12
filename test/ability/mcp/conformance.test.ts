// The protocol's conformance suite against our client: every scenario that a revision requires, including logins, in
// both versions of the suite. The suite starts its own servers on loopback.
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { isGood, type Line, passedOf, runSuite } from "../../fixture/mcp/run-suite.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

type Case = { line: Line; revision?: string; required: number; extra: number; notOffered: string[] }

const client = join(import.meta.dirname, "../../fixture/mcp/conformance-client.ts")
/** Tokens that are bound to a key are an extension of the protocol, and its SDK has none. */
const bound = ["auth/dpop", "auth/dpop-nonce"]
const cases: Record<string, Case> = {
  "0.1 knows": { line: "0.1", required: 26, extra: 0, notOffered: [] },
  "0.2 requires of 2026-07-28": {
    line: "0.2",
    revision: "2026-07-28",
    required: 32,
    extra: 5,
    notOffered: bound,
  },
  "0.2 requires of 2025-11-25": {
    line: "0.2",
    revision: "2025-11-25",
    required: 18,
    extra: 5,
    notOffered: bound,
  },
}
/** A scenario that failed among all others at once is tried so often by itself. */
const tries = 3

test("the MCP client passes every scenario", async (t) => {
  await using tmp = await tmpdir()
  // A client starts anew for each scenario. Only the first one compiles it.
  const env = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE || join(tmp.path, "compiled") }
  const run = (line: Line, args: string[]) => {
    const command = ["--command", `${process.execPath} ${client}`, "--timeout", "240000"]
    return runSuite({ line, args: ["client", ...command, ...args], cwd: tmp.path, env })
  }
  await run("0.1", ["--scenario", "auth/metadata-default"])
  for (const [name, { line, revision, required, extra, notOffered }] of Object.entries(cases))
    await t.test(`the suite ${name}`, async (t) => {
      const report = await run(line, revision ? ["--requirements", revision] : ["--suite", "all"])
      t.diagnostic(report.total)
      const passed = new Set(passedOf(report))
      // The suite starts all of them at once, and some look at the clock: a machine with no time to spare is late.
      const late = Object.keys(report.scenarios).filter(
        (one) => !passed.has(one) && !notOffered.includes(one),
      )
      for (const one of late) {
        const alone = ["--scenario", one, ...(revision ? ["--spec-version", revision] : [])]
        for (let n = 0; n < tries && !passed.has(one); n++)
          if (isGood(await run(line, alone))) passed.add(one)
        t.diagnostic(`${one} ${passed.has(one) ? "passed" : "failed"} alone`)
      }
      const told = report.output.slice(-4_000)
      const failed = Object.keys(report.scenarios).filter((one) => !passed.has(one))
      assert.deepEqual(failed, notOffered, told)
      const counted = [...passed].filter((one) => !report.extra.includes(one))
      assert.deepEqual([counted.length, passed.size - counted.length], [required, extra], told)
    })
})
