// The protocol's own conformance suite against our client: every scenario that a revision requires, sign-in included. The
// suite brings its servers along, on loopback.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { tmpdir } from "../../fixture/tmpdir.ts"

const required = { "2026-07-28": 32, "2025-11-25": 18 }
const suite = fileURLToPath(new URL("../../../node_modules/.bin/conformance", import.meta.url))
const client = fileURLToPath(new URL("../../fixture/mcp/conformance-client.ts", import.meta.url))

for (const [revision, scenarios] of Object.entries(required))
  test(`the MCP client passes every scenario that ${revision} requires`, async (t) => {
    await using tmp = await tmpdir()
    const { output, code } = await run(tmp.path, [
      ...["--command", `${process.execPath} ${client}`],
      ...["--requirements", revision, "--timeout", "240000"],
    ])
    const [scored, rest = ""] = output.split("Not scored for")
    const passed = [...scored!.matchAll(/^✓ (\S+): [1-9]/gm)].map(([, name]) => name!)
    const extra = [...rest.matchAll(/^ {2}[✓✗] (\S+)/gm)].map(([, name]) => name!)
    t.diagnostic(/Total: .*/.exec(output)?.[0] ?? "no total")
    assert.equal(code, 0, output.slice(-4_000))
    assert.ok(passed.filter((name) => !extra.includes(name)).length >= scenarios, output.slice(-4_000))
  })

function run(cwd: string, args: string[]): Promise<{ output: string; code: number | string }> {
  return new Promise((resolve) => {
    const options = { cwd, timeout: 600_000, maxBuffer: 64 << 20 }
    execFile(process.execPath, [suite, "client", ...args], options, (error, stdout, stderr) =>
      resolve({ output: stdout + stderr, code: error ? (error.code ?? String(error.signal)) : 0 }),
    )
  })
}
