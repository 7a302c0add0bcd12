// Replacing a file: what is kept of it, full and read-only disks, and folders of other users.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { run } from "../../fixture/child.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { call, free, inProject } from "../tool/harness.ts"

const notRoot = process.getuid?.() === 0 ? false : "needs root to mount a file system or to give a file away"
const nobody = 65_534
const write = (path: string, content: string) => call("write", { path, content }, { slots: free })
const edit = (path: string, oldText: string, newText: string) =>
  call("edit", { path, edits: [{ oldText, newText }] }, { slots: free })

test("write and edit keep hard links together", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("a.txt", "a long first content\n")
    linkSync(path, join(tmp.path, "b.txt"))
    const { ino } = statSync(path)
    assert.equal((await write("a.txt", "short\n")).status, "success")
    assert.equal(readFileSync(join(tmp.path, "b.txt"), "utf8"), "short\n")
    assert.equal((await edit("b.txt", "short", "longer than before")).status, "success")
    assert.equal(readFileSync(path, "utf8"), "longer than before\n")
    assert.equal(statSync(path).ino, ino)
    assert.deepEqual(readdirSync(tmp.path).sort(), ["a.txt", "b.txt"])
  })
})

test("write and edit keep the owner and all bits of the mode", { skip: notRoot }, async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("a.txt", "old\n")
    chownSync(path, nobody, nobody)
    chmodSync(path, 0o2640)
    assert.equal((await write("a.txt", "new\n")).status, "success")
    assert.equal((await edit("a.txt", "new", "newer")).status, "success")
    const { uid, gid, mode } = statSync(path)
    assert.deepEqual({ uid, gid, mode: mode & 0o7777 }, { uid: nobody, gid: nobody, mode: 0o2640 })
  })
})

test("write never exposes a half-written file to another process", { timeout: 60_000 }, async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("a.txt", "0".repeat(200_000))
    const script = `
      const { readFileSync } = require("node:fs")
      console.log("reading")
      let odd = 0
      process.stdin.on("data", () => { console.log("odd", odd); process.exit() })
      ;(function look() {
        const text = readFileSync(process.argv[1], "latin1")
        if (text.length !== 200000 || text !== text[0].repeat(200000)) odd++
        setImmediate(look)
      })()`
    await using child = run(process.execPath, ["-e", script, path])
    await child.line(/reading/)
    for (let i = 1; i <= 200; i++) {
      const result = await write("a.txt", String(i % 10).repeat(200_000))
      assert.equal(result.status, "success")
    }
    child.process.stdin!.write("end\n")
    assert.equal(await child.line(/^odd/), "odd 0")
  })
})

/** A file system of its own in the project, gone afterwards. */
async function onDisk(options: string, fn: (disk: string) => Promise<void>) {
  await inProject(async (tmp) => {
    const disk = join(tmp.path, "disk")
    mkdirSync(disk)
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", disk])
    try {
      await fn(disk)
    } finally {
      execFileSync("umount", [disk])
    }
  })
}

function fill(disk: string) {
  try {
    writeFileSync(join(disk, "filler"), Buffer.alloc(8 << 20))
  } catch {
    // As full as it gets.
  }
}

test("write and edit keep the old content on a full disk and leave no other file", {
  skip: notRoot,
}, async () => {
  await onDisk("size=1m", async (disk) => {
    writeFileSync(join(disk, "a.txt"), "old\n")
    writeFileSync(join(disk, "b.txt"), "old\n")
    linkSync(join(disk, "b.txt"), join(disk, "c.txt"))
    fill(disk)
    const long = "x".repeat(100_000)
    for (const name of ["a.txt", "b.txt", "new.txt"]) {
      const result = await write(join(disk, name), long)
      assert.equal(result.status, "error")
      assert.match(result.text, /cannot be written: the disk is full \(ENOSPC\); the old content is kept/)
    }
    assert.match((await edit(join(disk, "b.txt"), "old", long)).text, /the disk is full/)
    for (const name of ["a.txt", "b.txt", "c.txt"])
      assert.equal(readFileSync(join(disk, name), "utf8"), "old\n")
    assert.deepEqual(readdirSync(disk).sort(), ["a.txt", "b.txt", "c.txt", "filler"])
    rmSync(join(disk, "filler"))
    assert.equal((await edit(join(disk, "a.txt"), "old", long)).status, "success")
  })
})

