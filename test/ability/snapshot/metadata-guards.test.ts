// Modes, folders and links that somebody else has changed since, or that lead out of the work tree, and changes that
// are not covered.
import assert from "node:assert/strict"
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import { get } from "#ability/snapshot/store/shadow.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { change, command, inProject, revert, sessionId, sh, treeOf } from "./harness.ts"

test("Snapshot.revert() refuses a file and a folder whose modes somebody else changed since", () =>
  inProject(
    async (tmp) => {
      tmp.write("dir/key", "key\n")
      commit(tmp)
      const { messageId } = await command("chmod 666 dir/key; chmod 777 dir")
      chmodSync(join(tmp.path, "dir/key"), 0o640)
      chmodSync(join(tmp.path, "dir"), 0o750)
      const before = treeOf(tmp.path)
      await assert.rejects(revert(messageId), (error: Snapshot.Conflict) => {
        assert.deepEqual(error.data.conflicts.map(({ path }) => path).sort(), ["dir", "dir/key"])
        return true
      })
      assert.deepEqual(treeOf(tmp.path), before)
      await revert(messageId, { force: true })
      assert.deepEqual([modeOf(tmp, "dir"), modeOf(tmp, "dir/key")], [0o755, 0o644])
    },
    { git: true },
  ))

test("Snapshot.revert() refuses a file whose content somebody else changed after its mode was", () =>
  inProject(
    async (tmp) => {
      tmp.write("key", "key\n")
      commit(tmp)
      const { messageId } = await command("chmod 666 key")
      writeFileSync(join(tmp.path, "key"), "mine\n")
      await assert.rejects(revert(messageId), /key: it was changed by somebody else since/)
      assert.equal(readFileSync(join(tmp.path, "key"), "utf8"), "mine\n")
    },
    { git: true },
  ))

test("Snapshot.revert() refuses a folder whose mode somebody else changed between two calls", () =>
  inProject(async (tmp) => {
    mkdirSync(join(tmp.path, "dir"))
    const { messageId } = await command("chmod 700 dir")
    chmodSync(join(tmp.path, "dir"), 0o711)
    await command("chmod 777 dir")
    await assert.rejects(revert(messageId), /dir: it was changed by somebody else between two calls/)
  }))

test("two parallel commands may both record the same change of a folder", () =>
  inProject(async (tmp) => {
    mkdirSync(join(tmp.path, "dir"))
    let inner: Promise<unknown> | undefined
    const { messageId } = await change("worktree", async () => {
      inner = command("chmod 700 dir")
      await inner
    })
    await inner
    await revert(messageId)
    assert.equal(modeOf(tmp, "dir"), 0o755)
  }))

test("Snapshot.revert() makes no folder where somebody else put a file", () =>
  inProject(async (tmp) => {
    mkdirSync(join(tmp.path, "empty"))
    const { messageId } = await command("rmdir empty")
    tmp.write("empty", "mine")
    await assert.rejects(revert(messageId), /empty: it has to be a folder, and is none/)
    await revert(messageId, { force: true })
    assert.equal(readFileSync(join(tmp.path, "empty"), "utf8"), "mine")
  }))

test("Snapshot.revert() leaves a folder that a command made and somebody else filled", () =>
  inProject(async (tmp) => {
    const { messageId } = await command("mkdir -p made/deep other")
    tmp.write("made/deep/mine", "mine")
    const { removed } = await revert(messageId)
    assert.deepEqual(removed, ["other/"])
    assert.equal(readFileSync(join(tmp.path, "made/deep/mine"), "utf8"), "mine")
  }))

for (const force of [false, true])
  test(`modes are never set through a link that leads outside${force ? ", with force" : ""}`, () =>
    inProject(
      async (tmp) => {
        const outside = join(tmp.path, "..", "outside")
        mkdirSync(join(outside, "sub"), { recursive: true, mode: 0o711 })
        writeFileSync(join(outside, "key"), "key\n", { mode: 0o622 })
        tmp.write("dir/key", "key\n")
        mkdirSync(join(tmp.path, "dir/sub"))
        commit(tmp)
        const { messageId } = await command("chmod 666 dir/key; chmod 777 dir dir/sub")
        rmSync(join(tmp.path, "dir"), { recursive: true })
        symlinkSync(outside, join(tmp.path, "dir"))
        const before = treeOf(outside)
        await revert(messageId, { force }).catch((error) => assert.equal(error.name, "Snapshot.Conflict"))
        assert.deepEqual(treeOf(outside), before)
        assert.ok(lstatSync(join(tmp.path, "dir")).isSymbolicLink())
      },
      { git: true },
    ))

test("a removed named pipe is reported, because undo cannot create one", () =>
  inProject(async (tmp) => {
    sh("mkfifo pipe")
    const { messageId, part } = await command("rm pipe; echo x > x")
    assert.deepEqual(part?.uncovered, [{ path: "pipe", reason: "it was a named pipe; undo cannot make one" }])
    await assert.rejects(revert(messageId), /pipe: it was a named pipe/)
    await revert(messageId, { force: true })
    assert.equal(existsSync(join(tmp.path, "x")), false)
  }))

