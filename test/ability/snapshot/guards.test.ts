// Guards of the store and of git calls that matter only in a race or against an attacker.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { prune } from "#ability/snapshot/prune-store.ts"
import { get } from "#ability/snapshot/store/shadow.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { change, command, inProject, revert, sh } from "./harness.ts"

const nobody = 65_534

test("storing the same bytes again renews their age, so that no sweep drops them before they are recorded", () =>
  inProject(async () => {
    const { store } = get()
    const hash = store.put(Buffer.from("bytes"))
    const file = join(store.gitDir, "objects", hash.slice(0, 2), hash.slice(2))
    const old = Date.now() / 1_000 - 7_200
    utimesSync(file, old, old)
    store.put(Buffer.from("bytes"))
    await prune(get())
    assert.ok(existsSync(file))
    utimesSync(file, old, old)
    await prune(get())
    assert.equal(existsSync(file), false)
  }))

test("bytes that are stored and not yet recorded are not swept", () =>
  inProject(async () => {
    const hash = get().store.put(Buffer.from("bytes"))
    await prune(get())
    assert.equal((await get().store.read(hash)).toString(), "bytes")
  }))

test("a file that changed in the second in which git added it is stored as it is", () =>
  inProject(
    async (tmp) => {
      await changeRightAfterAdd(tmp)
      await sleep(1_100)
      const { messageId } = await command("echo command > a.txt")
      await revert(messageId)
      assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "two\n")
    },
    { git: true },
  ))

test("a program named git in the project is never run, also where PATH has a relative entry", () =>
  inProject(
    async (tmp) => {
      const canary = join(tmp.path, "..", "canary")
      tmp.write("git", `#!/bin/sh\ntouch ${canary}\n`)
      chmodSync(join(tmp.path, "git"), 0o755)
      const path = process.env.PATH
      process.env.PATH = `.:${path}`
      try {
        await change("worktree", () => tmp.write("a.txt", "a"))
      } finally {
        process.env.PATH = path
      }
      assert.equal(existsSync(canary), false)
    },
    { git: true },
  ))

test("bytes are found in a project whose path contains a separator", async () => {
  await using outer = await tmpdir()
  const directory = join(outer.path, 'a:b "c"')
  outer.write('a:b "c"/a.txt', "one\n")
  const git = (...args: string[]) => execFileSync("git", args, { cwd: directory, stdio: "ignore" })
  git("init", "-q")
  git("add", "-A")
  git("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "a")
  try {
    await Instance.provide({
      directory,
      async fn() {
        const { messageId } = await command("echo two > a.txt")
        await revert(messageId)
        assert.equal(readFileSync(join(directory, "a.txt"), "utf8"), "one\n")
      },
    })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
})

test("Snapshot.revert() links no name again that somebody else has changed", () =>
  inProject(async (tmp) => {
    tmp.write("one", "old\n")
    sh("ln one two")
    const { messageId } = await command("sed -i s/old/new/ one")
    writeFileSync(join(tmp.path, "two"), "mine\n")
    await revert(messageId)
    assert.equal(readFileSync(join(tmp.path, "one"), "utf8"), "old\n")
    assert.equal(readFileSync(join(tmp.path, "two"), "utf8"), "mine\n")
  }))

test("Snapshot.revert() restores files in a folder that a command made read-only", () =>
  inProject(async (tmp) => {
    tmp.write("dir/sub/a.txt", "old\n")
    const { messageId } = await command("echo new > dir/sub/a.txt; chmod 500 dir/sub; chmod 500 dir")
    await asPerson(tmp, () => revert(messageId))
    assert.equal(readFileSync(join(tmp.path, "dir/sub/a.txt"), "utf8"), "old\n")
    assert.equal(statSync(join(tmp.path, "dir")).mode & 0o777, 0o755)
  }))

/** Root may write everywhere; a person may not. */
async function asPerson(tmp: Tmp, work: () => Promise<unknown>): Promise<void> {
  if (process.getuid?.() !== 0) return void (await work())
  const base = join(tmp.path, "..")
  for (const path of [
    base,
    ...readdirSync(base, { recursive: true, encoding: "utf8" }).map((name) => join(base, name)),
  ])
    chownSync(path, nobody, nobody)
  process.seteuid?.(nobody)
  try {
    await work()
  } finally {
    process.seteuid?.(0)
  }
}

/** Changes a file without changing its size or, in whole seconds, its time. Git notices only because its index is not newer
 * than the file, and so compares the content. */
async function changeRightAfterAdd(tmp: Tmp): Promise<void> {
  const path = join(tmp.path, "a.txt")
  for (let same = false; !same; ) {
    await sleep(1_000 - (Date.now() % 1_000))
    tmp.write("a.txt", "one\n")
    const added = statSync(path).mtimeMs
    tmp.git("add", "a.txt")
    writeFileSync(path, "two\n")
    const index = statSync(join(tmp.path, ".git/index")).mtimeMs
    const times = [added, index, statSync(path).ctimeMs]
    same = new Set(times.map((time) => Math.floor(time / 1_000))).size === 1
  }
}