test("write and edit say that a file system is read-only", { skip: notRoot }, async () => {
  await onDisk("size=1m", async (disk) => {
    writeFileSync(join(disk, "a.txt"), "old\n")
    execFileSync("mount", ["-o", "remount,ro", disk])
    for (const result of [
      await write(join(disk, "a.txt"), "new\n"),
      await write(join(disk, "new.txt"), "new\n"),
      await write(join(disk, "folder/new.txt"), "new\n"),
      await edit(join(disk, "a.txt"), "old", "new"),
    ]) {
      assert.equal(result.status, "error")
      assert.match(result.text, /cannot be written: the file system is read-only \(EROFS\)/)
    }
    assert.equal(readFileSync(join(disk, "a.txt"), "utf8"), "old\n")
  })
})

/** Calls of a process that has no more rights than any other user. */
const asNobody = `
  import { runTool } from "${new URL("../../../src/ability/tool/run-tool.ts", import.meta.url)}"
  import { Instance } from "${new URL("../../../src/kernel/instance.ts", import.meta.url)}"
  const [directory, ...calls] = process.argv.slice(2)
  const results = []
  await Instance.provide({ directory, fn: async () => {
    for (const [i, text] of calls.entries()) {
      const call = { id: String(i), ...JSON.parse(text) }
      const context = { sessionId: "s", messageId: "m", callId: call.id, signal: new AbortController().signal }
      results.push((await runTool({ call, context, slots: { permit: () => undefined } })).text)
    }
  } })
  console.log(JSON.stringify(results))
  process.exit()
`

test("write and edit write in place if the folder is read-only, and say what is denied", {
  skip: notRoot,
}, async () => {
  await using tmp = await tmpdir()
  const script = tmp.write("../home/script.mts", asNobody)
  for (const name of ["fixed/mine.txt", "fixed/theirs.txt", "fixed/secret.txt"]) tmp.write(name, "old\n")
  chmodSync(join(tmp.path, "fixed"), 0o755)
  chownSync(join(tmp.path, "fixed/mine.txt"), nobody, nobody)
  chmodSync(join(tmp.path, "fixed/secret.txt"), 0o600)
  execFileSync("chmod", ["a+rx", join(tmp.path, "..")])
  const data = join(tmp.path, "../data-of-nobody")
  mkdirSync(data)
  chownSync(data, nobody, nobody)
  const edits = [{ oldText: "old", newText: "newer than old" }]
  const calls = [
    { name: "edit", arguments: { path: "fixed/mine.txt", edits } },
    { name: "write", arguments: { path: "fixed/mine.txt", content: "new\n" } },
    { name: "edit", arguments: { path: "fixed/theirs.txt", edits } },
    { name: "edit", arguments: { path: "fixed/secret.txt", edits } },
    { name: "write", arguments: { path: "fixed/new.txt", content: "new\n" } },
  ].map((call) => JSON.stringify(call))
  const before = statSync(join(tmp.path, "fixed/mine.txt")).ino
  const out = execFileSync(process.execPath, [script, tmp.path, ...calls], {
    uid: nobody,
    gid: nobody,
    encoding: "utf8",
    env: {
      ...tmp.env,
      XDG_DATA_HOME: data,
      XDG_CACHE_HOME: data,
      XDG_STATE_HOME: data,
      XDG_CONFIG_HOME: data,
    },
  })
  const denied = (name: string) => `"fixed/${name}.txt" cannot be written: permission denied (EACCES)`
  assert.deepEqual(JSON.parse(out), [
    "fixed/mine.txt edited (+1 -1).",
    "fixed/mine.txt replaced (+1 -1), 4 bytes.",
    denied("theirs"),
    denied("secret"),
    denied("new"),
  ])
  assert.equal(readFileSync(join(tmp.path, "fixed/mine.txt"), "utf8"), "new\n")
  assert.equal(statSync(join(tmp.path, "fixed/mine.txt")).ino, before)
  assert.deepEqual(readdirSync(join(tmp.path, "fixed")).sort(), ["mine.txt", "secret.txt", "theirs.txt"])
})
