// Notes that several processes write at the same time.
import assert from "node:assert/strict"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { run } from "../../fixture/child.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

test("entries that several processes record under one name are all kept", async () => {
  await using tmp = await tmpdir()
  const folder = join(tmp.path, "notes")
  const notes = import.meta.resolve("#ability/documents/notes.ts")
  const script = `
      const { add } = await import(${JSON.stringify(notes)})
      console.log("ready")
      process.stdin.once("data", () => {
        for (let i = 0; i < 50; i++) add(${JSON.stringify(folder)}, { name: "same", kind: "fact", text: process.pid + " " + i })
        process.exit()
      })`
  const start = () => run(process.execPath, ["--input-type=module", "-e", script])
  await using one = start()
  await using other = start()
  const children = [one, other]
  await Promise.all(children.map((child) => child.line(/ready/)))
  for (const child of children) child.process.stdin!.write("go\n")
  for (const child of children) assert.equal(await child.exit, 0, child.errors())
  assert.equal(readdirSync(folder).length, 100)
})
