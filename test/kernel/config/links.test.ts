// Hot reload if files and folders of the configuration are links that are replaced.
import { mkdirSync, renameSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Config from "#kernel/config/config.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { inInstance } from "./fixture.ts"

const modelIs = (model: string | undefined) =>
  until(async () => (await Config.get()).model === model, `model ${model}`)

/** What `ln -sfn` does: a new link takes the place of the old one at once. */
function link(tmp: Tmp, target: string, name: string) {
  symlinkSync(target, join(tmp.path, `${name}.new`))
  renameSync(join(tmp.path, `${name}.new`), join(tmp.path, name))
}

function config(tmp: Tmp, folder: string): string {
  return tmp.write(`${folder}/config.jsonc`, `{ "model": "a/${folder}" }`)
}

test("Config.watch() notices each time that a linked folder .vitamin is replaced", async () => {
  await using tmp = await tmpdir()
  for (const folder of ["v1", "v2", "v3"]) config(tmp, folder)
  link(tmp, "v1", ".vitamin")
  await inInstance(tmp.path, async () => {
    await Config.watch()
    for (const folder of ["v2", "v3", "v1"]) {
      link(tmp, folder, ".vitamin")
      await modelIs(`a/${folder}`)
    }
    tmp.write("v1/config.jsonc", '{ "model": "a/edited" }')
    await modelIs("a/edited")
  })
})

test("Config.watch() notices every link of a chain, and a target that is created later", async () => {
  await using tmp = await tmpdir()
  await using far = await tmpdir()
  for (const folder of ["one", "two"]) config(far, folder)
  mkdirSync(join(tmp.path, ".vitamin"))
  link(far, "one", "chosen")
  link(tmp, join(far.path, "chosen"), "between")
  link(tmp, "../between/config.jsonc", ".vitamin/config.jsonc")
  await Trust.grant(tmp.path)
  // Outside of the work tree only what was reviewed is read.
  const isRefused = () =>
    until(async () => (await Config.current()).warnings.some((line) => /outside/.test(line)), "a warning")
  await inInstance(tmp.path, async () => {
    await Config.watch()
    await modelIs("a/one")
    link(far, "two", "chosen")
    await isRefused()
    await Trust.grant(tmp.path)
    await modelIs("a/two")
    link(tmp, join(far.path, "later"), "between")
    await modelIs(undefined)
    config(far, "later")
    await isRefused()
    await Trust.grant(tmp.path)
    await modelIs("a/later")
  })
})

test("Config.watch() notices a replaced target, and a replaced ..data", async () => {
  await using tmp = await tmpdir()
  config(tmp, ".vitamin/..1")
  config(tmp, ".vitamin/..2")
  link(tmp, "..1", ".vitamin/..data")
  link(tmp, "..data/config.jsonc", ".vitamin/config.jsonc")
  await inInstance(tmp.path, async () => {
    await Config.watch()
    link(tmp, "..2", ".vitamin/..data")
    await modelIs("a/.vitamin/..2")
    renameSync(
      tmp.write("next.jsonc", '{ "model": "a/replaced" }'),
      join(tmp.path, ".vitamin/..2/config.jsonc"),
    )
    await modelIs("a/replaced")
  })
})

test("Config.watch() is not blocked by links in a circle", async () => {
  await using tmp = await tmpdir()
  config(tmp, "good")
  symlinkSync("b", join(tmp.path, "a"))
  symlinkSync("a", join(tmp.path, "b"))
  link(tmp, "a", ".vitamin")
  await inInstance(tmp.path, async () => {
    await Config.watch()
    link(tmp, "good", ".vitamin")
    await until(async () => (await Config.get().catch(() => undefined))?.model === "a/good", "the good one")
  })
})
