// Files are written only where that is allowed. The real path decides, also if a part of the path is swapped
// meanwhile.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:net"
import { join, resolve } from "node:path"
import { test } from "node:test"
import { openForWriting } from "#ability/file/open-for-writing.ts"
import { Instance } from "#kernel/instance.ts"
import { run } from "../../fixture/child.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { call, free, inProject } from "../tool/harness.ts"

const write = (path: string, content = "new") => call("write", { path, content }, { slots: free })
const edit = (path: string) =>
  call("edit", { path, edits: [{ oldText: "old", newText: "new" }] }, { slots: free })
const granting = (...granted: string[]) => ({ slots: { permit: () => ({ granted }) } })

/** Links of every kind beside a folder outside whose name starts with the project's. */
function tree(tmp: Tmp): string {
  const outside = resolve(tmp.path, "../project-two")
  tmp.write("../project-two/old.txt", "old")
  tmp.write("folder/old.txt", "old")
  symlinkSync(outside, join(tmp.path, "out"))
  symlinkSync(join(outside, "old.txt"), join(tmp.path, "out.txt"))
  symlinkSync(join(outside, "dangling.txt"), join(tmp.path, "dangling-out"))
  symlinkSync("folder", join(tmp.path, "in"))
  symlinkSync("folder/old.txt", join(tmp.path, "in.txt"))
  symlinkSync("folder/deep/new.txt", join(tmp.path, "dangling-in"))
  symlinkSync("loop", join(tmp.path, "loop"))
  symlinkSync("/dev/null", join(tmp.path, "null"))
  return outside
}

for (const path of ["out/old.txt", "out.txt", "out/new/deep.txt", "dangling-out", "../project-two/old.txt"])
  test(`write and edit refuse ${path}, which is outside, and make nothing there`, async () => {
    await inProject(async (tmp) => {
      const outside = tree(tmp)
      for (const result of [await write(path), await edit(path)]) {
        assert.equal(result.status, "error")
        assert.match(result.text, /is outside of|does not exist/)
      }
      assert.deepEqual(readdirSync(outside), ["old.txt"])
      assert.equal(readFileSync(join(outside, "old.txt"), "utf8"), "old")
    })
  })

test("write and edit follow a link that leads inside, and it stays a link", async () => {
  await inProject(async (tmp) => {
    tree(tmp)
    assert.equal((await edit("in.txt")).status, "success")
    assert.equal(readFileSync(join(tmp.path, "folder/old.txt"), "utf8"), "new")
    assert.equal((await write("in.txt", "newer")).title, "in.txt → folder/old.txt (+1 -1)")
    assert.equal(readFileSync(join(tmp.path, "folder/old.txt"), "utf8"), "newer")
    assert.equal(readlinkSync(join(tmp.path, "in.txt")), "folder/old.txt")
    assert.equal((await write("in/other.txt")).status, "success")
    assert.equal((await write("dangling-in")).status, "success")
    assert.equal(readFileSync(join(tmp.path, "folder/deep/new.txt"), "utf8"), "new")
    assert.ok(lstatSync(join(tmp.path, "dangling-in")).isSymbolicLink())
  })
})

test("write and edit accept a file that was read through a link", async () => {
  await inProject(async (tmp) => {
    tree(tmp)
    await call("read", { path: "in.txt" })
    tmp.write("folder/old.txt", "old, changed")
    assert.match((await edit("folder/old.txt")).text, /has changed since it was read/)
  })
})

test("write reaches a granted path outside the workspace; a granted folder includes everything below it", async () => {
  await inProject(async (tmp) => {
    const outside = tree(tmp)
    const to = (path: string, ...granted: string[]) =>
      call("write", { path, content: "new" }, granting(...granted))
    assert.equal((await to("out/a/b.txt", outside)).status, "success")
    assert.equal(readFileSync(join(outside, "a/b.txt"), "utf8"), "new")
    assert.equal((await to(join(outside, "c/d.txt"), join(outside, "c/d.txt"))).status, "success")
    assert.equal((await to("out.txt", join(outside, "old.txt"))).status, "success")
    const sibling = await to(join(outside, "old.txt"), join(outside, "old"), "http://127.0.0.1:1")
    assert.match(sibling.text, /is outside of/)
    assert.match((await to("/dev/null", "/dev")).text, /is a device/)
    const { text } = await call(
      "edit",
      { path: "out.txt", edits: [{ oldText: "new", newText: "x" }] },
      granting(outside),
    )
    assert.equal(text, `out.txt → ${join(outside, "old.txt")} edited (+1 -1).`)
  })
})

