// Another process gives or takes back trust while the configuration is watched.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { promisify } from "node:util"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { inInstance } from "./fixture.ts"

const modules = new URL("../../../src/kernel/", import.meta.url)

async function inAnotherProcess(tmp: Tmp, call: "grant" | "remove", folder = tmp.path) {
  const [trust, storage] = ["trust/trust.ts", "storage/storage.ts"].map((name) => new URL(name, modules).href)
  const script = `const Trust = await import("${trust}"); const Storage = await import("${storage}")
    await Trust.${call}(${JSON.stringify(folder)}); await Storage.close()`
  const args = ["--input-type=module", "-e", script]
  await promisify(execFile)(process.execPath, args, { env: tmp.env, timeout: 20_000 })
}

const environmentIs = (value: string | undefined) =>
  until(async () => (await Config.get()).environment?.pass?.[0] === value, `environment ${value}`)

test("Config.watch() applies settings when their folder becomes trusted, and drops them when trust ends", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/config.jsonc", '{ "model": "a/b", "environment": { "pass": ["b"] } }')
  tmp.write(".vitamin/config.ts", 'export default { agent: { name: "ts" } }')
  await inInstance(tmp.path, async (changes) => {
    await Config.watch()
    assert.equal((await Config.get()).environment, undefined)
    await inAnotherProcess(tmp, "grant")
    await environmentIs("b")
    assert.equal((await Config.get()).agent?.name, "ts")
    await inAnotherProcess(tmp, "remove")
    await environmentIs(undefined)
    assert.deepEqual(await Config.get(), { model: "a/b" })
    assert.deepEqual(changes, [
      ["project", "typescript"],
      ["project", "typescript"],
    ])
  })
})

test("Config.watch() follows the trust in a work tree that git init made around the folder", async () => {
  await using tmp = await tmpdir()
  tmp.write("inner/.vitamin/config.jsonc", '{ "environment": { "pass": ["b"] } }')
  const inner = join(tmp.path, "inner")
  await Trust.grant(inner)
  await inInstance(inner, async () => {
    await Config.watch()
    await environmentIs("b")
    await promisify(execFile)("git", ["init", "-q"], { cwd: tmp.path, env: tmp.env })
    // Nobody has trusted the new work tree.
    await environmentIs(undefined)
    assert.equal(await Trust.check(Instance.worktree), false)
    await inAnotherProcess(tmp, "grant", inner)
    await until(() => Trust.check(Instance.worktree), "trust in the new work tree")
    await inAnotherProcess(tmp, "remove", inner)
    assert.equal(await Trust.check(Instance.worktree), false)
  })
})

for (const kind of ["broken", "linked from outside"])
  test(`Config.watch() ignores the settings of a folder when its trust ends, also if the file is ${kind}`, async () => {
    await using tmp = await tmpdir()
    const content = '{ "model": "a/b", "environment": { "pass": ["b"] } }'
    if (kind === "broken") tmp.write(".vitamin/config.jsonc", content)
    else {
      tmp.write("../elsewhere/config.jsonc", content)
      symlinkSync("../elsewhere", join(tmp.path, ".vitamin"))
    }
    await Trust.grant(tmp.path)
    await inInstance(tmp.path, async () => {
      await Config.watch()
      await environmentIs("b")
      if (kind === "broken") {
        tmp.write(".vitamin/config.jsonc", "{")
        await until(async () => (await Config.current()).warnings.length > 0, "a warning")
        assert.equal((await Config.get()).environment?.pass?.[0], "b")
      }
      await inAnotherProcess(tmp, "remove")
      await environmentIs(undefined)
      const { config, warnings, ignored } = await Config.current()
      assert.equal(config.model, "a/b")
      assert.match(warnings.join("\n"), /the last good one stays/)
      assert.ok(ignored.some(({ key }) => key === "environment"))
    })
  })
