// The edit tool through the gate: exact edits, and errors that help a model to correct its edit.
import assert from "node:assert/strict"
import { readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, free, inProject } from "../harness.ts"

type Edit = { oldText: string; newText: string; replaceAll?: boolean }
const edit = (path: string, ...edits: Edit[]) => call("edit", { path, edits }, { slots: free })
const utf16be = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le").swap16()
const latin1 = (text: string) => Buffer.from(text, "latin1")

test("edit replaces text and says what changed", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("src/a.ts", "const a = 1\nconst b = 2\nconst c = 3\n")
    const result = await edit("src/a.ts", { oldText: "b = 2", newText: "b = 20" })
    assert.equal(result.status, "success")
    assert.equal(result.text, "src/a.ts edited (+1 -1).")
    assert.equal(result.title, "src/a.ts (+1 -1)")
    const { version, ...data } = result.data as { version: { file: string } }
    assert.deepEqual(data, {
      path: "src/a.ts",
      edits: 1,
      places: 1,
      bytes: 37,
      additions: 1,
      deletions: 1,
      diff: "@@ -1,3 +1,3 @@\n const a = 1\n-const b = 2\n+const b = 20\n const c = 3\n",
    })
    assert.equal(version.file, "src/a.ts")
    assert.equal(readFileSync(path, "utf8"), "const a = 1\nconst b = 20\nconst c = 3\n")
    assert.deepEqual(readdirSync(join(tmp.path, "src")), ["a.ts"])
  })
})

test("edit applies several edits in order, each to the result of the one before", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("a.txt", "one two three")
    const edits = [
      { oldText: "two", newText: "four" },
      { oldText: "four three", newText: "five" },
      { oldText: "one", newText: "" },
    ]
    assert.equal((await edit("a.txt", ...edits)).status, "success")
    assert.equal(readFileSync(path, "utf8"), " five")
  })
})

test("edit makes all edits or none", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("a.txt", "one two two")
    const before = statSync(path, { bigint: true })
    const fine = { oldText: "one", newText: "1" }
    const missing = await edit("a.txt", fine, { oldText: "three", newText: "3" })
    assert.match(missing.text, /^oldText of edit 2 \(of 2\) was not found in "a\.txt"; nothing was changed\./)
    const ambiguous = await edit("a.txt", fine, { oldText: "two", newText: "2" })
    assert.match(ambiguous.text, /^oldText of edit 2 \(of 2\) is in "a\.txt" 2 times/)
    assert.equal(readFileSync(path, "utf8"), "one two two")
    assert.equal(statSync(path, { bigint: true }).mtimeNs, before.mtimeNs)
  })
})

test("edit refuses a text that is there more than once and names the lines, and takes all with replaceAll", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("a.txt", `${"x\n".repeat(3)}y\n${"x\n".repeat(20)}`)
    const refused = await edit("a.txt", { oldText: "x", newText: "$&" })
    assert.equal(refused.status, "error")
    assert.match(refused.text, /23 times \(lines 1, 2, 3, 5, 6, 7, 8, 9, …\).*set replaceAll/)
    const done = await edit("a.txt", { oldText: "x", newText: "$&", replaceAll: true })
    assert.equal(done.text, "a.txt edited in 23 places (+23 -23).")
    assert.equal(readFileSync(path, "utf8"), `${"$&\n".repeat(3)}y\n${"$&\n".repeat(20)}`)
  })
})

test("edit counts places that overlap as two, and replaces them one after the other", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("a.txt", "aaa\n")
    assert.match((await edit("a.txt", { oldText: "aa", newText: "b" })).text, /2 times \(lines 1, …\)/)
    await edit("a.txt", { oldText: "aa", newText: "b", replaceAll: true })
    assert.equal(readFileSync(path, "utf8"), "ba\n")
  })
})

