// Files that a command moved, and files of a person, or refusals of the system, that stand in the way of a revert.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { change, command, imageOf, inProject, revert } from "./harness.ts"

for (const git of [true, false])
  test(`a folder that a command moved is back, and nothing is left where it was${git ? ", in git" : ""}`, () =>
    inProject(
      async (tmp) => {
        tmp.write("src/sub/a.txt", "a")
        tmp.write("src/b.txt", "b")
        if (git) tmp.git("add", "-A")
        if (git) tmp.git("commit", "-qm", "some")
        await settled(join(tmp.path, "src/sub/a.txt"))
        const before = imageOf(tmp.path)
        const { messageId } = await command("mv src lib")
        const after = imageOf(tmp.path)
        const reverted = await revert(messageId)
        assert.deepEqual(imageOf(tmp.path), before)
        assert.equal(existsSync(join(tmp.path, "lib")), false)
        await revert(reverted.messageId)
        assert.deepEqual(imageOf(tmp.path), after)
        assert.equal(existsSync(join(tmp.path, "src")), false)
      },
      { git },
    ))

test("a file that came from an uncovered place is reported and never removed", () =>
  inProject(
    async (tmp) => {
      tmp.write(".gitignore", ".env\n")
      tmp.write(".env", "KEY=1\n")
      tmp.write("known.txt", "known\n")
      await settled(join(tmp.path, "known.txt"))
      const { messageId } = await command("mv .env env.txt; mv known.txt new.txt; echo more >> new.txt")
      await assert.rejects(revert(messageId), /env\.txt: it was moved here from a place that is not covered/)
      await revert(messageId, { force: true })
      assert.equal(readFileSync(join(tmp.path, "env.txt"), "utf8"), "KEY=1\n")
      assert.equal(readFileSync(join(tmp.path, "known.txt"), "utf8"), "known\n")
      assert.equal(existsSync(join(tmp.path, "new.txt")), false)
    },
    { git: true },
  ))

test("a folder with a person's files in the place of a file blocks only that file", () =>
  inProject(async (tmp) => {
    tmp.write("a", "a")
    tmp.write("z", "z")
    const { messageId } = await command("rm a; mkdir a; echo x > a/x; echo y > z")
    tmp.write("a/mine", "mine")
    mkdirSync(join(tmp.path, "a/empty"))
    await assert.rejects(revert(messageId), { name: "Snapshot.Conflict" })
    assert.equal(readFileSync(join(tmp.path, "z"), "utf8"), "y\n")
    await revert(messageId, { force: true })
    assert.equal(readFileSync(join(tmp.path, "z"), "utf8"), "z")
    assert.deepEqual(readdirSync(join(tmp.path, "a")).sort(), ["empty", "mine"])
  }))

test("a person's file where a folder was is named before anything is changed", () =>
  inProject(async (tmp) => {
    tmp.write("0/z", "z")
    tmp.write("dir/b", "b")
    const { messageId } = await command("rm -r dir; echo y > 0/z")
    tmp.write("dir", "mine")
    await assert.rejects(revert(messageId), /dir\/b: dir has to be a folder, and is none/)
    assert.equal(readFileSync(join(tmp.path, "0/z"), "utf8"), "y\n")
    await revert(messageId, { force: true })
    assert.equal(readFileSync(join(tmp.path, "0/z"), "utf8"), "z")
    assert.equal(readFileSync(join(tmp.path, "dir"), "utf8"), "mine")
  }))

test("a path that the system refuses to restore is named, and can be tried again", () =>
  inProject(async (tmp) => {
    tmp.write("empty", "")
    const { messageId } = await change(["empty"], () => tmp.write("empty", "x"), {
      // No system makes a link that leads nowhere at all.
      amend: (part) => ({
        ...part,
        files: part.files.map((file) => ({ ...file, before: { ...file.before, kind: "link" } })),
      }),
    })
    for (const _ of [1, 2])
      await assert.rejects(revert(messageId), {
        name: "Snapshot.NotReverted",
        message: /^empty could not be restored: ENOENT: no such file or directory\. /,
      })
    assert.equal(readFileSync(join(tmp.path, "empty"), "utf8"), "x")
  }))

test("terminal control characters in names are not shown", () =>
  inProject(async (tmp) => {
    const name = "\u001b]0;title\u0007"
    const { messageId } = await change([name], () => tmp.write(name, "x"))
    tmp.write(name, "mine")
    await assert.rejects(
      revert(messageId),
      /^Snapshot\.Conflict: Not reverted, because of:\n {2}\?]0;title\?: /,
    )
  }))

test("a file below many missing folders is covered like any other", () =>
  inProject(async (tmp) => {
    const path = `${"d/".repeat(60)}f.txt`
    const { messageId } = await change([path], () => tmp.write(path, "deep"))
    await revert(messageId)
    assert.equal(existsSync(join(tmp.path, "d")), false)
  }))

test("a file that a command creates outside a sparse checkout is named as not covered", () =>
  inProject(
    async (tmp) => {
      tmp.write("in/a", "a\n")
      tmp.write("out/b", "b\n")
      tmp.git("add", "-A")
      tmp.git("commit", "-qm", "some")
      tmp.git("sparse-checkout", "set", "in")
      const { messageId, part } = await command("mkdir out; echo new > out/b; echo new > in/a")
      assert.deepEqual(
        part?.uncovered.map(({ path }) => path),
        ["out/b"],
      )
      await assert.rejects(revert(messageId), { name: "Snapshot.Conflict" })
      await revert(messageId, { force: true })
      assert.equal(readFileSync(join(tmp.path, "in/a"), "utf8"), "a\n")
      const second = await command("echo newer > out/b")
      await revert(second.messageId)
      assert.equal(readFileSync(join(tmp.path, "out/b"), "utf8"), "new\n")
    },
    { git: true },
  ))

test("files that git was told to assume unchanged are covered like any other", () =>
  inProject(
    async (tmp) => {
      for (const name of ["clean", "dirty", "kept"]) tmp.write(name, `${name}\n`)
      tmp.git("add", "-A")
      tmp.git("commit", "-qm", "some")
      tmp.git("update-index", "--assume-unchanged", "clean", "dirty", "kept")
      tmp.write("dirty", "mine\n")
      const before = imageOf(tmp.path)
      const own = readFileSync(join(tmp.path, ".git/index"), "hex")
      const { messageId, part } = await command("echo new > clean; echo new > dirty")
      assert.deepEqual(part?.files.map(({ path }) => path).sort(), ["clean", "dirty"])
      await revert(messageId)
      assert.deepEqual(imageOf(tmp.path), before)
      assert.equal(readFileSync(join(tmp.path, ".git/index"), "hex"), own)
    },
    { git: true },
  ))

test("a project with a split index is covered like any other", () =>
  inProject(
    async (tmp) => {
      tmp.write("a.txt", "a\n")
      tmp.git("add", "-A")
      tmp.git("commit", "-qm", "some")
      tmp.git("update-index", "--split-index")
      const before = imageOf(tmp.path)
      const { messageId } = await command("echo new > a.txt; echo new > b.txt")
      await revert(messageId)
      assert.deepEqual(imageOf(tmp.path), before)
    },
    { git: true },
  ))

/** Until a file is older than any clock's tick: only then can it be told from one that a command made. */
async function settled(path: string): Promise<void> {
  while (statSync(path).ctimeMs > Date.now() - 200) await sleep(20)
}
