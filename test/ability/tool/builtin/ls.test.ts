// The ls tool through the gate.
import assert from "node:assert/strict"
import { mkdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
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

test("ls lists another folder, an ignored one too when it is named, and an empty one", async () => {
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
