// A session that continues in another process still knows which files it has read.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { run } from "../../../fixture/child.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const command = fileURLToPath(new URL("../../../../src/edge/cli/vitamin.ts", import.meta.url))

test("vitamin run --continue refuses to edit a file that changed between the two processes", async () => {
  await using tmp = await tmpdir({ git: true })
  const path = tmp.write("a.txt", "one\n")
  const edit = call("edit", { path: "a.txt", edits: [{ oldText: "one", newText: "two" }] })
  const read = call("read", { path: "a.txt" })
  await using llm = await fakeLlm([read, text("Read."), edit, read, edit, text("Edited.")])
  const vitamin = async (...args: string[]) => {
    const options = { cwd: tmp.path, env: { ...tmp.env, ...env(llm, "chat").variables } }
    await using child = run(process.execPath, [command, "run", ...args], options)
    child.process.stdin!.end()
    assert.equal(await child.exit, 0, child.errors())
  }
  await vitamin("read it")
  tmp.write("a.txt", "one and more\n")
  await vitamin("--continue", "--yes", "edit it")
  const after = (n: number) => JSON.stringify(llm.requests[n]!.body)
  assert.match(after(3), /a\.txt\\+" has changed since it was read; read it again/)
  assert.match(after(5), /a\.txt edited \(\+1 -1\)/)
  assert.equal(readFileSync(path, "utf8"), "two and more\n")
})
