// script/node24.mjs, which brings Node 24 along on machines with an older one.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, realpathSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { tmpdir } from "../fixture/tmpdir.ts"

/** Makes a process believe that its Node is too old. */
const old =
  "data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })"

test("npx node runs the Node 24 that was installed for an older machine", async () => {
  await using tmp = await tmpdir()
  cpSync("script/node24.mjs", join(tmp.path, "script/node24.mjs"))
  const installed = join(
    tmp.path,
    `script/node24/node_modules/node-${process.platform}-${process.arch}/bin/node`,
  )
  mkdirSync(dirname(installed), { recursive: true })
  symlinkSync(process.execPath, installed)
  mkdirSync(join(tmp.path, "node_modules/.bin"), { recursive: true })
  tmp.write("package.json", "{}")
  const run = () =>
    execFileSync(process.execPath, ["--import", old, "script/node24.mjs", "true"], { cwd: tmp.path })
  run()
  run()
  const found = execFileSync("npx", ["--no-install", "-c", "command -v node"], {
    cwd: tmp.path,
    encoding: "utf8",
  })
  assert.equal(realpathSync(dirname(found.trim())), realpathSync(join(tmp.path, "node_modules/.bin")))
})
