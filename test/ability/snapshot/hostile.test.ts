// What a project, a person or a broken disk may put in the way of a snapshot.
import assert from "node:assert/strict"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { change, command, imageOf, inProject, revert, sessionId, sh } from "./harness.ts"

test("files that git converts are reported as not covered instead of being restored wrongly", () =>
  inProject(
    async (tmp) => {
      tmp.git("config", "filter.rot.clean", "tr a-z b-za")
      tmp.git("config", "filter.rot.smudge", "tr b-za a-z")
      tmp.write(".gitattributes", "*.rot filter=rot\n*.txt text\n")
      tmp.write("a.rot", "abc\n")
      tmp.write("crlf.txt", "a\r\nb\r\n")
      // Git compares the content of files that are not older than its index, and would find that these differ.
      for (const name of ["a.rot", "crlf.txt"]) utimesSync(join(tmp.path, name), 1e9, 1e9)
      tmp.git("add", "-A")
      tmp.git("commit", "-qm", "converted")
      const { messageId, part } = await command("echo x > a.rot; echo y > crlf.txt; echo z > README.md")
      assert.deepEqual(part?.uncovered.map(({ path }) => path).sort(), ["a.rot", "crlf.txt"])
      await assert.rejects(revert(messageId), { name: "Snapshot.Conflict" })
      await revert(messageId, { force: true })
      assert.equal(readFileSync(join(tmp.path, "README.md"), "utf8"), "# fixture\n")
      assert.equal(readFileSync(join(tmp.path, "a.rot"), "utf8"), "x\n")
    },
    { git: true },
  ))

test("no program of a project's git configuration runs", () =>
  inProject(
    async (tmp) => {
      const canary = join(tmp.path, "..", "canary")
      const run = `touch ${canary}; cat`
      const keys = {
        "core.fsmonitor": run,
        "core.hooksPath": join(tmp.path, "hooks"),
        "filter.x.clean": run,
        "filter.x.smudge": run,
        "filter.x.process": run,
        "diff.x.textconv": run,
        "diff.x.command": run,
        "diff.external": run,
        "core.pager": run,
        "core.sshCommand": run,
        "core.gitProxy": run,
        "alias.ls-files": `!${run}`,
        "alias.diff-files": `!${run}`,
        "gc.auto": "1",
        "uploadpack.packObjectsHook": run,
      }
      tmp.write(".gitattributes", "* filter=x diff=x\n")
      tmp.write("a.txt", "a\n")
      tmp.git("add", "-A")
      tmp.git("commit", "-qm", "all")
      for (const [key, value] of Object.entries(keys)) tmp.git("config", key, value)
      for (const name of ["post-index-change", "pre-commit", "post-checkout"]) {
        tmp.write(`hooks/${name}`, `#!/bin/sh\ntouch ${canary}\n`)
        chmodSync(join(tmp.path, "hooks", name), 0o755)
      }
      rmSync(canary, { force: true })
      tmp.write("a.txt", "b\n")
      const { messageId } = await command("echo c > a.txt; echo d > d.txt")
      const { text } = await Snapshot.diff({ sessionId })
      assert.match(text, /-b\n\+c/)
      await revert(messageId)
      assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "b\n")
      assert.equal(existsSync(canary), false)
    },
    { git: true },
  ))

test("Snapshot.revert() does not write through a folder that was swapped for a link", () =>
  inProject(async (tmp) => {
    const outside = join(tmp.path, "..", "outside")
    mkdirSync(outside)
    writeFileSync(join(outside, "a.txt"), "outside")
    tmp.write("dir/a.txt", "inside")
    const { messageId } = await change(["dir/a.txt"], () => tmp.write("dir/a.txt", "changed"))
    rmSync(join(tmp.path, "dir"), { recursive: true })
    symlinkSync(outside, join(tmp.path, "dir"))
    await assert.rejects(revert(messageId), { name: "Snapshot.Conflict" })
    const { restored, conflicts } = await revert(messageId, { force: true })
    assert.deepEqual(restored, [])
    assert.match(conflicts.at(-1)?.reason ?? "", /^dir has to be a folder, and is none$/)
    assert.equal(readFileSync(join(outside, "a.txt"), "utf8"), "outside")
    assert.deepEqual(readdirSync(outside), ["a.txt"])
  }))

test("Snapshot.revert() puts back what was under a folder that a command swapped for a link", () =>
  inProject(
    async (tmp) => {
      tmp.write("dir/sub/a.txt", "inside")
      tmp.write("file", "file")
      const before = imageOf(tmp.path)
      const { messageId } = await command(
        "rm -r dir; ln -s /tmp dir; rm file; mkdir -p file/sub; echo x > file/sub/x",
      )
      const after = imageOf(tmp.path)
      const reverted = await revert(messageId)
      assert.deepEqual(imageOf(tmp.path), before)
      await revert(reverted.messageId)
      assert.deepEqual(imageOf(tmp.path), after)
    },
    { git: true },
  ))

