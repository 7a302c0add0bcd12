import assert from "node:assert/strict"
import { chmodSync, existsSync, lstatSync, readFileSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Global from "#kernel/process/global.ts"
import { change, command, imageOf, inProject, revert, sessionId, sh } from "./harness.ts"

for (const git of [true, false]) {
  const where = git ? "in a repository" : "outside git"

  test(`Snapshot.revert() undoes an edit and removes a new file, ${where}`, () =>
    inProject(
      async (tmp) => {
        tmp.write("a.txt", "one\r\ntwo\r\n")
        chmodSync(join(tmp.path, "a.txt"), 0o640)
        const before = imageOf(tmp.path)
        const { messageId } = await change(["a.txt"], () => tmp.write("a.txt", "three\n"))
        await change(["new/deep/b.txt"], () => tmp.write("new/deep/b.txt", "b"))
        const { restored, removed } = await revert(messageId)
        assert.deepEqual({ restored, removed }, { restored: ["a.txt"], removed: ["new/deep/b.txt"] })
        assert.deepEqual(imageOf(tmp.path), before)
        assert.equal(existsSync(join(tmp.path, "new")), false)
      },
      { git },
    ))

  test(`Snapshot.revert() undoes what a command did to all kinds of files, ${where}`, () =>
    inProject(
      async (tmp) => {
        tmp.write("clean.txt", "clean\n")
        tmp.write("gone/deep.txt", "deep\n")
        tmp.write("run.sh", "#!/bin/sh\n")
        tmp.write("bytes", Buffer.from([0, 255, 13, 10, 0]))
        tmp.write("ä b\n.txt", "odd name")
        symlinkSync("clean.txt", join(tmp.path, "link"))
        if (git) {
          tmp.git("add", "-A")
          tmp.git("commit", "-qm", "files")
        }
        tmp.write("untracked.txt", "mine\n")
        tmp.write("clean.txt", "dirty\r\n")
        const before = imageOf(tmp.path)
        const script = [
          "echo x >> clean.txt; rm -r gone; chmod +x run.sh; printf 'a\\0b' > bytes; rm 'ä b\n.txt'",
          "ln -sfn run.sh link; rm untracked.txt; mkdir -p made/deep; echo y > made/deep/y; ln -s nowhere dangling",
          "echo z > gone",
        ]
        const { messageId } = await command(script.join("\n"))
        const after = imageOf(tmp.path)
        const reverted = await revert(messageId)
        assert.deepEqual(imageOf(tmp.path), before)
        assert.equal(existsSync(join(tmp.path, "made")), false)
        await revert(reverted.messageId)
        assert.deepEqual(imageOf(tmp.path), after)
      },
      { git },
    ))

  test(`Snapshot.revert() refuses what somebody else changed since, ${where}`, () =>
    inProject(
      async (tmp) => {
        tmp.write("a.txt", "a")
        tmp.write("b.txt", "b")
        const { messageId } = await change(["a.txt"], () => tmp.write("a.txt", "A"))
        await command("echo B > b.txt; echo c > c.txt")
        tmp.write("c.txt", "by hand")
        const before = imageOf(tmp.path)
        await assert.rejects(revert(messageId), (error: Snapshot.Conflict) => {
          assert.deepEqual(
            error.data.conflicts.map(({ path }) => path),
            ["c.txt"],
          )
          return error.name === "Snapshot.Conflict"
        })
        assert.deepEqual(imageOf(tmp.path), before)
        await revert(messageId, { force: true })
        assert.equal(existsSync(join(tmp.path, "c.txt")), false)
        assert.equal(readFileSync(join(tmp.path, "b.txt"), "utf8"), "b")
      },
      { git },
    ))
}

test("Snapshot.revert() refuses a file that somebody else changed between two calls", () =>
  inProject(async (tmp) => {
    tmp.write("a.txt", "a")
    const { messageId } = await change(["a.txt"], () => tmp.write("a.txt", "A"))
    tmp.write("a.txt", "by hand")
    await change(["a.txt"], () => tmp.write("a.txt", "by hand and again"))
    await assert.rejects(revert(messageId), { name: "Snapshot.Conflict" })
  }))

test("Snapshot.revert() leaves index, HEAD, stash, ignored files and all times of others alone", () =>
  inProject(
    async (tmp) => {
      tmp.write(".gitignore", "ignored\n")
      tmp.write("other.txt", "other\n")
      tmp.write("staged.txt", "staged\n")
      tmp.git("add", ".gitignore", "staged.txt")
      tmp.git("stash")
      tmp.git("stash", "apply", "-q")
      tmp.write("ignored", "ignored\n")
      tmp.git("add", ".gitignore")
      const own = () => [
        readFileSync(join(tmp.path, ".git/index")).toString("hex"),
        readFileSync(join(tmp.path, ".git/HEAD"), "utf8"),
        tmp.git("stash", "list"),
        String(lstatSync(join(tmp.path, "other.txt")).mtimeMs),
        String(lstatSync(join(tmp.path, "README.md")).mtimeMs),
      ]
      const before = own()
      const { messageId } = await command("echo x >> staged.txt; echo y > ignored")
      await revert(messageId)
      assert.deepEqual(own(), before)
      assert.equal(readFileSync(join(tmp.path, "staged.txt"), "utf8"), "staged\n")
      assert.equal(readFileSync(join(tmp.path, "ignored"), "utf8"), "y\n")
    },
    { git: true },
  ))

test("Snapshot.take() says once per session that ignored files are not covered, and publishes what changed", () =>
  inProject(
    async (tmp) => {
      const events: Bus.Event[] = []
      Bus.subscribe(Snapshot.Created, (_, event) => void events.push(event))
      const first = await command("echo x > x")
      const second = await command("echo y > y")
      assert.match(first.part?.note ?? "", /what git ignores[^;]* not covered/)
      assert.equal(second.part?.note, undefined)
      assert.deepEqual(
        events.map(({ payload }) => (payload as { files: string[] }).files),
        [["x"], ["y"]],
      )
      assert.ok(tmp)
    },
    { git: true },
  ))

test("Snapshot.revert() does not remove files that a changed .gitignore no longer ignores", () =>
  inProject(
    async (tmp) => {
      tmp.write(".gitignore", "data/\n")
      tmp.write("data/mine", "mine")
      // Old enough to be told apart from what the command makes.
      await new Promise((resolve) => setTimeout(resolve, 150))
      const { messageId } = await command("echo > .gitignore; touch data/mine; echo new > data/new")
      await assert.rejects(revert(messageId), { name: "Snapshot.Conflict" })
      await revert(messageId, { force: true })
      assert.equal(readFileSync(join(tmp.path, "data/mine"), "utf8"), "mine")
      assert.equal(existsSync(join(tmp.path, "data/new")), false)
    },
    { git: true },
  ))

test("a command that commits, switches branches and rewrites history is undone in the files", () =>
  inProject(
    async (tmp) => {
      for (let i = 0; i < 20; i++) tmp.write(`f${i}`, `${i}\n`)
      tmp.git("add", "-A")
      tmp.git("commit", "-qm", "many")
      const before = imageOf(tmp.path)
      const as = "git -c user.name=t -c user.email=t@localhost"
      const { messageId } = await command(
        `git checkout -q --orphan empty && git rm -rqf . && echo new > new && git add -A && ${as} commit -qm e && git branch -qD main`,
      )
      assert.deepEqual(Object.keys(imageOf(tmp.path)), ["new"])
      await revert(messageId)
      assert.deepEqual(imageOf(tmp.path), before)
      assert.equal(tmp.git("branch", "--show-current"), "empty\n")
    },
    { git: true },
  ))

test("Snapshot.diff() shows what a session changed, and Snapshot.list() each step", () =>
  inProject(
    async (tmp) => {
      tmp.write("a.txt", "one\ntwo\n")
      const { messageId } = await change(["a.txt"], () => tmp.write("a.txt", "one\nTWO\n"))
      await command("echo n > new.txt; printf 'a\\0' > binary")
      const { text, files } = await Snapshot.diff({ sessionId })
      assert.match(text, /--- a\/a\.txt\n\+\+\+ b\/a\.txt\n@@ -1,2 \+1,2 @@\n one\n-two\n\+TWO\n/)
      assert.match(text, /Binary files/)
      assert.deepEqual(files.map(({ path, change }) => `${change} ${path}`).sort(), [
        "added binary",
        "added new.txt",
        "changed a.txt",
      ])
      assert.match((await Snapshot.diff({ sessionId, stat: true })).text, /3 files changed/)
      const all = await Snapshot.list(sessionId)
      assert.equal(all[0]?.messageId, messageId)
      assert.deepEqual(
        all.map(({ part }) => part.files.length),
        [1, 2],
      )
    },
    { git: true },
  ))

test("Snapshot.revert() with preview changes nothing and says what would be done", () =>
  inProject(async (tmp) => {
    tmp.write("a.txt", "a")
    const { messageId } = await change(["a.txt", "b.txt"], () => {
      tmp.write("a.txt", "A")
      tmp.write("b.txt", "B")
    })
    const before = imageOf(tmp.path)
    const preview = await Snapshot.revert({ sessionId, messageId, preview: true })
    assert.deepEqual(preview, { restored: ["a.txt"], removed: ["b.txt"], conflicts: [], notes: [] })
    assert.deepEqual(imageOf(tmp.path), before)
  }))

test("a file outside of the work tree is named as not covered", () =>
  inProject(async (tmp) => {
    const { part } = await change(["../outside.txt"], () => {})
    assert.match(part?.uncovered[0]?.reason ?? "", /outside/)
    assert.ok(tmp)
  }))

test("a long list of changed files is stored outside the message", () =>
  inProject(
    async (tmp) => {
      const { messageId, part } = await command("for i in $(seq 700); do echo $i > f$i; done")
      assert.equal(part?.files.length, 0)
      assert.match(part?.list ?? "", /^[0-9a-f]{40}$/)
      const { removed } = await revert(messageId)
      assert.equal(removed.length, 700)
      assert.deepEqual(Object.keys(imageOf(tmp.path)), ["README.md"])
    },
    { git: true },
  ))

test("other users cannot read the store", () =>
  inProject(async (tmp) => {
    tmp.write("a.txt", "a")
    await change(["a.txt"], () => tmp.write("a.txt", "b"))
    await command("echo c > c")
    const store = join(Global.data(), "snapshot")
    assert.equal(statSync(store).mode & 0o077, 0)
    sh("true")
  }))
