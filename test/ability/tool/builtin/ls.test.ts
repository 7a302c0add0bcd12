// The ls tool through the gate.
import assert from "node:assert/strict"
import { mkdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import type { Slots } from "#ability/tool/run-tool.ts"
import type { Need } from "#ability/tool/tool.ts"
import { call, inProject } from "../harness.ts"

for (const git of [true, false])
  test(`ls shows folders first, then files with sizes, without what is ignored (${git ? "git" : "no git"})`, async () => {
    await inProject(
      async (tmp) => {
        tmp.write(".gitignore", "node_modules/\n*.log\n")
        tmp.write(".ignore", "generated\n")
        for (const name of ["node_modules/x", "a.log", "generated/x", "src/x", ".github/x"])
          tmp.write(name, "")
        tmp.write("b.txt", "x".repeat(1_500))
        tmp.write("README.md", "0123456789")
        mkdirSync(join(tmp.path, "empty"))
        symlinkSync("src", join(tmp.path, "link"))
        const result = await call("ls", {})
        assert.deepEqual(result.text.split("\n"), [
          ".github/",
          "empty/",
          "src/",
          ".gitignore  20 B",
          ".ignore  10 B",
          "README.md  10 B",
          "b.txt  1.5 KB",
          "link -> src",
          "[ignored: a.log, generated, node_modules]",
        ])
        assert.deepEqual(result.data, { entries: 8, ignored: 3 })
      },
      { git },
    )
  })

test("ls lists a named folder, even if it is ignored or empty", async () => {
  await inProject(async (tmp) => {
    tmp.write(".gitignore", "dist/\n")
    tmp.write("dist/out.js", "x")
    tmp.write("src/a.ts", "x")
    mkdirSync(join(tmp.path, "empty"))
    assert.equal((await call("ls", { path: "src" })).text, "a.ts  1 B")
    assert.equal((await call("ls", { path: "dist" })).text, "out.js  1 B")
    assert.equal((await call("ls", { path: join(tmp.path, "empty") })).text, "(empty folder)")
  })
})

test("ls and glob do not name files that may not be read; ls counts them", async () => {
  await inProject(async (tmp) => {
    tmp.write(".gitignore", "*.key\n")
    for (const name of [".env", "a.txt", "private.key", "secrets/x", "src/b.txt", "src/.env"])
      tmp.write(name, "")
    const judge = ({ target }: Need) => (/\.env$|secrets|private/.test(target) ? "deny" : "allow")
    const slots: Slots = { permit: () => ({ granted: [], judge }) }
    const { text, data } = await call("ls", {}, { slots })
    assert.equal(text, "src/\n.gitignore  6 B\na.txt  0 B\n[3 that may not be read]")
    assert.deepEqual(data, { entries: 3, ignored: 0 })
    assert.equal((await call("ls", { path: "src" }, { slots })).text, "b.txt  0 B\n[1 that may not be read]")
    assert.equal((await call("glob", { pattern: "**/*" }, { slots })).text, "a.txt\nsrc/b.txt")
    assert.match((await call("glob", { pattern: ".env" }, { slots })).text, /^No file matches/)
  })
})

test("ls shows 500 entries and says how many there are", async () => {
  await inProject(async (tmp) => {
    for (let i = 0; i < 600; i++) tmp.write(`f${String(i).padStart(3, "0")}`, "")
    const { text } = await call("ls", {})
    assert.equal(text.split("\n").length, 501)
    assert.match(text, /^f499 {2}0 B\n\[600 entries, the first 500 are shown; glob finds others\]$/m)
  })
})

test("ls answers a file, a missing folder and a link out of the workspace with what is wrong", async () => {
  await inProject(async (tmp) => {
    tmp.write("src/a.ts", "")
    mkdirSync(join(dirname(tmp.path), "outside"))
    symlinkSync(join(dirname(tmp.path), "outside"), join(tmp.path, "link"))
    assert.match((await call("ls", { path: "src/a.ts" })).text, /is a file\. Use read/)
    assert.match((await call("ls", { path: "scr" })).text, /does not exist\. Did you mean "src"\?/)
    assert.match((await call("ls", { path: "link" })).text, /outside of the workspace/)
  })
})