const exact: [what: string, old: string | Buffer, edits: Edit[], now: string | Buffer][] = [
  [
    "LF in oldText for CRLF, and gives newText CRLF",
    "a\r\nb\r\nc\r\n",
    [{ oldText: "a\nb\n", newText: "x\ny\nz\n" }],
    "x\r\ny\r\nz\r\nc\r\n",
  ],
  [
    "a text that begins and ends with line ends",
    "a\r\n\r\nb\r\n",
    [{ oldText: "\n\nb\n", newText: "\nb" }],
    "a\r\nb",
  ],
  ["a line without an end in a CRLF file", "a\r\nb", [{ oldText: "b", newText: "b\nc" }], "a\r\nb\r\nc"],
  [
    "each part of a file with mixed line ends as it is there",
    "a\nb\r\nc\nd\r\n",
    [
      { oldText: "a", newText: "1\n2" },
      { oldText: "d", newText: "3\n4" },
      { oldText: "b\nc", newText: "5\n6" },
    ],
    "1\n2\n5\r\n6\n3\r\n4\r\n",
  ],
  ["explicit CRLF in newText as it is given", "a\nb\n", [{ oldText: "a\n", newText: "a\r\n" }], "a\r\nb\n"],
  ["no last line end", "a\nb", [{ oldText: "b", newText: "c" }], "a\nc"],
  ["a last line end", "a\nb\n", [{ oldText: "b\n", newText: "b" }], "a\nb"],
  ["a byte order mark", "\ufeffä\n", [{ oldText: "ä", newText: "ö" }], "\ufeffö\n"],
  ["UTF-16BE", utf16be("a\r\nß\r\n"), [{ oldText: "a\nß", newText: "😀\né" }], utf16be("😀\r\né\r\n")],
  [
    "UTF-16LE with half a character at its end",
    Buffer.concat([Buffer.from("\ufeffab", "utf16le"), Buffer.from([0x41])]),
    [{ oldText: "b", newText: "c" }],
    Buffer.concat([Buffer.from("\ufeffac", "utf16le"), Buffer.from([0x41])]),
  ],
  [
    "UTF-16LE with a lone surrogate elsewhere",
    Buffer.from("\ufeff\ud83d x", "utf16le"),
    [{ oldText: "x", newText: "y" }],
    Buffer.from("\ufeff\ud83d y", "utf16le"),
  ],
  [
    "latin-1, in what is looked for and in what is put in",
    latin1("caf\xe9 \x80\nna\xefve\nplain\n"),
    [
      { oldText: "café", newText: "thé" },
      { oldText: "plain", newText: "pläin" },
    ],
    latin1("th\xe9 \x80\nna\xefve\npl\xe4in\n"),
  ],
  [
    "one odd byte among UTF-8, each line as it is",
    Buffer.concat([Buffer.from("schön\nzwölf\n"), latin1("odd \xff\nplain\n")]),
    [
      { oldText: "schön", newText: "größer" },
      { oldText: "odd ÿ", newText: "ödd ÿ" },
      { oldText: "plain", newText: "€" },
    ],
    Buffer.concat([Buffer.from("größer\nzwölf\n"), latin1("\xf6dd \xff\n"), Buffer.from("€\n")]),
  ],
  [
    "$ and regex characters",
    "a.c $1 [x] (y)* abc\n",
    [
      { oldText: "a.c", newText: "$& $1 $$ $` $' \\1" },
      { oldText: "[x] (y)*", newText: "$<n>" },
    ],
    "$& $1 $$ $` $' \\1 $1 $<n> abc\n",
  ],
]
for (const [what, old, edits, now] of exact)
  test(`edit keeps ${what}`, async () => {
    await inProject(async (tmp) => {
      const path = tmp.write("a.txt", old)
      const result = await edit("a.txt", ...edits)
      assert.equal(result.status, "success", result.text)
      assert.deepEqual(readFileSync(path), Buffer.from(now))
    })
  })

test("edit treats LF and CRLF alike when it counts matches", async () => {
  await inProject(async (tmp) => {
    tmp.write("a.txt", "a\nb\n-\na\r\nb\r\n")
    assert.match((await edit("a.txt", { oldText: "a\nb", newText: "c" })).text, /2 times \(lines 1, 4\)/)
    assert.match((await edit("a.txt", { oldText: "\nb", newText: "c" })).text, /2 times \(lines 1, 4\)/)
    assert.equal((await edit("a.txt", { oldText: "a\r\nb", newText: "c" })).status, "success")
    assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "a\nb\n-\nc\r\n")
  })
})

test("edit says which character an 8-bit file cannot have", async () => {
  await inProject(async (tmp) => {
    tmp.write("a.txt", latin1("caf\xe9\n"))
    const result = await edit("a.txt", { oldText: "café", newText: "5 €" })
    assert.match(result.text, /"€" cannot be written in this file: .* 8-bit encoding/)
    assert.deepEqual(readFileSync(join(tmp.path, "a.txt")), latin1("caf\xe9\n"))
  })
})

test("edit refuses a file that changed since it was read, but not one that was only touched or never read", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("a.txt", "one\n")
    assert.equal((await edit("a.txt", { oldText: "one", newText: "two" })).status, "success")
    tmp.write("a.txt", "three\n")
    const refused = await edit("a.txt", { oldText: "three", newText: "four" })
    assert.match(refused.text, /^"a\.txt" has changed since it was read; read it again/)
    assert.equal(readFileSync(path, "utf8"), "three\n")
    await call("read", { path })
    rmSync(path)
    tmp.write("a.txt", "three\n")
    assert.equal((await edit("a.txt", { oldText: "three", newText: "four" })).status, "success")
    const other = await call(
      "edit",
      { path, edits: [{ oldText: "four", newText: "five" }] },
      {
        slots: free,
        sessionId: "ses_2",
      },
    )
    assert.equal(other.status, "success")
    assert.match((await edit("a.txt", { oldText: "five", newText: "six" })).text, /changed since it was read/)
  })
})