test("a named pipe that somebody else put in the place of one that a command made stays", () =>
  inProject(async (tmp) => {
    const { messageId } = await command("mkfifo pipe")
    sh("mkfifo theirs")
    renameSync(join(tmp.path, "theirs"), join(tmp.path, "pipe"))
    await assert.rejects(revert(messageId), /pipe: it was changed by somebody else since/)
    assert.ok(existsSync(join(tmp.path, "pipe")))
  }))

test("ignored files are covered only for write and edit; diff and revert say so", () =>
  inProject(
    async (tmp) => {
      tmp.write(".gitignore", "ignored/\n")
      tmp.write("ignored/a", "a")
      commit(tmp)
      const { messageId } = await change(["ignored/a"], () => tmp.write("ignored/a", "edited"))
      await revert(messageId)
      assert.equal(readFileSync(join(tmp.path, "ignored/a"), "utf8"), "a")
      const { messageId: second } = await command(
        "chmod 600 ignored/a; mkdir ignored/empty; chmod 700 ignored",
      )
      const { text, notes } = await Snapshot.diff({ sessionId, messageId: second })
      assert.equal(text, "")
      assert.match(notes.join(), /what git ignores.* not covered for commands/)
      const reverted = await revert(second)
      assert.deepEqual(reverted.notes, notes)
      assert.ok(existsSync(join(tmp.path, "ignored/empty")))
    },
    { git: true },
  ))

test("the modes of many files are restored without storing their bytes", () =>
  inProject(
    async (tmp) => {
      for (let i = 0; i < 250; i++) tmp.write(`d/f${i}`, `${i}\n`)
      commit(tmp)
      await sleep(2_000)
      const before = treeOf(tmp.path)
      const { messageId } = await command("chmod 600 d/*; echo new > d/f7")
      const after = treeOf(tmp.path)
      assert.equal(get().store.written.count, 1)
      // Git has refreshed its index, so the files count as clean with their new modes.
      const { messageId: second } = await command("chmod 640 d/f8")
      const reverted = await revert(second)
      assert.deepEqual(treeOf(tmp.path), after)
      assert.deepEqual(reverted.restored, ["d/f8"])
      await revert(messageId)
      assert.deepEqual(treeOf(tmp.path), before)
    },
    { git: true },
  ))

test("a change of a mode within the second in which a file was made is covered", () =>
  inProject(
    async (tmp) => {
      tmp.write("key", "key\n")
      commit(tmp)
      await command("true")
      chmodSync(join(tmp.path, "key"), 0o640)
      const { messageId } = await command("chmod 600 key")
      await revert(messageId)
      assert.equal(modeOf(tmp, "key"), 0o640)
    },
    { git: true },
  ))

test("an undo of write and edit restores all names of a file with hard links", () =>
  inProject(async (tmp) => {
    tmp.write("one", "a long first content\n")
    linkSync(join(tmp.path, "one"), join(tmp.path, "two"))
    const before = treeOf(tmp.path)
    const { messageId } = await change(["one"], () => writeFileSync(join(tmp.path, "one"), "short"))
    const after = treeOf(tmp.path)
    const reverted = await revert(messageId)
    assert.deepEqual(treeOf(tmp.path), before)
    await revert(reverted.messageId)
    assert.deepEqual(treeOf(tmp.path), after)
  }))

test("an undo does not write into a file that a command linked to another one", () =>
  inProject(async (tmp) => {
    const outside = join(tmp.path, "..", "outside.txt")
    writeFileSync(outside, "outside")
    tmp.write("a", "a")
    linkSync(join(tmp.path, "a"), join(tmp.path, "b"))
    const { messageId } = await command("ln -f ../outside.txt a")
    await revert(messageId)
    assert.equal(readFileSync(outside, "utf8"), "outside")
    assert.equal(readFileSync(join(tmp.path, "a"), "utf8"), "a")
    assert.equal(statSync(join(tmp.path, "a")).ino, statSync(join(tmp.path, "b")).ino)
  }))

test("folders that come and go between commands belong to no command", () =>
  inProject(async (tmp) => {
    await command("true")
    mkdirSync(join(tmp.path, "mine"))
    const { messageId } = await command("echo x > x")
    rmdirSync(join(tmp.path, "mine"))
    mkdirSync(join(tmp.path, "later"))
    const { removed, restored } = await revert(messageId)
    assert.deepEqual({ removed, restored }, { removed: ["x"], restored: [] })
    assert.ok(existsSync(join(tmp.path, "later")))
  }))

function commit(tmp: Tmp): void {
  tmp.git("add", "-A")
  tmp.git("commit", "-qm", "files")
}

function modeOf(tmp: Tmp, path: string): number {
  return statSync(join(tmp.path, path)).mode & 0o7777
}
