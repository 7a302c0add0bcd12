// Paths are judged by their real path, and the opened file is the judged one.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { readFileSync, realpathSync, symlinkSync } from "node:fs"
import { createServer } from "node:net"
import { dirname, join, resolve } from "node:path"
import { test } from "node:test"
import { openInside, resolveInside } from "#util/file/resolve-inside.ts"
import { call, inProject } from "../../ability/tool/harness.ts"
import { run } from "../../fixture/child.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

/** Points a link at one target and then the other, as fast as it can. */
const swapLinks = `
  const { renameSync, symlinkSync } = require("node:fs")
  const [link, ...targets] = process.argv.slice(1)
  console.log("swapping")
  for (let n = 0; ; n++) {
    symlinkSync(targets[n % 2], link + ".next")
    renameSync(link + ".next", link)
  }`

/** A root with a file and a folder, and beside it a sibling whose name starts with the root's. */
async function tree(): Promise<Tmp & { outside: string }> {
  const tmp = await tmpdir()
  tmp.write("a.txt", "inside")
  tmp.write("folder/b.txt", "inside")
  tmp.write("../project-two/secret.txt", "outside")
  const outside = join(dirname(tmp.path), "project-two")
  symlinkSync(outside, join(tmp.path, "out"))
  symlinkSync(join(outside, "secret.txt"), join(tmp.path, "out.txt"))
  symlinkSync("folder", join(tmp.path, "in"))
  symlinkSync(join(outside, "new.txt"), join(tmp.path, "dangling"))
  symlinkSync("loop", join(tmp.path, "loop"))
  symlinkSync("/dev/null", join(tmp.path, "null"))
  execFileSync("mkfifo", [join(tmp.path, "pipe")])
  return { ...tmp, outside }
}

const good: [path: string, real: string][] = [
  ["a.txt", "a.txt"],
  ["./folder//b.txt", "folder/b.txt"],
  ["in/b.txt", "folder/b.txt"],
  ["in/new/deep.txt", "folder/new/deep.txt"],
  ["folder", "folder"],
  [".", ""],
  ["~/a.txt", "~/a.txt"],
  ["..a", "..a"],
]
for (const [path, real] of good)
  test(`resolveInside() returns the real path of ${path}`, async () => {
    await using tmp = await tree()
    assert.equal(await resolveInside(tmp.path, path), join(tmp.path, real))
    assert.equal(await resolveInside(tmp.path, join(tmp.path, path)), join(tmp.path, real))
  })

const bad: [path: string, error: string][] = [
  ["../project-two/secret.txt", "PathOutside"],
  ["folder/../../project-two/secret.txt", "PathOutside"],
  ["..", "PathOutside"],
  ["folder/../a.txt", "PathInvalid"],
  ["out/secret.txt", "PathOutside"],
  ["out/new/deep.txt", "PathOutside"],
  ["out.txt", "PathOutside"],
  ["dangling", "PathOutside"],
  ["/etc/passwd", "PathOutside"],
  ["null", "PathOutside"],
  ["a\0.txt", "PathInvalid"],
  ["", "PathInvalid"],
  ["loop", "PathInvalid"],
  ["pipe", "PathInvalid"],
  ["x".repeat(300), "PathInvalid"],
]
for (const [path, name] of bad)
  test(`resolveInside() throws ${name} for ${JSON.stringify(path.slice(0, 40))}`, async () => {
    await using tmp = await tree()
    await assert.rejects(resolveInside(tmp.path, path), { name })
  })

test("resolveInside() refuses a sibling whose name starts with the root's, and accepts a root that is a link", async () => {
  await using tmp = await tree()
  await assert.rejects(resolveInside(tmp.path, join(tmp.outside, "secret.txt")), { name: "PathOutside" })
  const alias = join(dirname(tmp.path), "alias")
  symlinkSync(tmp.path, alias)
  assert.equal(await resolveInside(alias, "a.txt"), join(tmp.path, "a.txt"))
  assert.equal(await resolveInside(alias, join(alias, "a.txt")), join(tmp.path, "a.txt"))
})

test("resolveInside() and openInside() refuse sockets and devices in the folder itself", async () => {
  await using tmp = await tree()
  const server = createServer().listen(join(tmp.path, "socket"))
  await new Promise((resolve) => server.once("listening", resolve))
  await assert.rejects(resolveInside(tmp.path, "socket"), { name: "PathInvalid", message: /a socket/ })
  assert.throws(() => openInside([tmp.path], "socket"), { name: "PathInvalid" })
  assert.throws(() => openInside([tmp.path], "null"), { name: "PathInvalid", message: /a device/ })
  assert.throws(() => openInside([tmp.path], "pipe"), { name: "PathInvalid", message: /a named pipe/ })
  await new Promise((resolve) => server.close(resolve))
})

test("openInside() opens what is inside, through links too, and nothing else", async () => {
  await using tmp = await tree()
  using handle = openInside([tmp.path], "in/b.txt")
  assert.equal(readFileSync(handle.fd, "utf8"), "inside")
  assert.throws(() => openInside([tmp.path], "out/secret.txt"), { name: "PathOutside" })
  assert.throws(() => openInside([tmp.path], "out.txt"), { name: "PathOutside" })
  assert.throws(() => openInside([tmp.path], "missing"), { code: "ENOENT" })
})

test("openInside() opens files in each of the given folders, and files that are given themselves, and nothing else", async () => {
  await using tmp = await tree()
  tmp.write("../project-three/secret.txt", "outside")
  const secret = join(tmp.outside, "secret.txt")
  for (const granted of [tmp.outside, secret])
    for (const path of [secret, "out.txt"]) {
      using handle = openInside([tmp.path, granted], path)
      assert.equal(readFileSync(handle.fd, "utf8"), "outside")
    }
  const others = ["../project-three/secret.txt", "../project-two"].map((path) => resolve(tmp.path, path))
  for (const path of others)
    assert.throws(() => openInside([tmp.path, secret], path), { name: "PathOutside" })
})

for (const [what, link, path, inside, other] of [
  ["a file", "swapped.txt", "swapped.txt", "folder/b.txt", "../outside/b.txt"],
  ["a parent folder", "swapped", "swapped/b.txt", "folder", "../outside"],
  ["a file (for a pipe)", "swapped.txt", "swapped.txt", "folder/b.txt", "pipe"],
] as const)
  test(`read never shows a file outside while ${what} is swapped for a link to it`, {
    timeout: 60_000,
  }, async () => {
    await inProject(async (tmp) => {
      tmp.write("folder/b.txt", "inside")
      tmp.write("../outside/b.txt", "outside")
      execFileSync("mkfifo", [join(tmp.path, "pipe")])
      const ends = [join(tmp.path, inside), resolve(tmp.path, other)]
      await using child = run(process.execPath, ["-e", swapLinks, join(tmp.path, link), ...ends])
      await child.line(/swapping/)
      const seen = { success: 0, error: 0 }
      for (let tries = 0; tries < 200 || (tries < 20_000 && !(seen.success && seen.error)); tries++) {
        const { status, text } = await call("read", { path })
        assert.doesNotMatch(text, /1\toutside/)
        if (status === "success") assert.equal(text, "1\tinside")
        seen[status as "success" | "error"]++
      }
      assert.ok(seen.success > 0 && seen.error > 0, JSON.stringify(seen))
    })
  })

test("tmpdir gives real paths, on which these tests rely", async () => {
  await using tmp = await tmpdir()
  assert.equal(realpathSync(tmp.path), tmp.path)
})
