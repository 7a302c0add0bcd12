// Formatters run on files that the agent changed, and a failing one leaves them as they were edited.
import assert from "node:assert/strict"
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { hasProcess } from "#util/process.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { call, install, installTools, inTrusted, noTools, program, replace } from "../lsp/harness.ts"

const read = (tmp: Tmp, path: string) => readFileSync(join(tmp.path, path), "utf8")

/** A formatter in a file of its own: it gets the path of the file as its argument. */
function formatterOf(tmp: Tmp, script: string) {
  tmp.write("tools/format.sh", `#!/bin/sh\n${script}\n`)
  chmodSync(join(tmp.path, "tools/format.sh"), 0o755)
  const mine = { command: [join(tmp.path, "tools/format.sh"), "$FILE"], extensions: [".txt"] }
  tmp.write(".vitamin/config.jsonc", JSON.stringify({ lsp: false, formatter: { mine } }))
  tmp.write("a.txt", "one\n")
}

test("biome formats an edited file if the project uses it, and the diff is the final one", () =>
  inTrusted(
    (tmp) => {
      install(tmp, "@biomejs/biome", ".bin/biome")
      tmp.write("biome.json", JSON.stringify({ root: true, formatter: { indentStyle: "space" } }))
      tmp.write("src/a.ts", "export const a = 1;\n")
    },
    async (tmp) => {
      const { text, data } = await replace("src/a.ts", "a = 1;", "a   =   [1,2]")
      assert.equal(text, "src/a.ts edited (+1 -1). [formatted]")
      assert.equal(read(tmp, "src/a.ts"), "export const a = [1, 2];\n")
      assert.match((data as { diff: string }).diff, /^\+export const a = \[1, 2\];$/m)
      // The formatted version is the one that the session knows.
      assert.equal((await replace("src/a.ts", "[1, 2]", "[3]")).status, "success")
    },
    { lsp: false },
  ))

test("a project that does not use a formatter gets none", () =>
  inTrusted(
    (tmp) => {
      install(tmp, ".bin/biome")
      tmp.write("src/a.ts", "export const a = 1;\n")
    },
    async (tmp) => {
      assert.equal((await replace("src/a.ts", "a = 1;", "a   =   2")).text, "src/a.ts edited (+1 -1).")
      assert.equal(read(tmp, "src/a.ts"), "export const a   =   2\n")
    },
    { lsp: false },
  ))

test("a configured formatter runs on files with its ending, also on new ones", () =>
  inTrusted(
    (tmp) => formatterOf(tmp, `tr a-z A-Z < "$1" > "$1.new" && mv "$1.new" "$1"`),
    async (tmp) => {
      const made = await call("write", { path: "b.txt", content: "two\n" })
      assert.equal(made.text, "b.txt created (+1 -0), 4 bytes. [formatted]")
      assert.equal(read(tmp, "b.txt"), "TWO\n")
      await call("write", { path: "c.md", content: "two\n" })
      assert.equal(read(tmp, "c.md"), "two\n")
    },
  ))

test("a formatter that fails leaves the file as it was edited, and is named once", () =>
  inTrusted(
    (tmp) => formatterOf(tmp, `echo half > "$1"; echo "no such option" >&2; exit 1`),
    async (tmp) => {
      const notices: string[] = []
      const first = await replace("a.txt", "one", "two", notices)
      assert.equal(
        first.text,
        'a.txt edited (+1 -1). [the formatter "mine" failed: no such option; the file is as you edited it]',
      )
      assert.equal(read(tmp, "a.txt"), "two\n")
      assert.equal(notices.length, 1)
      const second = await replace("a.txt", "two", "three", notices)
      assert.equal(second.text, "a.txt edited (+1 -1). [not formatted]")
      assert.equal(notices.length, 1)
    },
  ))

test("a formatter that takes longer than ten seconds is ended, and what it wrote is taken back", () =>
  inTrusted(
    (tmp) => formatterOf(tmp, `echo half > "$1"; echo $$ > pid; exec sleep 60`),
    async (tmp) => {
      const { text } = await replace("a.txt", "one", "two")
      assert.match(
        text,
        /the formatter "mine" failed: it took longer than 10 s; the file is as you edited it/,
      )
      assert.equal(read(tmp, "a.txt"), "two\n")
      assert.equal(hasProcess(Number(read(tmp, "pid"))), false)
    },
  ))

const wrong = "const  a   = {b:1}\n"

test("prettier formats an edited file with the project's settings", { skip: noTools }, () =>
  inTrusted(
    (tmp) => {
      installTools(tmp, "prettier")
      tmp.write(".prettierrc", "semi: false\n")
      tmp.write("a.js", "\n")
    },
    async (tmp) => {
      const { text } = await call("write", { path: "a.js", content: wrong })
      assert.match(text, /\[formatted\]$/)
      assert.equal(read(tmp, "a.js"), "const a = { b: 1 }\n")
      const { text: broken } = await call("write", { path: "a.js", content: "const = 1\n" })
      assert.match(broken, /the formatter "prettier" failed: .*; the file is as you edited it/)
      assert.equal(read(tmp, "a.js"), "const = 1\n")
    },
    { lsp: false },
  ),
)