test("edit reports a file that was removed since it was read, with similar names", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("a.txt", "one\n")
    tmp.write("b.txt", "one\n")
    await call("read", { path })
    rmSync(path)
    const result = await edit("a.txt", { oldText: "one", newText: "two" })
    assert.match(result.text, /^"a\.txt" does not exist\. Did you mean "b\.txt"\?/)
    assert.deepEqual(readdirSync(tmp.path), ["b.txt"])
  })
})

test("edit does not match half a character with a replacement character", async () => {
  await inProject(async (tmp) => {
    tmp.write("a.txt", "a \ufffd b\n")
    assert.match((await edit("a.txt", { oldText: "\ud83d", newText: "x" })).text, /was not found/)
  })
})

const bad: [what: string, path: string, edits: Edit[], text: RegExp][] = [
  ["a missing file", "srv/a.ts", [{ oldText: "a", newText: "b" }], /does not exist\. Did you mean "src"\?/],
  ["a missing name", "src/b.ts", [{ oldText: "a", newText: "b" }], /Did you mean "src\/a\.ts"\?/],
  ["a folder", "src", [{ oldText: "a", newText: "b" }], /"src" is a folder; path must name a file/],
  ["a binary file", "a.bin", [{ oldText: "a", newText: "b" }], /"a\.bin" is not text and cannot be edited/],
  ["an empty oldText", "src/a.ts", [{ oldText: "", newText: "b" }], /edits\.0\.oldText: .*use write/],
  ["a text that stays", "src/a.ts", [{ oldText: "a", newText: "a" }], /edits\.0: expected newText to differ/],
  ["no edits", "src/a.ts", [], /edits: /],
  ["half a character", "src/a.ts", [{ oldText: "a", newText: "\udc00" }], /half a surrogate pair/],
  ["a path outside", "../b.ts", [{ oldText: "a", newText: "b" }], /is outside of/],
  ["an empty file", "empty.txt", [{ oldText: "a", newText: "b" }], /Nothing in the file is like it/],
]
for (const [what, path, edits, text] of bad)
  test(`edit says what is wrong with ${what}`, async () => {
    await inProject(async (tmp) => {
      tmp.write("src/a.ts", "a\n")
      tmp.write("empty.txt", "")
      tmp.write("a.bin", Buffer.from([0x61, 0, 1, 2, 0xff]))
      tmp.write("../b.ts", "a\n")
      const result = await edit(path, ...edits)
      assert.equal(result.status, "error")
      assert.match(result.text, text)
      assert.equal(result.error!.recoverable, true)
      assert.equal(readFileSync(join(tmp.path, "src/a.ts"), "utf8"), "a\n")
      assert.equal(readFileSync(join(tmp.path, "../b.ts"), "utf8"), "a\n")
    })
  })

test("edit refuses a file that is too large and says what to use", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("huge.log", "start\n")
    truncateSync(path, 3e9)
    assert.match(
      (await edit("huge.log", { oldText: "start", newText: "end" })).text,
      /3000000000 bytes.*bash/,
    )
  })
})

test("edit of some megabytes changes one place and nothing else", async () => {
  await inProject(async (tmp) => {
    const lines = Array.from({ length: 200_000 }, (_, i) => `line ${i} of some length, to be many bytes\r\n`)
    const path = tmp.write("big.txt", lines.join(""))
    const result = await edit("big.txt", { oldText: "line 150000 of", newText: "line $1\nof" })
    assert.equal(result.title, "big.txt (+2 -1)")
    lines[150_000] = lines[150_000]!.replace("150000 of", () => "$1\r\nof")
    assert.equal(readFileSync(path, "utf8"), lines.join(""))
  })
})

test("edit needs file.edit of the absolute path", async () => {
  await inProject(async (tmp) => {
    tmp.write("a.txt", "a")
    const needs: unknown[] = []
    const permit = (step: { needs: unknown[] }) => {
      needs.push(...step.needs)
      return { message: "no" }
    }
    const edits = [{ oldText: "a", newText: "b" }]
    const result = await call("edit", { path: "a.txt", edits }, { slots: { permit } })
    assert.equal(result.refused, "permission")
    assert.deepEqual(needs, [{ permission: "file.edit", target: join(tmp.path, "a.txt") }])
    assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "a")
  })
})
