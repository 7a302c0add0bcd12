// `write` and `edit` are killed at each of their file calls. The next revert needs no force, because the arguments
// of the call prove who wrote the file, and no temporary file is left.
import assert from "node:assert/strict"
import { linkSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import { contentAfter } from "#engine/session/revert.ts"
import { run } from "../../fixture/child.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { change, inProject, revert, sessionId, treeOf } from "./harness.ts"

const script = join(import.meta.dirname, "write-child.ts")
const old = "first line\r\nsecond line\r\n"
const edits = [{ oldText: "second", newText: "another, longer" }]

const cases: [what: string, name: "write" | "edit", path: string][] = [
  ["a new file", "write", "new.txt"],
  ["a new file in new folders", "write", "made/deep/new.txt"],
  ["a file that is replaced", "write", "old.txt"],
  ["a file that is edited", "edit", "old.txt"],
  ["a file with hard links", "write", "one.txt"],
  ["a file with hard links that is edited", "edit", "one.txt"],
]

for (const [what, name, path] of cases)
  test(`undo works after a kill at any point of ${name} of ${what}`, () =>
    inProject(async (tmp) => {
      prepare(tmp)
      const before = treeOf(tmp.path)
      const args = name === "write" ? { path, content: "short\nnew\n" } : { path, edits }
      const seen = new Set<string>()
      for (let calls = 1; ; calls++) {
        const { messageId, survived } = await runAndKill(tmp, name, args, calls)
        const left = treeOf(tmp.path)
        seen.add(JSON.stringify(left))
        await Snapshot.recover(sessionId, contentAfter)
        assert.deepEqual(readdirSync(tmp.path).filter(isLeftover), [], `call ${calls}`)
        await revert(messageId)
        assert.deepEqual(treeOf(tmp.path), before, `killed at call ${calls}`)
        if (survived) break
      }
      assert.ok(seen.size > 1)
    }))

test("after a kill in write, what somebody else wrote since is refused without force", () =>
  inProject(async (tmp) => {
    prepare(tmp)
    const args = { path: "old.txt", content: "new\n" }
    const { messageId } = await runAndKill(tmp, "write", args, 0)
    writeFileSync(join(tmp.path, "old.txt"), "mine\n")
    await Snapshot.recover(sessionId, contentAfter)
    await assert.rejects(revert(messageId), /not known who changed it/)
    assert.equal(readFileSync(join(tmp.path, "old.txt"), "utf8"), "mine\n")
  }))

test("the next write in a folder removes leftovers of a killed write, but not of a running one", () =>
  inProject(async (tmp) => {
    prepare(tmp)
    await killedBeside(tmp)
    const leftover = readdirSync(tmp.path).find(isLeftover)!
    const living = leftover.replace(/\.\d+\.\d*\.tmp/, `.${process.pid}.${startOf(process.pid)}.tmp`)
    const foreign = leftover.replace(/tmp\.[0-9a-f]{8}/, "tmp.00000000")
    for (const name of [living, foreign, ".vitamin-tmp.mine"]) tmp.write(name, "not a leftover")
    const { runTool } = await import("#ability/tool/run-tool.ts")
    const context = { sessionId, messageId: "m", callId: "c", signal: new AbortController().signal }
    const call = { id: "c", name: "write", arguments: { path: "next.txt", content: "x" } }
    await runTool({ call, context, slots: { permit: () => ({ granted: [] }) } })
    const names = readdirSync(tmp.path).filter((name) => name.startsWith(".vitamin-tmp"))
    assert.deepEqual(names.sort(), [".vitamin-tmp.mine", foreign, living].sort())
  }))

test("the next snapshot of any session removes what a killed write left", () =>
  inProject(async (tmp) => {
    prepare(tmp)
    await killedBeside(tmp)
    assert.equal(readdirSync(tmp.path).filter(isLeftover).length, 1)
    await change(["other/a.txt"], () => tmp.write("other/a.txt", "a"), { sessionId: "sess_other" })
    assert.deepEqual(readdirSync(tmp.path).filter(isLeftover), [])
  }))

function prepare(tmp: Tmp): void {
  for (const name of ["old.txt", "one.txt"]) tmp.write(name, old)
  linkSync(join(tmp.path, "one.txt"), join(tmp.path, "two.txt"))
}

/** A write that dies when its new content lies beside the file. */
async function killedBeside(tmp: Tmp): Promise<void> {
  for (let calls = 1; !readdirSync(tmp.path).some(isLeftover); calls++)
    await runAndKill(tmp, "write", { path: "old.txt", content: "new\n" }, calls)
}

async function runAndKill(tmp: Tmp, name: string, args: object, calls: number) {
  await using child = run(process.execPath, [script, tmp.path, name, JSON.stringify(args), String(calls)])
  const messageId = await child.line(/^msg_/)
  const code = await child.exit
  assert.ok(code === 0 || code === "SIGKILL", child.errors())
  return { messageId, survived: code === 0 }
}

function isLeftover(name: string): boolean {
  return name.startsWith(".vitamin-tmp.")
}

function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]!
}
