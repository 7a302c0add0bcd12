// The glob tool through the gate, on real trees with ignore files.
import assert from "node:assert/strict"
import { symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import type { Tmp } from "../../../fixture/tmpdir.ts"
import { call, inProject } from "../harness.ts"

function plant(tmp: Tmp, git = false) {
  tmp.write(".gitignore", "node_modules/\n*.log\n")
  tmp.write(".ignore", "generated/\n")
  for (const name of ["src/a.ts", "src/deep/b.ts", "src/c.js", "z.ts", "src/odd\nname.ts", "it's $(x).ts"])
    tmp.write(name, "x")
  for (const name of ["node_modules/m/x.ts", "debug.log", "generated/g.ts"]) tmp.write(name, "x")
  for (const name of [".github/workflows/ci.yml", ".github/x.ts", ".env"]) tmp.write(name, "x")
  if (git) tmp.write(".git/hook.ts", "x")
}

const cases: [pattern: string, path: string | undefined, found: string[]][] = [
  ["**/*.ts", undefined, ["it's $(x).ts", "src/a.ts", "src/deep/b.ts", "src/odd\nname.ts", "z.ts"]],
  ["*.js", undefined, ["src/c.js"]],
  ["src/*.ts", undefined, ["src/a.ts", "src/odd\nname.ts"]],
  ["*.{js,yml}", undefined, ["src/c.js"]],
  ["deep/**", "src", ["src/deep/b.ts"]],
  [".github/**/*.yml", undefined, [".github/workflows/ci.yml"]],
  ["*.yml", ".github", [".github/workflows/ci.yml"]],
  [".env", undefined, [".env"]],
  ["/z.ts", undefined, ["z.ts"]],
]
for (const git of [true, false])
  for (const [pattern, path, found] of cases)
    test(`glob ${pattern} in ${path ?? "."} finds its files, sorted (${git ? "git" : "no git"})`, async () => {
      await inProject(
        async (tmp) => {
          plant(tmp, git)
          const result = await call("glob", { pattern, ...(path ? { path } : {}) })
          assert.equal(result.status, "success")
          assert.equal(result.text, found.join("\n"))
          assert.deepEqual(result.data, { files: found.length })
        },
        { git },
      )
    })

for (const pattern of ["**/*", "*.log", "node_modules/**", "**/x.ts", "generated/*", "**/.git/*", ".*/*.ts"])
  test(`glob ${pattern} finds neither ignored files nor git's own`, async () => {
    await inProject(async (tmp) => {
      plant(tmp, true)
      const { text } = await call("glob", { pattern })
      assert.doesNotMatch(text, /^(node_modules|generated|\.git\/|debug\.log)/m)
    })
  })

test("glob says that nothing matches", async () => {
  await inProject(async () => {
    const { status, text } = await call("glob", { pattern: "*.nope" })
    assert.deepEqual([status, text], ["success", "No file matches *.nope (ignored files are left out)."])
  })
})

test("glob shows the first 1 000 paths in order, the same every time, and says how many there are", async () => {
  await inProject(async (tmp) => {
    for (let i = 0; i < 9_500; i++) tmp.write(`d${i % 50}/f${String(i).padStart(4, "0")}.txt`, "")
    const result = await call("glob", { pattern: "**/*.txt" })
    const shown = result.text.split("\n")
    assert.equal(shown.pop(), "[9500 files match, the first 1000 are shown; narrow the pattern]")
    const all = Array.from({ length: 9_500 }, (_, i) => `d${i % 50}/f${String(i).padStart(4, "0")}.txt`)
    assert.deepEqual(shown, all.sort().slice(0, 1_000))
    assert.deepEqual(result.data, { files: 9_500 })
  })
})

test("glob does not follow links out of the workspace", async () => {
  await inProject(async (tmp) => {
    tmp.write("../outside/secret.ts", "x")
    symlinkSync(join(dirname(tmp.path), "outside"), join(tmp.path, "link"))
    assert.match((await call("glob", { pattern: "**/*.ts" })).text, /^No file matches/)
    const named = await call("glob", { pattern: "*.ts", path: "link" })
    assert.match(named.text, /"[^"]*outside" \(outside of the workspace\)/)
  })
})

for (const [args, text] of [
  [{ pattern: "{a" }, /"{" is not closed/],
  [{ pattern: "../*.ts" }, /"\.\." segment; use path/],
  [{ pattern: "*", path: "nope" }, /"nope" does not exist/],
  [{ pattern: "*", path: "a.txt" }, /"a\.txt" is a file; path must be a folder/],
  [{ pattern: "" }, /- pattern: Too small/],
  [{ patern: "*" }, /did you mean "pattern"/],
] as const)
  test(`glob answers ${JSON.stringify(args)} with what is wrong`, async () => {
    await inProject(async (tmp) => {
      tmp.write("a.txt", "")
      const result = await call("glob", args)
      assert.deepEqual([result.status, result.error?.recoverable], ["error", true])
      assert.match(result.text, text)
    })
  })
