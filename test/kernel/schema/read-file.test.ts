// Files of an untrusted folder that are swapped while they are read.
import assert from "node:assert/strict"
import { renameSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Config from "#kernel/config/config.ts"
import { beforeCall } from "../../fixture/before-call.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { inInstance, problemsOf } from "../config/fixture.ts"

for (const [when, isSwappedBack, problem] of [
  ["before the file is opened", false, /cannot be read: it leads outside the work tree/],
  ["only while the file is opened", true, /cannot be read: it changed while it was opened/],
] as const)
  test(`Config.get() does not follow a link out of an untrusted folder that is placed ${when}`, async () => {
    await using tmp = await tmpdir()
    const file = tmp.write(".vitamin/config.jsonc", '{ "model": "a/inside" }')
    tmp.write("../outside/config.jsonc", '{ "model": "a/outside" }')
    const [folder, aside] = [join(tmp.path, ".vitamin"), join(tmp.path, "aside")]
    await inInstance(tmp.path, async () => {
      using _ = beforeCall("open", file, 1, () => {
        renameSync(folder, aside)
        symlinkSync("../outside", folder)
      })
      // The real path is resolved before the file is opened, and again afterwards.
      using __ = beforeCall("realpath", file, 2, () => {
        if (!isSwappedBack) return
        rmSync(folder)
        renameSync(aside, folder)
      })
      const { message } = await problemsOf(() => Config.get())
      assert.match(message, problem)
    })
  })