test("a lost or broken store is reported, and no wrong byte is written", () =>
  inProject(async (tmp) => {
    tmp.write("a.txt", "a")
    tmp.write("b.txt", "b")
    const { messageId } = await change(["a.txt", "b.txt"], () => {
      tmp.write("a.txt", "A")
      tmp.write("b.txt", "B")
    })
    const store = join(Global.data(), "snapshot")
    const objects = readdirSync(store, { recursive: true, encoding: "utf8" }).filter((name) =>
      /objects\/[0-9a-f]{2}\/[0-9a-f]{38}$/.test(name),
    )
    assert.equal(objects.length, 2)
    for (const name of objects) {
      chmodSync(join(store, name), 0o600)
      writeFileSync(join(store, name), "broken")
    }
    await assert.rejects(revert(messageId), /no longer in the store/)
    rmSync(store, { recursive: true })
    await assert.rejects(revert(messageId), /no longer in the store/)
    assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "A")
    // The next snapshot makes the store again.
    const next = await change(["a.txt"], () => tmp.write("a.txt", "AA"))
    await revert(next.messageId)
    assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "A")
  }))

test("broken bytes are read from the project's own objects if it has them", () =>
  inProject(
    async (tmp) => {
      const { messageId } = await change(["README.md"], () => tmp.write("README.md", "new"))
      rmSync(join(Global.data(), "snapshot"), { recursive: true })
      await revert(messageId)
      assert.equal(readFileSync(join(tmp.path, "README.md"), "utf8"), "# fixture\n")
    },
    { git: true },
  ))

test("a store whose own files are broken is repaired", () =>
  inProject(
    async (tmp) => {
      const before = imageOf(tmp.path)
      const { messageId } = await command("echo a > README.md")
      const folder = join(Global.data(), "snapshot", Instance.project.id, "git")
      for (const name of ["HEAD", "config"]) {
        writeFileSync(join(folder, name), "[[\0")
        const { part } = await command(`echo ${name} > README.md`)
        assert.deepEqual(
          part?.files.map(({ path }) => path),
          ["README.md"],
        )
      }
      await revert(messageId)
      assert.deepEqual(imageOf(tmp.path), before)
    },
    { git: true },
  ))

test("a file whose name is not UTF-8 does not block an undo", () =>
  inProject(
    async (tmp) => {
      sh("echo odd > $'odd-\\xff'")
      const { messageId } = await command("echo a > a.txt")
      await revert(messageId)
      assert.equal(existsSync(join(tmp.path, "a.txt")), false)
      const { part } = await command("echo new > $'new-\\xff'")
      assert.match(part?.uncovered[0]?.reason ?? "", /not UTF-8/)
    },
    { git: true },
  ))

test("a store that cannot be written stops the change, and says what would help", () =>
  inProject(async (tmp) => {
    tmp.write("a.txt", "a")
    mkdirSync(Global.data(), { recursive: true })
    writeFileSync(join(Global.data(), "snapshot"), "in the way")
    await assert.rejects(
      change(["a.txt"], () => tmp.write("a.txt", "b")),
      { name: "Snapshot.NotTaken" },
    )
    await assert.rejects(command("echo b > a.txt"), { name: "Snapshot.NotTaken" })
    assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "a")
    assert.deepEqual(await Snapshot.diff({ sessionId }), { files: [], text: "", conflicts: [], notes: [] })
    await Snapshot.recover(sessionId, () => undefined)
  }))

test("a record that names a path outside the work tree is rejected", () =>
  inProject(async (tmp) => {
    const outside = join(tmp.path, "..", "outside.txt")
    writeFileSync(outside, "outside")
    for (const path of ["../outside.txt", outside, "a/../../outside.txt"]) {
      const { messageId } = await change(["a.txt"], () => {}, {
        amend: (part) => ({ ...part, files: [{ path, before: null, after: part.files[0]!.after }] }),
      })
      await assert.rejects(revert(messageId), { name: "Snapshot.Conflict" })
      await revert(messageId, { force: true })
      assert.equal(readFileSync(outside, "utf8"), "outside")
    }
  }))

for (const kind of ["sha256", "linked work tree"])
  test(`a repository with ${kind} is covered like any other`, async () => {
    await using tmp = await tmpdir({ git: kind !== "sha256" })
    if (kind === "sha256") tmp.git("init", "-q", "-b", "main", "--object-format=sha256")
    tmp.write("clean.txt", "clean\n")
    tmp.git("add", "-A")
    tmp.git("commit", "-qm", "some")
    const directory = kind === "sha256" ? tmp.path : join(tmp.path, "..", "linked")
    if (directory !== tmp.path) tmp.git("worktree", "add", "-q", "-b", "linked", directory)
    try {
      await Instance.provide({
        directory,
        async fn() {
          const before = imageOf(directory)
          const { messageId, part } = await command("echo x > clean.txt; echo y > y.txt")
          assert.deepEqual(part?.files.map(({ path }) => path).sort(), ["clean.txt", "y.txt"])
          await revert(messageId)
          assert.deepEqual(imageOf(directory), before)
        },
      })
    } finally {
      await Instance.disposeAll()
      await Storage.close()
    }
  })
