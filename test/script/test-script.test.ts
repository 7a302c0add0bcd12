// script/test.ts, the runner of the tests.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { test } from "node:test"

test("script/test.ts refuses a folder without tests", () => {
  const args = ["script/test.ts", "test/util", "test/mistyped"]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" })
  assert.equal(status, 1)
  assert.equal(stdout, "")
  assert.match(stderr, /^There are no tests in test\/mistyped\. Name a folder or a file/)
})
