// The files of dist/ that a plain `vitamin run` loads. Each costs time at every start.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { run } from "../../../fixture/child.ts"
import { command } from "../../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { noServers } from "../../../fixture/no-servers.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const noteFiles = `import { appendFileSync } from "node:fs"
import { registerHooks } from "node:module"
registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) appendFileSync(process.env.LOADED, url.split("/").at(-1) + "\\n")
    return next(url, context)
  },
})`

test("a run that uses nothing special loads six files, and neither Zod nor optional features", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done.")])
  tmp.write("note-files.mjs", noteFiles)
  const loaded = join(tmp.path, "loaded")
  const args = ["--import", join(tmp.path, "note-files.mjs"), command, "run", "hello"]
  await using child = run(process.execPath, args, {
    cwd: tmp.path,
    env: { ...tmp.env, ...noServers, ...env(llm, "chat").variables, LOADED: loaded },
  })
  assert.equal(await child.exit, 0, child.errors())
  const names = readFileSync(loaded, "utf8").trim().split("\n")
  const own = names.filter((name) => name !== "note-files.mjs").map((name) => name.replace(/-.{8}\.js$/, ""))
  assert.deepEqual(own.sort(), ["base", "command", "common", "core", "rolldown-runtime", "vitamin.js"])
})
