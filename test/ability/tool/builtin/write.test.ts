// The write tool through the gate: the file on disk afterwards, and the result that the model gets.
import assert from "node:assert/strict"
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, free, inProject } from "../harness.ts"

const write = (path: string, content: string) => call("write", { path, content }, { slots: free })
const utf16be = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le").swap16()
type Data = { diff: string; version: { file: string; id: string }; [name: string]: unknown }

test("write creates a file and the folders that it needs", async () => {
  await inProject(async (tmp) => {
    const result = await write("src/deep/a.ts", "one\ntwo\n")
    assert.equal(result.status, "success")
    assert.equal(result.text, "src/deep/a.ts created (+2 -0), 8 bytes.")
    assert.equal(result.title, "src/deep/a.ts (+2 -0)")
    const { version, diff, ...data } = result.data as Data
    assert.deepEqual(data, { path: "src/deep/a.ts", created: true, bytes: 8, additions: 2, deletions: 0 })
    assert.equal(diff, "@@ -1,0 +1,2 @@\n+one\n+two\n")
    assert.equal(version.file, "src/deep/a.ts")
    assert.equal(readFileSync(join(tmp.path, "src/deep/a.ts"), "utf8"), "one\ntwo\n")
    assert.equal(statSync(join(tmp.path, "src/deep/a.ts")).mode & 0o777, 0o666 & ~process.umask())
    assert.deepEqual(readdirSync(join(tmp.path, "src/deep")), ["a.ts"])
  })
})

test("write replaces a file by a rename, keeps its mode, and leaves nothing beside it", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("run.sh", "a\nb\nc\n")
    chmodSync(path, 0o751)
    const { ino } = statSync(path)
    const result = await write(path, "a\nB\nc\nd\n")
    assert.equal(result.title, "run.sh (+2 -1)")
    assert.equal(result.text, "run.sh replaced (+2 -1), 8 bytes.")
    assert.equal((result.data as Data).diff, "@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n")
    assert.equal((result.data as Data).created, false)
    assert.equal(readFileSync(path, "utf8"), "a\nB\nc\nd\n")
    assert.equal(statSync(path).mode & 0o777, 0o751)
    assert.notEqual(statSync(path).ino, ino)
    assert.deepEqual(readdirSync(tmp.path), ["run.sh"])
  })
})

test("write of the same content changes nothing", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("a.txt", "same\n")
    const before = statSync(path, { bigint: true })
    const result = await write("a.txt", "same\n")
    assert.equal(result.text, "a.txt is already exactly this, 5 bytes.")
    const after = statSync(path, { bigint: true })
    assert.deepEqual([after.ino, after.mtimeNs], [before.ino, before.mtimeNs])
  })
})

for (const content of [
  "",
  "no end",
  "\n",
  "\r\n\n\r",
  "a\0b",
  "😀 ß €",
  "\ufeffmarked\n",
  "$& $1 $$ \\n \\0",
])
  test(`write puts ${JSON.stringify(content)} on the disk byte for byte`, async () => {
    await inProject(async (tmp) => {
      assert.equal((await write("new.txt", content)).status, "success")
      assert.deepEqual(readFileSync(join(tmp.path, "new.txt")), Buffer.from(content))
      tmp.write("old.txt", "old\n")
      assert.equal((await write("old.txt", content)).status, "success")
      assert.deepEqual(readFileSync(join(tmp.path, "old.txt")), Buffer.from(content))
    })
  })

const kept: [what: string, old: Buffer | string, content: string, now: Buffer | string, note: RegExp][] = [
  ["CRLF", "a\r\nb\r\n", "a\nc", "a\r\nc", /\[lines end with CRLF, as before\]/],
  ["a byte order mark", "\ufeffa\n", "ä\n", "\ufeffä\n", /stays UTF8 with a byte order mark/],
  ["UTF-16BE and CRLF", utf16be("a\r\nb"), "ß\n", utf16be("ß\r\n"), /CRLF, as before; .*UTF-16BE/],
  ["UTF-16LE", Buffer.from("\ufeffa\n", "utf16le"), "😀", Buffer.from("\ufeff😀", "utf16le"), /UTF-16LE/],
]
for (const [what, old, content, now, note] of kept)
  test(`write keeps ${what} of the file that it replaces, and says so`, async () => {
    await inProject(async (tmp) => {
      const path = tmp.write("a.txt", old)
      const result = await write("a.txt", content)
      assert.match(result.text, note)
      assert.deepEqual(readFileSync(path), Buffer.from(now))
      assert.equal((result.data as Data).bytes, Buffer.from(now).length)
    })
  })

