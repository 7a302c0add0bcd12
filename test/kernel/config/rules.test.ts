import assert from "node:assert/strict"
import { test } from "node:test"
import * as Config from "#kernel/config/config.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { inInstance, withVariable, writeGlobal } from "./fixture.ts"

const rule = (action: string, pattern: string) => ({ permission: "bash.execute", pattern, action })

test("Config.rules() returns the rules of each layer with its source, in the order of the layers", async () => {
  await using tmp = await tmpdir()
  writeGlobal(JSON.stringify({ permission: [rule("deny", "rm *")], model: "a/b" }))
  tmp.write(
    ".vitamin/config.jsonc",
    JSON.stringify({ permission: [rule("allow", "rm x"), rule("ask", "ls")] }),
  )
  await Trust.grant(tmp.path)
  const environment = JSON.stringify({ permission: [rule("allow", "git *")] })
  await withVariable(environment, () =>
    inInstance(tmp.path, async () => {
      assert.deepEqual(await Config.rules(), [
        { source: "global", rules: [rule("deny", "rm *")] },
        { source: "project", rules: [rule("allow", "rm x"), rule("ask", "ls")] },
        { source: "environment", rules: [rule("allow", "git *")] },
      ])
    }),
  )
})

test("Config.rules() leaves out allow rules of an untrusted folder", async () => {
  await using tmp = await tmpdir()
  tmp.write(
    ".vitamin/config.jsonc",
    JSON.stringify({ permission: [rule("allow", "*"), rule("deny", "rm *")] }),
  )
  await inInstance(tmp.path, async () => {
    assert.deepEqual(await Config.rules(), [{ source: "project", rules: [rule("deny", "rm *")] }])
  })
})