const ruff = join(import.meta.dirname, "../../../script/language-tools/ruff/bin/ruff")
test(
  "ruff formats an edited file with the project's settings",
  {
    skip: existsSync(ruff) ? false : "ruff is not installed here; script/setup.sh says why",
  },
  () =>
    inTrusted(
      (tmp) => {
        mkdirSync(join(tmp.path, ".venv/bin"), { recursive: true })
        symlinkSync(ruff, join(tmp.path, ".venv/bin/ruff"))
        tmp.write("pyproject.toml", '[tool.ruff.format]\nquote-style = "single"\n')
      },
      async (tmp) => {
        const { text } = await call("write", { path: "a.py", content: 'a = [1,2]\nb = "x"\n' })
        assert.match(text, /\[formatted\]$/)
        assert.equal(read(tmp, "a.py"), "a = [1, 2]\nb = 'x'\n")
      },
      { lsp: false },
    ),
)

test("gofmt formats an edited file of a module", { skip: program("gofmt").missing }, () =>
  inTrusted(
    (tmp) => tmp.write("go.mod", "module example.com/shop\n"),
    async (tmp) => {
      const { text } = await call("write", { path: "a.go", content: "package shop\nvar   A = 1\n" })
      assert.match(text, /\[formatted\]$/)
      assert.equal(read(tmp, "a.go"), "package shop\n\nvar A = 1\n")
    },
    { lsp: false },
  ),
)

test("a formatter that removes the file has failed, and the file is written back", () =>
  inTrusted(
    (tmp) => formatterOf(tmp, `rm "$1"`),
    async (tmp) => {
      const { status, text } = await replace("a.txt", "one", "two")
      assert.equal(status, "success")
      assert.match(text, /the formatter "mine" failed: it removed the file; the file is as you edited it/)
      assert.equal(read(tmp, "a.txt"), "two\n")
      assert.equal((await replace("a.txt", "two", "three")).status, "success")
    },
  ))

test("a formatter that puts a link or a folder in place of the file changes nothing outside", () =>
  inTrusted(
    (tmp) => {
      formatterOf(tmp, `rm "$1"; case "$1" in *a.txt) ln -s ../outside.txt "$1";; *) mkdir "$1";; esac`)
      tmp.write("../outside.txt", "outside\n")
      tmp.write("b.txt", "one\n")
    },
    async (tmp) => {
      const linked = await replace("a.txt", "one", "two")
      assert.equal(read(tmp, "../outside.txt"), "outside\n")
      assert.match(linked.text, /^Path "a\.txt" is outside of /)
      const folder = await replace("b.txt", "one", "two")
      assert.match(folder.text, /"b\.txt" is a folder/)
    },
  ))

test("a file that a formatter changed beside the edited one must be read again before an edit", () =>
  inTrusted(
    (tmp) => {
      formatterOf(tmp, `echo changed > "$(dirname "$1")/b.txt"`)
      tmp.write("b.txt", "one\n")
    },
    async (tmp) => {
      await call("read", { path: "b.txt" })
      await replace("a.txt", "one", "two")
      assert.equal(read(tmp, "b.txt"), "changed\n")
      const stale = await call("write", { path: "b.txt", content: "lost\n" })
      assert.equal(stale.status, "error")
      assert.match(stale.text, /changed/)
    },
  ))

/** Configurations of which prettier 3.10 runs `evil.mjs`, or other code. */
const programs: Record<string, string> = {
  "prettier.config.js": "export default {}",
  ".prettierrc.mts": "export default {}",
  ".prettierrc": '"./evil.mjs"',
  ".prettierrc.yaml": "# all\n./evil.mjs",
  ".prettierrc.yml": "x=/../evil.mjs",
  ".prettierrc.json": '{ "plugins": ["./evil.mjs"] }',
  ".prettierrc.json5": '{ "plug\\u0069ns": ["evil.mjs"] }',
  ".prettierrc.toml": 'plugins = ["data:text/javascript,evil()"]',
  "package.json": '{ "prettier": "./evil.mjs" }',
  "package.yaml": "prettier: ./evil.mjs",
}

for (const [name, text] of Object.entries(programs))
  test(`prettier is not started with ${name} of ${text}`, () => runPrettier(name, text, "two\n"))

for (const [name, text] of [
  [
    ".prettierrc",
    "---\n# all\nsemi: false\noverrides:\n  - files: '*.x'\n    options:\n      parser: babel\n",
  ],
  [".prettierrc.toml", "[[overrides]]\nfiles = '*.x'\n"],
  [".prettierrc.json", '// all\n{ "$schema": "https://example.com/s", "semi": false, "parser": "babel" }'],
  ["package.json", '{ "prettier": { "semi": false }, "plugins": ["./a.js"] }'],
] as const)
  test(`prettier runs with ${name} of ${text}`, () => runPrettier(name, text, "FORMATTED\n"))

/** Edits a file beside a configuration. The prettier of the project writes FORMATTED. */
function runPrettier(name: string, text: string, expected: string) {
  return inTrusted(
    (tmp) => {
      tmp.write("package.json", '{ "devDependencies": { "prettier": "3" } }')
      tmp.write("node_modules/.bin/prettier", '#!/bin/sh\necho "FORMATTED" > "$4"\n')
      chmodSync(join(tmp.path, "node_modules/.bin/prettier"), 0o755)
      tmp.write(`part/${name}`, text)
      tmp.write("part/a.md", "one\n")
    },
    async (tmp) => {
      await replace("part/a.md", "one", "two")
      assert.equal(read(tmp, "part/a.md"), expected)
    },
    { lsp: false },
  )
}
