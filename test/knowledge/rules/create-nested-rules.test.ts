// Folders with rules, found in a bounded walk.
import assert from "node:assert/strict"
import { relative } from "node:path"
import { test } from "node:test"
import { findRuleFolders } from "#knowledge/rules/create-nested-rules.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

test("the nearest folders with rules come first, and the walk ends at its bounds", async () => {
  await using tmp = await tmpdir()
  tmp.write("AGENTS.md", "of the root")
  for (const folder of ["a/deep/er", "a", "b", "c/deep"]) tmp.write(`${folder}/AGENTS.md`, folder)
  const find = async (folders: number, files: number) => {
    const found = await findRuleFolders(tmp.path, { folders, files })
    return { ...found, folders: found.folders.map((folder) => relative(tmp.path, folder)) }
  }
  assert.deepEqual(await find(100, 100), { folders: ["a", "b", "c/deep", "a/deep/er"], isCut: false })
  assert.deepEqual(await find(100, 2), { folders: ["a", "b"], isCut: true })
  assert.deepEqual(await find(3, 100), { folders: ["a", "b"], isCut: true })
})
