// The file of a document index: a broken one and one of an earlier format are replaced.
import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { test } from "node:test"
import * as Secret from "#kernel/secret/secret.ts"
import { createDocumentIndex } from "#knowledge/documents/document-index.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

test("a broken index file is replaced", async () => {
  await using tmp = await tmpdir()
  tmp.write("docs/a.md", "Apples are red.\n")
  const path = tmp.write(
    "broken.db",
    "this is no database, but long enough to look like a file of one".repeat(100),
  )
  const list = async () => ({ files: ["a.md"], isCut: false })
  const index = createDocumentIndex({ folder: join(tmp.path, "docs"), path, list })
  await index.refresh()
  assert.equal((await index.search("apples", 5))[0]?.path, "a.md")
  await index.close()
})

test("an index of an earlier format is deleted, and its documents are read again", async () => {
  await using tmp = await tmpdir()
  Secret.register("canary-5f2b8c91", "test key")
  tmp.write("docs/a.md", "# Door canary-5f2b8c91\n\nThe lighthouse is locked.\n")
  const path = join(tmp.path, "old.db")
  const open = () => {
    const list = async () => ({ files: ["a.md"], isCut: false })
    return createDocumentIndex({ folder: join(tmp.path, "docs"), path, list })
  }
  const first = open()
  await first.refresh()
  await first.close()
  // As the program wrote it that did not redact headings yet.
  const db = new DatabaseSync(path)
  db.exec("update words set name = 'a > Door canary-5f2b8c91'; pragma user_version = 1")
  db.close()
  const index = open()
  assert.equal((await index.refresh()).changed, 1)
  assert.equal((await index.search("lighthouse", 5))[0]?.name, "a > Door [test key]")
  await index.close()
  const files = readdirSync(tmp.path).filter((name) => name.startsWith("old.db"))
  for (const name of files) assert.ok(!readFileSync(join(tmp.path, name)).includes("canary"), name)
})
