// Changes that another process makes between two of our scans.
import assert from "node:assert/strict"
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { pack, prune } from "#ability/snapshot/prune-store.ts"
import { stateOf } from "#ability/snapshot/scan/state-of.ts"
import { get } from "#ability/snapshot/store/shadow.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { beforeCall } from "../../fixture/before-call.ts"
import { change, command, inProject, revert, sessionId, sh } from "./harness.ts"

const atThisMoment = /changed by somebody else at this moment/

// The plan opens the file first, what is kept of it before the revert second, and the last check third.
for (const [nth, when] of [
  [2, "between the plan and the revert"],
  [3, "right before it is replaced"],
] as const)
  test(`Snapshot.revert() leaves a file alone that somebody else changes ${when}`, () =>
    inProject(async (tmp) => {
      const path = tmp.write("a.txt", "old")
      const { messageId } = await change(["a.txt"], () => tmp.write("a.txt", "new"))
      using _ = beforeCall("openSync", path, nth, () => writeFileSync(path, "mine"))
      await assert.rejects(revert(messageId), atThisMoment)
      assert.equal(readFileSync(path, "utf8"), "mine")
    }))

test("Snapshot.revert() leaves a new file alone that somebody else changes right before it is removed", () =>
  inProject(async (tmp) => {
    const path = join(tmp.path, "a.txt")
    const { messageId } = await change(["a.txt"], () => tmp.write("a.txt", "new"))
    using _ = beforeCall("openSync", path, 3, () => writeFileSync(path, "mine"))
    await assert.rejects(revert(messageId), atThisMoment)
    assert.equal(readFileSync(path, "utf8"), "mine")
  }))

test("Snapshot.revert() leaves a folder alone whose mode somebody else changes between the plan and the revert", () =>
  inProject(async (tmp) => {
    const path = tmp.write("dir/a.txt", "old")
    const { messageId } = await command("echo new > dir/a.txt; chmod 700 dir")
    using _ = beforeCall("openSync", path, 2, () => chmodSync(join(tmp.path, "dir"), 0o711))
    await assert.rejects(revert(messageId), atThisMoment)
    assert.equal(statSync(join(tmp.path, "dir")).mode & 0o777, 0o711)
    assert.equal(readFileSync(path, "utf8"), "new\n")
  }))

test("Snapshot.revert() does not write in place into another file that got the name at this moment", () =>
  inProject(async (tmp) => {
    const path = tmp.write("one", "old")
    sh("ln one two")
    const { messageId } = await change(["one"], () => writeFileSync(path, "new"))
    const theirs = tmp.write("theirs", "theirs")
    // The last name before the write: the folder is open and the path leads through it.
    using _ = beforeCall("openSync", /^\/proc\/self\/fd\/\d+\/one$/, 1, () => renameSync(theirs, path))
    await assert.rejects(revert(messageId), atThisMoment)
    assert.equal(readFileSync(path, "utf8"), "theirs")
  }))

test("Snapshot.revert() sets no mode through a link that is put there at this moment", () =>
  inProject(async (tmp) => {
    const path = tmp.write("key", "key")
    const outside = tmp.write("../outside", "outside")
    chmodSync(outside, 0o604)
    const { messageId } = await command("chmod 600 key")
    using _ = beforeCall("openSync", /^\/proc\/self\/fd\/\d+\/key$/, 1, () => {
      rmSync(path)
      sh("ln -s ../outside key")
    })
    await assert.rejects(revert(messageId), atThisMoment)
    assert.equal(statSync(outside).mode & 0o777, 0o604)
  }))

for (const [what, prepare, script] of [
  ["a file", "echo old > a", "echo new > a"],
  ["a hard link", "echo old > a; ln a b", "sed -i s/old/new/ a"],
] as const)
  test(`a revert that died with ${what} written aside is finished by the next, and leaves nothing beside it`, () =>
    inProject(async (tmp) => {
      sh(prepare)
      const { messageId } = await command(script)
      const names = readdirSync(tmp.path)
      for (const nth of [1, what === "a file" ? 1 : 2]) {
        using _ = beforeCall("renameSync", /\/\.vitamin-snap_/, nth, () => {
          throw new Error("dead")
        })
        await assert.rejects(revert(messageId), /dead/)
        assert.equal(readdirSync(tmp.path).length, names.length + 1)
      }
      await revert(messageId)
      assert.equal(readFileSync(join(tmp.path, "a"), "utf8"), "old\n")
      assert.deepEqual(readdirSync(tmp.path), names)
    }))

test("bytes that a session records during a sweep stay", () =>
  inProject(async (tmp) => {
    await Storage.write(["session", Instance.project.id, sessionId], { id: sessionId })
    for (const name of ["kept", "named"]) tmp.write(name, name.repeat(100))
    await change(["kept"], () => tmp.write("kept", "1"))
    await change(["named"], () => tmp.write("named", "2"), { sessionId: "sess_removed" })
    await pack(get())
    const log = join(get().folder, "session", sessionId)
    const hash = get().store.hashOf(Buffer.from("named".repeat(100)))
    // First the sweep reads what is needed, and again when the rest is packed anew.
    using _ = beforeCall("readFileSync", log, 2, () => appendFileSync(log, `${hash}\n`))
    await prune(get(), { grace: -60_000 })
    assert.equal((await get().store.read(hash)).toString(), "named".repeat(100))
  }))

test("stateOf() reports a named pipe that replaced a file before it was opened", () =>
  inProject(async (tmp) => {
    const path = tmp.write("a", "a")
    using _ = beforeCall("openSync", path, 1, () => {
      rmSync(path)
      sh("mkfifo a")
    })
    const state = stateOf(get(), "a", { maxBytes: 100 })
    assert.equal(state?.kind, "other")
    assert.ok(existsSync(path))
  }))
