// A tool opens only files that it may read: those of the workspace, and those that were granted for this call.
import assert from "node:assert/strict"
import { symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { openTarget } from "#ability/file/open-target.ts"
import { inProject } from "../tool/harness.ts"

const context = { sessionId: "ses_1", messageId: "msg_1", callId: "c", signal: new AbortController().signal }

test("openTarget() opens a granted path outside of the workspace by any of its names", async () => {
  await inProject(async (tmp) => {
    const other = join(dirname(tmp.path), "other")
    const path = tmp.write("../other/a.txt", "text")
    symlinkSync(path, join(tmp.path, "link.txt"))
    for (const granted of [[other], [path]]) {
      using target = await openTarget(path, { ...context, granted })
      assert.deepEqual([target.shown, target.size, target.isDirectory], [path, 4, false])
      using linked = await openTarget("link.txt", { ...context, granted })
      assert.equal(linked.shown, "link.txt")
    }
    using folder = await openTarget(other, { ...context, granted: [other] })
    assert.equal(folder.isDirectory, true)
  })
})

test("openTarget() opens nothing else outside of the workspace", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("../other/a.txt", "text")
    const beside = tmp.write("../other-one/a.txt", "text")
    symlinkSync(beside, join(dirname(path), "link.txt"))
    const granted = [dirname(path)]
    await assert.rejects(openTarget(path, context), { name: "PathOutside" })
    await assert.rejects(openTarget(path, { ...context, granted: [] }), { name: "PathOutside" })
    await assert.rejects(openTarget(beside, { ...context, granted }), { name: "PathOutside" })
    await assert.rejects(openTarget(join(dirname(path), "link.txt"), { ...context, granted }), {
      name: "PathOutside",
    })
    await assert.rejects(openTarget(join(dirname(path), "b.txt"), { ...context, granted }), {
      name: "Tool.Missing",
      message: /Did you mean .*a\.txt/,
    })
  })
})

// Each folder on the path must be checked once. When each check began at the root again, this test took a minute.
test("openTarget() reports a path a thousand folders deep as missing", {
  timeout: 30_000,
}, async () => {
  await inProject(async (tmp) => {
    tmp.write("src/a.txt", "text")
    const path = `src/${"d/".repeat(1_900)}a.txt`
    await assert.rejects(openTarget(path, context), { name: "Tool.Missing", message: /"src" exists/ })
  })
})