test("write and edit refuse pipes, sockets, devices and links in a circle", { timeout: 60_000 }, async () => {
  await inProject(async (tmp) => {
    tree(tmp)
    execFileSync("mkfifo", [join(tmp.path, "pipe")])
    const server = createServer().listen(join(tmp.path, "socket"))
    await new Promise((done) => server.once("listening", done))
    for (const [path, text] of [
      ["pipe", /a named pipe/],
      ["socket", /a socket/],
      ["null", /a device/],
      ["loop", /lead in a circle/],
    ] as const)
      for (const result of [await write(path), await edit(path)]) {
        assert.equal(result.status, "error")
        assert.match(result.text, text)
      }
    await new Promise((done) => server.close(done))
  })
})

test("write from a folder below the worktree reaches the whole worktree by ../ paths", async () => {
  await inProject(
    async (tmp) => {
      mkdirSync(join(tmp.path, "packages/one"), { recursive: true })
      await Instance.provide({
        directory: join(tmp.path, "packages/one"),
        fn: async () => {
          assert.equal((await write("../two/a.txt")).title, "../two/a.txt (+1 -0)")
          assert.equal((await edit("../../README.md")).status, "error")
          assert.match((await write("../../../a.txt")).text, /is outside of/)
          assert.match((await write("x/../a.txt")).text, /"\.\." segment/)
        },
      })
      assert.equal(readFileSync(join(tmp.path, "packages/two/a.txt"), "utf8"), "new")
    },
    { git: true },
  )
})

/** Points a link at one target and then the other, as fast as it can. */
const swapLinks = `
  const { renameSync, symlinkSync } = require("node:fs")
  const [link, ...targets] = process.argv.slice(1)
  console.log("swapping")
  for (let n = 0; ; n++) {
    symlinkSync(targets[n % 2], link + ".next")
    renameSync(link + ".next", link)
  }`

/** Swaps a folder for a link to one outside and back. What the other side made of the gap between is cleared away. */
const swapFolder = `
  const { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync } = require("node:fs")
  const [folder, outside] = process.argv.slice(1)
  const away = folder + ".away"
  console.log("swapping")
  for (;;)
    try {
      renameSync(folder, away)
      symlinkSync(outside, folder)
      unlinkSync(folder)
      renameSync(away, folder)
    } catch {
      try {
        rmSync(folder, { recursive: true, force: true })
        if (existsSync(away)) renameSync(away, folder)
        else mkdirSync(folder)
      } catch {}
    }`

for (const [what, script, swapped, path] of [
  ["a file is swapped for a link to one", swapLinks, "swapped.txt", "swapped.txt"],
  ["a parent is swapped for a link to one", swapLinks, "swapped", "swapped/b.txt"],
  ["a parent is swapped for a link to one and the folder is new", swapLinks, "swapped", "swapped/deep/N.txt"],
  ["a real folder is swapped for a link to one", swapFolder, "folder", "folder/N/c.txt"],
] as const)
  test(`write never reaches outside while ${what} there`, { timeout: 120_000 }, async () => {
    await inProject(async (tmp) => {
      tmp.write("folder/b.txt", "inside")
      tmp.write("../outside/b.txt", "outside")
      const outside = resolve(tmp.path, "../outside")
      const name = path === "swapped.txt" ? "b.txt" : ""
      const ends = [join(tmp.path, "folder", name), join(outside, name)]
      if (script === swapLinks) symlinkSync(ends[0]!, join(tmp.path, swapped))
      const args = script === swapLinks ? [join(tmp.path, swapped), ...ends] : [ends[0]!, outside]
      await using child = run(process.execPath, ["-e", script, ...args])
      await child.line(/swapping/)
      const seen = { success: 0, error: 0 }
      for (let tries = 0; tries < 200 || (tries < 20_000 && !(seen.success && seen.error)); tries++) {
        const { status } = await write(path.replace("N", String(tries % 50)), `inside ${tries}`)
        seen[status as "success" | "error"]++
        if (tries % 10 === 0) assert.deepEqual(readdirSync(outside), ["b.txt"])
      }
      assert.ok(seen.success > 0 && seen.error > 0, JSON.stringify(seen))
      assert.deepEqual(readdirSync(outside), ["b.txt"])
      assert.equal(readFileSync(join(outside, "b.txt"), "utf8"), "outside")
    })
  })

