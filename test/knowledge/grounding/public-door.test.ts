// The sources in the public API, for programs that embed vitamin.
import assert from "node:assert/strict"
import { test } from "node:test"
import { Grounding, Instance, Storage } from "#index.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

test("Grounding.get() gives an embedding program the files and the lines of the repository, and what is stored", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("src/a.ts", "export function parse() {}\n")
  try {
    await Instance.provide({
      directory: tmp.path,
      async fn() {
        const repo = Grounding.get("code_repo")
        assert.deepEqual((await repo.list({ under: "src" })).names, ["src/a.ts"])
        const { items } = await repo.search({ text: "par.e" })
        assert.deepEqual(items, [{ name: "src/a.ts", line: 1, text: "export function parse() {}" }])
        await Storage.write(["notes", "one"], { text: "port 8080" })
        const found = await Grounding.get("data_store").search({ text: "8080" })
        assert.deepEqual(found.items, [{ name: "notes/one", text: "port 8080" }])
        assert.throws(() => Grounding.get("moon" as never), { name: "Grounding.NotFound" })
      },
    })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
})
