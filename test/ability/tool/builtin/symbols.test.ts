// The symbols tool through the gate: folders, single files, files that may not be read, and files that are swapped.
import assert from "node:assert/strict"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, inProject } from "../harness.ts"

test("symbols lists definitions by file", async () => {
  await inProject(async (tmp) => {
    tmp.write("src/b.ts", "import x\nexport function find(a: string) {\n  find(a)\n}\n")
    tmp.write("src/a.py", "class Finder:\n    def find_all(self):\n")
    tmp.write("other/c.ts", "function find() {}\n")
    const { status, text, data } = await call("symbols", { name: "find", path: "src" })
    assert.equal(status, "success")
    assert.equal(
      text,
      [
        "src/a.py",
        "1: type  class Finder:",
        "2: function  def find_all(self):",
        "",
        "src/b.ts",
        "2: function  export function find(a: string) {",
      ].join("\n"),
    )
    assert.deepEqual(data, { symbols: 3, more: false })
  })
})

test("symbols of one file gives what it defines", async () => {
  await inProject(async (tmp) => {
    tmp.write("src/b.ts", "const one = 1\nfunction two() {}\n")
    const { text } = await call("symbols", { path: "src/b.ts" })
    assert.equal(text, "src/b.ts\n1: constant  const one = 1\n2: function  function two() {}")
    assert.equal(
      (await call("symbols", { path: "src/b.ts", name: "TWO" })).text,
      "src/b.ts\n2: function  function two() {}",
    )
  })
})

test("symbols reports no match, and how many more there are", async () => {
  await inProject(async (tmp) => {
    tmp.write("a.ts", Array.from({ length: 300 }, (_, i) => `const v${i} = ${i}`).join("\n"))
    assert.match(
      (await call("symbols", { name: "none" })).text,
      /^No definition of none found\. Nothing mentions it\.$/,
    )
    const { text } = await call("symbols", { name: "v" })
    assert.match(text, /\n\[more than 200 symbols, the first 200 are shown; narrow the search\]$/)
  })
})

test("symbols shows no file that may not be read, and follows no link", async () => {
  await inProject(async (tmp) => {
    tmp.write("src/a.ts", "function open() {}\n")
    tmp.write("src/secret/b.ts", "function open() {}\n")
    tmp.write("../outside/c.ts", "function open() {}\n")
    symlinkSync(join(tmp.path, "../outside"), join(tmp.path, "link"))
    const judge = ({ target }: { target: string }) => (target.includes("secret") ? "deny" : "allow") as "deny"
    const permit = () => ({ granted: [], judge })
    const { text } = await call("symbols", { name: "open" }, { slots: { permit } })
    assert.equal(text, "src/a.ts\n1: function  function open() {}")
    const outside = await call("symbols", { name: "open", path: "link" })
    assert.equal(outside.status, "error")
    assert.match((await call("symbols", { path: "none" })).text, /does not exist/)
    assert.equal((await call("symbols", { name: "a\0b" })).status, "error")
  })
})

test("symbols shows readable lines that mention a name without a definition", async () => {
  await inProject(async (tmp) => {
    tmp.write("src/a.ts", "one()\n  call(a.b*c)\n")
    tmp.write("src/.env", "a.b*c = secret\n")
    tmp.write("notes.txt", "axbbc is not a.b*c\n")
    const { text, data } = await call("symbols", { name: "a.b*c" })
    const lines = ["notes.txt", "1: axbbc is not a.b*c", "", "src/a.ts", "2: call(a.b*c)"]
    assert.equal(
      text,
      `No definition of a.b*c found.\nThe first lines that mention it:\n\n${lines.join("\n")}`,
    )
    assert.deepEqual(data, { symbols: 0, more: false })
  })
})