for (const [what, path, name] of [
  ["a file", "folder/old.txt", "old.txt"],
  ["a new file", "folder/new.txt", "new.txt"],
  ["a new folder", "folder/deep/new.txt", "deep/new.txt"],
] as const)
  test(`openForWriting() puts ${what} into the checked folder, even if its path is a link to another by then`, async () => {
    await inProject(async (tmp) => {
      tmp.write("folder/old.txt", "old")
      const signal = new AbortController().signal
      using place = await openForWriting(path, { sessionId: "s", messageId: "m", callId: "c", signal })
      tmp.write("../outside/old.txt", "outside")
      renameSync(join(tmp.path, "folder"), join(tmp.path, "away"))
      symlinkSync(resolve(tmp.path, "../outside"), join(tmp.path, "folder"))
      place.replace(Buffer.from("new"))
      assert.equal(readFileSync(join(tmp.path, "away", name), "utf8"), "new")
      assert.deepEqual(readdirSync(resolve(tmp.path, "../outside")), ["old.txt"])
      assert.equal(readFileSync(resolve(tmp.path, "../outside/old.txt"), "utf8"), "outside")
    })
  })

test("openForWriting() notices a file that was swapped or created between the check and the write", async () => {
  await inProject(async (tmp) => {
    const context = { sessionId: "s", messageId: "m", callId: "c", signal: new AbortController().signal }
    tmp.write("old.txt", "old")
    using old = await openForWriting("old.txt", context)
    using made = await openForWriting("new.txt", context)
    tmp.write("theirs.txt", "theirs")
    renameSync(join(tmp.path, "theirs.txt"), join(tmp.path, "old.txt"))
    tmp.write("new.txt", "theirs")
    assert.throws(() => old.replace(Buffer.from("mine")), /changed by somebody else at this moment/)
    assert.throws(() => made.replace(Buffer.from("mine")), /somebody else made it meanwhile/)
    for (const name of ["old.txt", "new.txt"])
      assert.equal(readFileSync(join(tmp.path, name), "utf8"), "theirs")
    assert.deepEqual(readdirSync(tmp.path).sort(), ["new.txt", "old.txt"])
  })
})

test("write and edit leave no open file behind", async () => {
  await inProject(async (tmp) => {
    tree(tmp)
    await write("warm.txt")
    const count = () => readdirSync("/proc/self/fd").length
    const before = count()
    for (let i = 0; i < 20; i++) {
      await write(`new/${i}/a.txt`)
      await write("out.txt")
      await edit("folder/old.txt")
      await edit("missing.txt")
      writeFileSync(join(tmp.path, "folder/old.txt"), `old ${i}`)
    }
    assert.equal(count(), before)
    assert.equal(existsSync(join(tmp.path, "new/19/a.txt")), true)
  })
})

test("a path that starts with ~ makes no folder of that name", async () => {
  await inProject(async (tmp) => {
    const refused = await call("write", { path: "~/notes.txt", content: "x" }, granting())
    assert.match(refused.text, /"~" is not expanded; write the whole path/)
    assert.equal(existsSync(join(tmp.path, "~")), false)
    assert.equal((await call("write", { path: "./~/notes.txt", content: "x" }, granting())).status, "success")
  })
})
