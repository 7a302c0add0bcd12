// The repository as a source: what is listed, found and reported, on real trees with ignore files.
import assert from "node:assert/strict"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Grounding from "#knowledge/grounding/grounding.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

async function inRepo(fn: (repo: Grounding.CodeRepo, tmp: Tmp) => Promise<void>): Promise<void> {
  await using tmp = await tmpdir({ git: true })
  try {
    await Instance.provide({ directory: tmp.path, fn: () => fn(Grounding.get("code_repo"), tmp) })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
}

test("code_repo lists the files that are not ignored, sorted and bounded", async () => {
  await inRepo(async (repo, tmp) => {
    tmp.write(".gitignore", "out/\n")
    for (const name of ["src/b.ts", "src/a.ts", "src2/c.ts", "out/d.ts", ".env"]) tmp.write(name, "x")
    assert.deepEqual(await repo.list(), {
      names: ["README.md", "src/a.ts", "src/b.ts", "src2/c.ts"],
      total: 4,
      more: false,
    })
    assert.deepEqual(await repo.list({ limit: 1 }), { names: ["README.md"], total: 4, more: false })
    for (const under of ["src", "./src/", "/src"])
      assert.deepEqual((await repo.list({ under })).names, ["src/a.ts", "src/b.ts"])
    assert.deepEqual((await repo.list({ accepts: (name) => name.endsWith(".md") })).names, ["README.md"])
  })
})

test("code_repo keeps to its order and its limit in a tree of many files", async () => {
  await inRepo(async (repo, tmp) => {
    for (let i = 0; i < 1_300; i++) tmp.write(`f/${String(i).padStart(4, "0")}.txt`, `word ${i}`)
    const { names, total } = await repo.list({ under: "f", limit: 3 })
    assert.deepEqual([names, total], [["f/0000.txt", "f/0001.txt", "f/0002.txt"], 1_300])
    const { items, more } = await repo.search({ text: "^word", limit: 2 })
    assert.deepEqual(
      items.map(({ name, line, text }) => [name, line, text]),
      [
        ["f/0000.txt", 1, "word 0"],
        ["f/0001.txt", 1, "word 1"],
      ],
    )
    assert.equal(more, true)
  })
})

test("code_repo searches contents with a regular expression, and says what is wrong with a bad one", async () => {
  await inRepo(async (repo, tmp) => {
    tmp.write("b.txt", "no\nneedle 12: here\n")
    tmp.write("a.txt", "needle 7\n")
    assert.deepEqual(await repo.search({ text: "needle \\d+" }), {
      items: [
        { name: "a.txt", line: 1, text: "needle 7" },
        { name: "b.txt", line: 2, text: "needle 12: here" },
      ],
      more: false,
    })
    assert.deepEqual(await repo.search({ text: "nowhere" }), { items: [], more: false })
    await assert.rejects(repo.search({ text: "(" }), { name: "Grounding.BadSearch", message: /unclosed/ })
    await assert.rejects(repo.search({ text: "a\0b" }), { name: "Grounding.BadSearch" })
  })
})

test("code_repo follows no link out of the repository", async () => {
  await inRepo(async (repo, tmp) => {
    tmp.write("../outside/secret.ts", "export const secret = 1\n")
    symlinkSync(join(tmp.path, "../outside"), join(tmp.path, "link"))
    symlinkSync(join(tmp.path, "../outside/secret.ts"), join(tmp.path, "secret.ts"))
    assert.deepEqual((await repo.list()).names, ["README.md"])
    for (const under of ["link", "../outside", "secret.ts"]) {
      assert.deepEqual((await repo.search({ text: "secret", under })).items, [])
      assert.deepEqual((await repo.search({ kind: "symbol", text: "secret", under })).items, [])
    }
  })
})

test("code_repo stops on abort", async () => {
  await inRepo(async (repo) => {
    const signal = AbortSignal.abort(new Error("enough"))
    await assert.rejects(repo.list({ signal }), /enough/)
    await assert.rejects(repo.search({ text: "x", signal }), /enough/)
  })
})

test("code_repo describes itself in a few lines that stay the same after small changes", async () => {
  await inRepo(async (repo, tmp) => {
    for (let i = 0; i < 95; i++) tmp.write(`src/f${i}.ts`, "x")
    for (let i = 0; i < 30; i++) tmp.write(`docs/f${i}.md`, "x")
    tmp.write("odd\nname\u001b", "x")
    const words = await repo.describe()
    assert.equal(
      words,
      [
        "The repository has about 130 files, without what is ignored.",
        "Languages: TypeScript 75 %, Markdown 25 %",
        "At its root, folders with their files: src/ (100), docs/ (30), README.md, odd\\u000aname\\u001b",
      ].join("\n"),
    )
    tmp.write("src/one-more.ts", "x")
    assert.equal(await repo.describe(), words)
    assert.doesNotMatch(await repo.describe({ accepts: (name) => !name.startsWith("docs/") }), /docs|25 %/)
    assert.match(await repo.describe({ accepts: () => false }), /no files/)
  })
})

test("code_repo is short about a root with many entries", async () => {
  await inRepo(async (repo, tmp) => {
    for (let i = 0; i < 400; i++) tmp.write(`${"long-name-".repeat(12)}${i}/f`, "x")
    const words = await repo.describe()
    assert.ok(Buffer.byteLength(words) < 2_500, `${Buffer.byteLength(words)} bytes`)
    assert.match(words, /, and 380 more$/)
  })
})

test("Grounding.get() of an unknown name lists the available sources", () => {
  assert.throws(() => Grounding.get("wiki" as "code_repo"), {
    name: "Grounding.NotFound",
    message: 'There is no source of grounding "wiki". Available: code_repo, data_store',
  })
})
