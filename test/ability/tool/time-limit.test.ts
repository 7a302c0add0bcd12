// Searches that would never end stop at their time limit and show what they found until then.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import type { Slots } from "#ability/tool/run-tool.ts"
import { call, inProject } from "./harness.ts"

const note = /\[stopped after 20 s, there may be more; narrow the pattern or the path\]$/

for (const [tool, args, found] of [
  ["grep", { pattern: "needle" }, "a.ts\n1:function needle() {}"],
  ["grep", { pattern: "needle", glob: "*.ts" }, "a.ts\n1:function needle() {}"],
  ["symbols", { name: "needle" }, "a.ts\n1: function  function needle() {}"],
] as const)
  test(`${tool} ${JSON.stringify(args)} stops at its time limit and shows what it found`, async (t) => {
    await inProject(async (tmp) => {
      tmp.write("a.ts", "function needle() {}\n")
      tmp.write("sub/b.ts", "function needle() {}\n")
      // Nobody writes to the FIFO, so that ripgrep would wait for this ignore file for ever.
      execFileSync("mkfifo", [join(tmp.path, "sub/.ignore")])
      const { slots, pass } = passTime(t)
      const pending = call(tool, args, { slots })
      await pass
      const { status, text } = await pending
      assert.equal(status, "success")
      assert.equal(text.slice(0, found.length), found)
      assert.match(text, note)
    })
  })

test("glob stops at its time limit and shows what it found", async (t) => {
  await inProject(async (tmp) => {
    // ripgrep lists names in blocks, so there must be more than one of them.
    for (let i = 0; i < 1_000; i++) tmp.write(`${"a".repeat(90)}-${i}-a.ts`, "")
    tmp.write("sub/b.ts", "")
    execFileSync("mkfifo", [join(tmp.path, "sub/.ignore")])
    const { slots, pass } = passTime(t)
    const pending = call("glob", { pattern: "*.ts" }, { slots })
    await pass
    const { status, text } = await pending
    assert.equal(status, "success")
    assert.match(text, /^a+-\d+-a\.ts\n/)
    assert.match(text, note)
  })
})

test("ls stops waiting for ignore files at its time limit", async (t) => {
  await inProject(async (tmp) => {
    tmp.write("a.ts", "")
    execFileSync("mkfifo", [join(tmp.path, ".ignore")])
    t.mock.timers.enable({ apis: ["setTimeout"] })
    const pending = call("ls", {})
    let over = false
    void pending.finally(() => {
      over = true
    })
    while (!over) {
      t.mock.timers.tick(21_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.match((await pending).text, /^a\.ts {2}0 B$/m)
  })
})

/** Slots under which 21 seconds pass as soon as the tool has judged the match in a.ts. */
function passTime(t: TestContext): { slots: Slots; pass: Promise<void> } {
  const judged = Promise.withResolvers<void>()
  t.mock.timers.enable({ apis: ["setTimeout"] })
  const judge = ({ target }: { target: string }) => {
    if (target.endsWith("a.ts")) judged.resolve()
    return "allow" as const
  }
  const pass = judged.promise.then(() => t.mock.timers.tick(21_000))
  return { slots: { permit: () => ({ granted: [], judge }) }, pass }
}