const given: [what: string, old: Buffer | string, content: string][] = [
  ["mixed line ends", "a\r\nb\n", "x\ny\n"],
  ["CRLF, and the content has CRLF too", "a\r\nb\r\n", "x\r\ny\n"],
  ["latin-1", Buffer.from("caf\xe9\n", "latin1"), "thé\n"],
  ["no text", Buffer.from([0, 1, 2, 3]), "text\n"],
]
for (const [what, old, content] of given)
  test(`write takes the content as it is where the old file has ${what}`, async () => {
    await inProject(async (tmp) => {
      const path = tmp.write("a.txt", old)
      assert.equal((await write("a.txt", content)).status, "success")
      assert.equal(readFileSync(path, "utf8"), content)
    })
  })

test("write replaces a file of gigabytes without reading it", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("huge.log", "x")
    truncateSync(path, 3e9)
    const result = await write("huge.log", "small\n")
    assert.equal(result.text, "huge.log replaced, 6 bytes.")
    assert.equal(readFileSync(path, "utf8"), "small\n")
  })
})

test("write keeps its diff short and its version whole, whatever is written", async () => {
  await inProject(async () => {
    await write("a.txt", "\u0001line of text\n".repeat(100_000))
    const result = await write("a.txt", `${"€".repeat(5_000)}\n`.repeat(1_000))
    const { diff, version, additions, deletions } = result.data as Data
    assert.ok(diff.length < 7_000)
    assert.match(diff, /\[the diff is longer\]\n$/)
    assert.deepEqual([additions, deletions], [1_000, 100_000])
    assert.ok(version.id)
  })
})

test("write refuses a file that somebody changed since it was read, until it is read again", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("a.txt", "one\n")
    await call("read", { path })
    tmp.write("a.txt", "two\n")
    const refused = await write("a.txt", "mine\n")
    assert.equal(refused.status, "error")
    assert.match(refused.text, /^"a\.txt" has changed since it was read; read it again/)
    assert.equal(readFileSync(path, "utf8"), "two\n")
    await call("read", { path })
    assert.equal((await write("a.txt", "mine\n")).status, "success")
    assert.equal((await write("a.txt", "mine, again\n")).status, "success")
    assert.equal(readFileSync(path, "utf8"), "mine, again\n")
  })
})

test("write makes a file again that was removed since it was read", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("a.txt", "one\n")
    await call("read", { path })
    rmSync(path)
    assert.equal((await write("a.txt", "two\n")).status, "success")
    assert.equal(readFileSync(path, "utf8"), "two\n")
  })
})

const bad: [args: Record<string, string>, text: RegExp][] = [
  [{ path: "folder", content: "" }, /"folder" is a folder; path must name a file/],
  [{ path: ".", content: "" }, /"\." is a folder/],
  [{ path: "new/", content: "" }, /it ends like a folder/],
  [{ path: "a.txt/b.txt", content: "" }, /"a\.txt\/b\.txt" cannot be written: a part of its path is a file/],
  [{ path: "a\0.txt", content: "" }, /NUL byte/],
  [{ path: "", content: "" }, /do not fit/],
  [{ path: "folder/../b.txt", content: "" }, /"\.\." segment/],
  [{ path: "../b.txt", content: "" }, /is outside of/],
  [{ path: "x".repeat(300), content: "" }, /too long/],
  [{ path: "b.txt", content: "half \ud83d" }, /half a surrogate pair/],
  [{ path: "b.txt" }, /content: missing/],
  [{ path: "b.txt", content: "", mode: "7" }, /"mode" is not a parameter/],
]
for (const [args, text] of bad)
  test(`write says what is wrong with ${JSON.stringify(args).slice(0, 60)}`, async () => {
    await inProject(async (tmp) => {
      tmp.write("a.txt", "a")
      tmp.write("folder/c.txt", "c")
      const result = await call("write", args, { slots: free })
      assert.equal(result.status, "error")
      assert.match(result.text, text)
      assert.equal(result.error!.recoverable, true)
      assert.deepEqual(readdirSync(tmp.path).sort(), ["a.txt", "folder"])
    })
  })

test("write needs file.write of the absolute path, and does nothing without it", async () => {
  await inProject(async (tmp) => {
    const needs: unknown[] = []
    const permit = (step: { needs: unknown[] }) => {
      needs.push(...step.needs)
      return { message: "no" }
    }
    const result = await call("write", { path: "a/b.txt", content: "x" }, { slots: { permit } })
    assert.equal(result.refused, "permission")
    assert.deepEqual(needs, [{ permission: "file.write", target: join(tmp.path, "a/b.txt") }])
    assert.equal(existsSync(join(tmp.path, "a")), false)
  })
})
