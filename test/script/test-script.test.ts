// script/test.ts, the runner of the tests.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { test } from "node:test"

/** Passes only if the file beside it exists, which it then creates. */
const failsOnce = `
import { existsSync, writeFileSync } from "node:fs"
import { test } from "node:test"
const file = import.meta.filename + ".ran"
const isSecond = existsSync(file)
writeFileSync(file, "")
test("fails the first time", () => { if (!isSecond) throw new Error("too early") })
`
const fails = `import { test } from "node:test"\ntest("always fails", () => { throw new Error("no") })\n`
const passes = `import { test } from "node:test"\ntest("passes", () => {})\n`

/** In a folder of its own: the runner keeps files in the folder where it runs. */
function runTests(files: Record<string, string>) {
  using folder = mkdtempDisposableSync(join(tmpdir(), "vitamin-test-"))
  mkdirSync(join(folder.path, "test"))
  for (const [name, source] of Object.entries(files)) writeFileSync(join(folder.path, "test", name), source)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return spawnSync(process.execPath, [resolve("script/test.ts")], {
    cwd: folder.path,
    encoding: "utf8",
    env,
  })
}

test("script/test.ts refuses a folder without tests", () => {
  const args = ["script/test.ts", "test/util", "test/mistyped"]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" })
  assert.equal(status, 1)
  assert.equal(stdout, "")
  assert.match(stderr, /^There are no tests in test\/mistyped\. Name a folder or a file/)
})

test("script/test.ts runs a file that failed once more alone, and names it as flaky if it passes", () => {
  const { status, stdout, stderr } = runTests({ "a.test.ts": failsOnce, "b.test.ts": passes })
  assert.equal(status, 0, stdout + stderr)
  assert.match(stdout, /^1 failed; running alone: test\/a\.test\.ts$/m)
  assert.match(stdout, /^flaky, passed alone: test\/a\.test\.ts$/m)
})

test("script/test.ts fails if one of the files fails again", () => {
  const { status, stdout } = runTests({ "a.test.ts": failsOnce, "b.test.ts": fails })
  assert.equal(status, 1)
  assert.match(stdout, /^2 failed; running alone: /m)
  assert.doesNotMatch(stdout, /flaky, passed alone/)
})

test("script/test.ts fails at once if more than five files fail", () => {
  const names = ["a", "b", "c", "d", "e", "f"]
  const { status, stdout } = runTests(Object.fromEntries(names.map((name) => [`${name}.test.ts`, failsOnce])))
  assert.equal(status, 1)
  assert.doesNotMatch(stdout, /running alone/)
})
