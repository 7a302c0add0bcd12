// A file is replaced by a named pipe or a link between the check of its path and the opening: the check of the open file
// refuses it.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { linkSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { openForWriting } from "#ability/file/open-for-writing.ts"
import { openReal, openTarget } from "#ability/file/open-target.ts"
import { temporaryName } from "#util/file/write-file.ts"
import { beforeCall } from "../../fixture/before-call.ts"
import { call, free, inProject } from "../tool/harness.ts"

const context = () => ({ sessionId: "s", messageId: "m", callId: "c", signal: new AbortController().signal })
const isPipe = /named pipe|something that is no file/

function becomesPipe(path: string): () => void {
  return () => {
    rmSync(path)
    execFileSync("mkfifo", [path])
  }
}

test("openTarget() refuses a file that becomes a named pipe before it is opened", () =>
  inProject(async (tmp) => {
    const path = tmp.write("a.txt", "a")
    const open = openFiles()
    using _ = beforeCall("openSync", path, 1, becomesPipe(path))
    await assert.rejects(openTarget("a.txt", context()), isPipe)
    assert.equal(openFiles(), open)
  }))

test("read refuses a file that becomes a named pipe before it is opened", () =>
  inProject(async (tmp) => {
    const path = tmp.write("a.txt", "a")
    using _ = beforeCall("openSync", path, 1, becomesPipe(path))
    const { status, text } = await call("read", { path: "a.txt" }, { slots: free })
    assert.equal(status, "error")
    assert.match(text, isPipe)
  }))

test("openForWriting() refuses a file that becomes a named pipe before it is opened", () =>
  inProject(async (tmp) => {
    const path = tmp.write("a.txt", "a")
    using _ = beforeCall("openSync", /\/a\.txt$/, 1, becomesPipe(path))
    await assert.rejects(openForWriting("a.txt", context()), isPipe)
  }))

test("openReal() does not open a file that becomes a named pipe or a link before it is opened", () =>
  inProject(async (tmp) => {
    const path = tmp.write("a.txt", "a")
    {
      using _ = beforeCall("openSync", path, 1, becomesPipe(path))
      assert.equal(openReal(tmp.path, "a.txt"), undefined)
    }
    tmp.write("folder/b.txt", "b")
    tmp.write("denied/b.txt", "denied")
    using _ = beforeCall("openSync", join(tmp.path, "folder/b.txt"), 1, () => {
      renameSync(join(tmp.path, "folder"), join(tmp.path, "away"))
      symlinkSync("denied", join(tmp.path, "folder"))
    })
    assert.equal(openReal(tmp.path, "folder/b.txt"), undefined)
  }))

test("openForWriting() creates no folder through a link that replaced a missing folder", () =>
  inProject(async (tmp) => {
    tmp.write("../outside/kept.txt", "kept")
    using place = await openForWriting("new/deep/a.txt", context())
    symlinkSync("../outside", join(tmp.path, "new"))
    assert.throws(() => place.replace(Buffer.from("x")), /cannot be written/)
    assert.deepEqual(readdirSync(join(tmp.path, "../outside")), ["kept.txt"])
  }))

test("write does not change the second name that a killed write left", () =>
  inProject(async (tmp) => {
    const path = tmp.write("a.txt", "old")
    const dead = temporaryName().replace(/\.\d+\.\d*\.tmp_/, ".999999999.1.tmp_")
    linkSync(path, join(tmp.path, dead))
    const before = statSync(path).ino
    await call("write", { path: "a.txt", content: "new" }, { slots: free })
    assert.deepEqual(readdirSync(tmp.path), ["a.txt"])
    assert.notEqual(statSync(path).ino, before)
  }))

function openFiles(): number {
  return readdirSync("/proc/self/fd").length
}
