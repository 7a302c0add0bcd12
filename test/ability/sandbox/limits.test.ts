// The files of a control group (cgroup v2) in a folder that looks like one: what is written there. That the kernel acts on
// them is not tested, because the machines of the tests offer none.
import assert from "node:assert/strict"
import { readdirSync } from "node:fs"
import { test } from "node:test"
import { createGroup } from "#ability/sandbox/limits.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

test("without limits, or without cgroup v2, there is no control group", {
  skip: process.platform !== "linux",
}, async () => {
  await using tmp = await tmpdir()
  assert.equal(createGroup({ memory: 100 }, tmp.path), undefined)
  tmp.write("cgroup.controllers", "")
  assert.equal(createGroup({}, tmp.path), undefined)
})

test("a group without the controllers is removed again", { skip: process.platform !== "linux" }, async () => {
  await using tmp = await tmpdir()
  tmp.write("cgroup.controllers", "memory pids")
  assert.equal(createGroup({ memory: 100, processes: 10 }, tmp.path), undefined)
  assert.deepEqual(readdirSync(tmp.path), ["cgroup.controllers"])
})
