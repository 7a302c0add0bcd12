import assert from "node:assert/strict"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { findReferences, parseReference } from "#engine/attach/find-references.ts"
import { Instance } from "#kernel/instance.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const files = [
  "README.md",
  "Makefile",
  "src/app.ts",
  "src/a b.txt",
  "app/(group)/[id].tsx",
  "notes:10",
  "größe/наука.md",
  "说明.md",
  "dot.",
]

/** The references in a text, as `path` or `path:from-to`. */
async function found(texts: readonly string[], folder = "."): Promise<string[][]> {
  await using tmp = await tmpdir({ git: true })
  for (const file of files) tmp.write(file, "x\n")
  mkdirSync(join(tmp.path, "sub"))
  const directory = join(tmp.path, folder)
  const show = ({ path, startLine, endLine }: ReturnType<typeof parseReference>) =>
    path.replace(tmp.path, "ROOT") + (startLine === undefined ? "" : `:${startLine}-${endLine}`)
  return await Instance.provide({
    directory,
    fn: () => texts.map((text) => findReferences(text.replace("ROOT", tmp.path)).map(show)),
  }).finally(() => Instance.disposeAll())
}

const pointing: [text: string, references: string[]][] = [
  ["explain @README.md", ["README.md"]],
  ["@README.md", ["README.md"]],
  ["line @src/app.ts:10", ["src/app.ts:10-10"]],
  ["lines @src/app.ts:10-20", ["src/app.ts:10-20"]],
  ["backwards @src/app.ts:20-10", ["src/app.ts:20-10"]],
  ["see @src/app.ts, and @README.md.", ["src/app.ts", "README.md"]],
  ["(see @src/app.ts:1-2), then", ["src/app.ts:1-2"]],
  ["is it @src/app.ts? or @README.md!", ["src/app.ts", "README.md"]],
  ["@src/app.ts: it fails", ["src/app.ts"]],
  ["what @src/app.ts's job is", ["src/app.ts"]],
  ["at @src/app.ts:10:5 it says", ["src/app.ts:10-10"]],
  ["“@src/app.ts” and '@README.md' and `@Makefile`", ["src/app.ts", "README.md", "Makefile"]],
  ["a file without an ending: @Makefile", ["Makefile"]],
  ["a folder: @src", ["src"]],
  ['spaces: @"src/a b.txt" and @"src/a b.txt":2-3.', ["src/a b.txt", "src/a b.txt:2-3"]],
  ["brackets: @app/(group)/[id].tsx)", ["app/(group)/[id].tsx"]],
  ["a file that is named like a range: @notes:10", ["notes:10"]],
  ["a name that ends like a sentence: @dot.", ["dot."]],
  ["@größe/наука.md und @说明.md。", ["größe/наука.md", "说明.md"]],
  ["请看@src/app.ts的内容", ["src/app.ts"]],
  ["@./src//app.ts", ["src/app.ts"]],
  ["absolute @ROOT/README.md:1", ["ROOT/README.md:1-1"]],
  ["twice @README.md and @README.md, once with lines @README.md:1", ["README.md", "README.md:1-1"]],
  ["not there: @missing.ts and @src/gone.py:3-4", ["missing.ts", "src/gone.py:3-4"]],
  ["not there, absolute, in the project: @ROOT/gone.md", ["ROOT/gone.md"]],
  ["leads out: @../other.txt and @src/../README.md", ["../other.txt", "src/../README.md"]],
]

const plain = [
  "",
  "no sign at all",
  "mail a@example.com, me@README.md or x.y+z@src/app.ts",
  "ask @alice, @bob.smith and @team/backend",
  "install @ai-sdk/openai and @types/node@20",
  "the decorators @Injectable() and @app.route('/x') and @property.setter",
  "import { x } from '@/lib/utils' and from '@/components/Button.tsx'",
  "see https://example.com/@user/README.md",
  "at @10:30, not @ 11, @, @@, @. or @..",
  "diff @@ -1,3 +1,4 @@ function",
  "```ts\n@README.md\n```\n",
  "~~~\nlook @src/app.ts\n~~~",
  "a block in a block:\n````\n```\n@README.md\n```\n````",
  "a block that is not closed:\n```\n@README.md\n",
  'NSString *s = @"hello world";',
  "git@github.com:owner/repo.git @example.com:8080",
  `@${"a".repeat(5_000)}.md`,
]

test("findReferences() finds files and line ranges", async () => {
  const all = await found(pointing.map(([text]) => text))
  for (const [i, [text, references]] of pointing.entries()) assert.deepEqual(all[i], references, text)
})

test("findReferences() leaves people, packages, addresses and code alone", async () => {
  const all = await found(plain)
  for (const [i, text] of plain.entries()) assert.deepEqual(all[i], [], text)
})

test("findReferences() resolves a path from the current folder, else from the root of the project", async () => {
  assert.deepEqual(await found(["@README.md @src/app.ts:2"], "sub"), [
    ["ROOT/README.md", "ROOT/src/app.ts:2-2"],
  ])
  assert.deepEqual(await found(["@app.ts"], "src"), [["app.ts"]])
})

test("findReferences() is fast on a text full of `@`, and returns at most fifty", async () => {
  const many = Array.from({ length: 100_000 }, (_, i) => `@none${i}.... @README.md:${i}`).join(" ")
  const [first, second, third] = await found([
    many,
    "@".repeat(1e6),
    `@${"./".repeat(400)}x ${"```\n".repeat(9_999)}`,
  ])
  assert.equal(first?.length, 50)
  assert.deepEqual([second, third], [[], []])
})

test("parseReference() accepts any path of an option, existing or not", async () => {
  await using tmp = await tmpdir()
  tmp.write("a.ts", "x")
  tmp.write("a.ts:7", "x")
  await Instance.provide({
    directory: tmp.path,
    fn() {
      const type = "file_reference"
      assert.deepEqual(parseReference("a.ts"), { type, path: "a.ts" })
      assert.deepEqual(parseReference("./a.ts:2"), { type, path: "a.ts", startLine: 2, endLine: 2 })
      assert.deepEqual(parseReference("a.ts:2-5"), { type, path: "a.ts", startLine: 2, endLine: 5 })
      assert.deepEqual(parseReference("a.ts:7"), { type, path: "a.ts:7" })
      assert.deepEqual(parseReference("no such file"), { type, path: "no such file" })
      assert.deepEqual(parseReference("a.ts:x-y"), { type, path: "a.ts:x-y" })
    },
  })
  await Instance.disposeAll()
})
