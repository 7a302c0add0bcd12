// The language server of TypeScript 7: what edits break comes back with their results.
import assert from "node:assert/strict"
import { readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as ChangedFiles from "#ability/lsp/changed-files.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { call, install, inTrusted, replace, typeScriptProject } from "./harness.ts"

const patient = { lsp: { wait: 30_000 } }

test("an edit that breaks another file returns the diagnostics of both", () =>
  inTrusted(
    typeScriptProject,
    async () => {
      const broken = await replace("src/price.ts", "price: number = 1", "price: string = 1")
      assert.equal(
        broken.text,
        [
          "src/price.ts edited (+1 -1).",
          "New diagnostics:",
          "src/price.ts:1:14 error 2322: Type 'number' is not assignable to type 'string'.",
          "src/total.ts:3:30 error 2362: The left-hand side of an arithmetic operation must be of type 'any', 'number', 'bigint' or an enum type.",
        ].join("\n"),
      )
      const mended = await replace("src/price.ts", "price: string = 1", "price: number = 2")
      assert.equal(mended.text, "src/price.ts edited (+1 -1).")
    },
    patient,
  ))

test("an edit returns only diagnostics that it caused", () =>
  inTrusted(
    (tmp) => {
      typeScriptProject(tmp)
      tmp.write("src/old.ts", 'export const broken: number = "one"\n\nexport const fine = 1\n')
    },
    async () => {
      const first = await replace("src/old.ts", "fine = 1", 'fine: number = "two"')
      assert.match(first.text, /^src\/old\.ts:3:14 error 2322/m)
      assert.doesNotMatch(first.text, /old\.ts:1:/)
      const moved = await replace("src/old.ts", "export const broken", "// a line more\nexport const broken")
      assert.equal(moved.text, "src/old.ts edited (+1 -0).")
    },
    patient,
  ))

test("definition and references find a symbol by its name and line", () =>
  inTrusted(typeScriptProject, async () => {
    const place = { path: "src/total.ts", line: 3, symbol: "price" }
    assert.equal((await call("definition", place)).text, "src/price.ts:1:14 export const price: number = 1")
    assert.deepEqual((await call("references", place)).text.split("\n").sort(), [
      "src/price.ts:1:14 export const price: number = 1",
      'src/total.ts:1:10 import { price } from "./price.ts"',
      "src/total.ts:3:30 export const total: number = price * 2",
    ])
    const wrong = await call("definition", { ...place, line: 2 })
    assert.equal(wrong.text, 'Line 2 of "src/total.ts" has no "price". It is in lines 1, 3.')
  }))

test("diagnostics returns the errors of a file", () =>
  inTrusted(
    (tmp) => {
      typeScriptProject(tmp)
      tmp.write("src/old.ts", 'export const broken: number = "one"\n')
    },
    async () => {
      assert.match(
        (await call("diagnostics", { path: "src/old.ts" })).text,
        /^src\/old\.ts:1:14 error 2322: /,
      )
      assert.equal((await call("diagnostics", { path: "src/price.ts" })).text, "No errors or warnings.")
    },
  ))

test("rename names the files that it would change, and changes them when the call names them", () =>
  inTrusted(typeScriptProject, async (tmp) => {
    const args = { path: "src/total.ts", line: 3, symbol: "price", newName: "cost" }
    const asked = await call("rename", args)
    assert.match(asked.text, /changes 3 places in 2 files\. Nothing is changed yet: .*src\/price\.ts/)
    assert.equal(readFileSync(join(tmp.path, "src/price.ts"), "utf8"), "export const price: number = 1\n")
    const files = JSON.parse(/files: (\[.*\])$/.exec(asked.text)![1]!)
    const done = await call("rename", { ...args, files })
    assert.match(done.text, /^price renamed to cost: 3 places in /)
    assert.equal(readFileSync(join(tmp.path, "src/price.ts"), "utf8"), "export const cost: number = 1\n")
    assert.match(
      readFileSync(join(tmp.path, "src/total.ts"), "utf8"),
      /^import \{ cost \} .*\n\n.* = cost \* 2\n$/,
    )
  }))

test("a file that was written after the first edit counts as a dependent", () =>
  inTrusted(
    typeScriptProject,
    async () => {
      await replace("src/price.ts", "= 1", "= 2")
      const content = 'import { price } from "./price.ts"\n\nexport const half: number = price / 2\n'
      assert.equal((await call("write", { path: "src/half.ts", content })).status, "success")
      const { text } = await replace("src/price.ts", "price: number = 2", 'price: string = "2"')
      assert.match(text, /^src\/half\.ts:3:29 error 2362/m)
      assert.match(text, /^src\/total\.ts:3:30 error 2362/m)
    },
    patient,
  ))

test("a server is told about files that a command changed", () =>
  inTrusted(
    typeScriptProject,
    async (tmp) => {
      await replace("src/total.ts", "price * 2", "price * 3")
      tmp.write("src/price.ts", "export const price: string = 'one'\n")
      ChangedFiles.note([join(tmp.path, "src/price.ts")])
      assert.match((await call("diagnostics", { path: "src/total.ts" })).text, /error 2362/)
    },
    patient,
  ))

test("in a folder that is not trusted neither servers nor formatters start, and the person is told once", async () => {
  await using tmp = await tmpdir({ git: true })
  typeScriptProject(tmp)
  install(tmp, "pyright", ".bin/biome")
  symlinkSync(
    join(tmp.path, "node_modules/pyright/langserver.index.js"),
    join(tmp.path, "node_modules/.bin/pyright-langserver"),
  )
  tmp.write("biome.json", "{}")
  tmp.write("price.py", "price = 1\n")
  const notices: string[] = []
  try {
    await Instance.provide({
      directory: tmp.path,
      async fn() {
        const edited = await replace("src/price.ts", "price: number", "price: string", notices)
        assert.equal(edited.text, "src/price.ts edited (+1 -1).")
        await replace("src/price.ts", "price: string", "price: boolean", notices)
        await replace("price.py", "price = 1", "price = 2", notices)
      },
    })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
  assert.equal(notices.length, 1)
  assert.match(notices[0]!, /^edits are not checked or formatted until you trust this folder: .*trust$/)
})
