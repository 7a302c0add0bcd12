// Test files that share a process: each test counts, and a file that fails is reported.
import assert from "node:assert/strict"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { run } from "../fixture/child.ts"
import { tmpdir } from "../fixture/tmpdir.ts"

const script = fileURLToPath(new URL("../../script/test.ts", import.meta.url))
const passing = (name: string) =>
  `import { test } from "node:test"\ntest("${name} in " + process.pid, () => {})\n`

/** The output of the test command for these files of test/util. */
async function runTests(files: Record<string, string>) {
  await using tmp = await tmpdir()
  for (const [name, source] of Object.entries(files)) tmp.write(`test/util/${name}.test.ts`, source)
  // Node runs no tests in a process that has this variable.
  const ofItsOwn = ["-u", "NODE_TEST_CONTEXT", process.execPath, script]
  await using child = run("env", ofItsOwn, { cwd: tmp.path, env: tmp.env })
  const code = await child.exit
  const out = child.lines.join("\n")
  const pids = [...out.matchAll(/✔ \w+ in (\d+)/g)].map(([, pid]) => pid)
  return { code, out, processes: new Set(pids).size }
}

test("test files of a shared folder run in one process, those with hooks in another", async () => {
  const hooked = `import { before } from "node:test"\nbefore(() => {})\n${passing("hooked")}`
  const { code, out, processes } = await runTests({ a: passing("a"), b: passing("b"), hooked })
  assert.equal(code, 0, out)
  assert.equal(processes, 2, out)
  assert.match(out, /^ℹ pass 3$/m)
  assert.match(out, /^3 files in 2 processes/m)
})

const broken: Record<string, [source: string, shown: RegExp]> = {
  "has a failing test": ['import { test } from "node:test"\ntest("wrong", () => { throw 1 })', /✖ wrong/],
  "cannot be loaded": ['import "./missing.ts"', /Cannot find module .*missing\.ts/],
  "throws while it loads": ['throw new Error("at once")', /at once/],
  "throws outside of a test": ['setTimeout(() => { throw new Error("later") }, 1)', /later/],
  "ends the process": ["setImmediate(() => process.kill(process.pid))", /✖ .*test-util-1\.mjs/],
}

for (const [what, [source, shown]] of Object.entries(broken))
  test(`the test command fails if one of several files in a process ${what}`, async () => {
    const { code, out } = await runTests({ a: passing("a"), b: source, c: passing("c") })
    assert.equal(code, 1, out)
    assert.match(out, shown)
  })
