import assert from "node:assert/strict"
import fs, { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout } from "node:timers/promises"
import * as Config from "#kernel/config/config.ts"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { inInstance, withVariable, writeGlobal } from "./fixture.ts"

const modelIs = (model: string | undefined) =>
  until(async () => (await Config.get()).model === model, `model ${model}`)

/** Longer than one poll (`pollFiles` in watch.ts), so that a change which must not be reported would have been. */
const quiet = () => setTimeout(1_500)

function replace(tmp: Tmp, name: string, content: string) {
  renameSync(tmp.write(`${name}.new`, content), join(tmp.path, name))
}

test("Config.watch() notices a file that is created, replaced, edited in place and deleted", async () => {
  await using tmp = await tmpdir()
  mkdirSync(join(tmp.path, ".vitamin"))
  await inInstance(tmp.path, async (changes) => {
    await Config.watch()
    tmp.write(".vitamin/config.jsonc", '{ "model": "a/created" }')
    await modelIs("a/created")
    replace(tmp, ".vitamin/config.jsonc", '{ "model": "a/renamed" }')
    await modelIs("a/renamed")
    tmp.write(".vitamin/config.jsonc", '{ "model": "a/written" }')
    await modelIs("a/written")
    replace(tmp, ".vitamin/config.jsonc", '{ "model": "a/renamed-again" }')
    await modelIs("a/renamed-again")
    rmSync(join(tmp.path, ".vitamin/config.jsonc"))
    await modelIs(undefined)
    assert.equal(changes.length, 5)
    assert.deepEqual(changes.at(-1), ["project"])
  })
})

test("Config.watch() notices folders that are created later, removed and created again", async () => {
  await using tmp = await tmpdir()
  await inInstance(tmp.path, async () => {
    await Config.watch()
    for (const model of ["a/first", "a/second"]) {
      tmp.write(".vitamin/config.jsonc", `{ "model": "${model}" }`)
      await modelIs(model)
      rmSync(join(tmp.path, ".vitamin"), { recursive: true })
      await modelIs(undefined)
    }
    writeGlobal('{ "model": "a/global" }')
    await modelIs("a/global")
    rmSync(Global.config(), { recursive: true })
    await modelIs(undefined)
  })
})

test("Config.watch() notices a folder that replaces another", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/config.jsonc", '{ "model": "a/old" }')
  tmp.write("next/config.jsonc", '{ "model": "a/new" }')
  await inInstance(tmp.path, async () => {
    await Config.watch()
    renameSync(join(tmp.path, ".vitamin"), join(tmp.path, "old"))
    renameSync(join(tmp.path, "next"), join(tmp.path, ".vitamin"))
    await modelIs("a/new")
    tmp.write(".vitamin/config.jsonc", '{ "model": "a/newer" }')
    await modelIs("a/newer")
  })
})

test("Config.watch() notices changes of the target of a link", async () => {
  await using tmp = await tmpdir()
  const target = tmp.write("dotfiles/vitamin.jsonc", '{ "model": "a/one" }')
  mkdirSync(Global.config(), { recursive: true })
  symlinkSync(target, join(Global.config(), "vitamin.jsonc"))
  await inInstance(tmp.path, async () => {
    await Config.watch()
    writeFileSync(target, '{ "model": "a/two" }')
    await modelIs("a/two")
  })
})

test("Config.watch() notices changes of the file of VITAMIN_CONFIG, and of a reviewed TypeScript file", async () => {
  await using tmp = await tmpdir()
  const own = tmp.write("own.jsonc", "{}")
  await withVariable(own, () =>
    inInstance(tmp.path, async (changes) => {
      await Config.watch()
      tmp.write(".plaited/config.ts", 'export default { model: "a/ts" }')
      await Trust.grant(tmp.path)
      await modelIs("a/ts")
      tmp.write(".plaited/config.ts", 'export default { model: "a/ts2" }')
      await modelIs(undefined)
      await Trust.grant(tmp.path)
      await modelIs("a/ts2")
      writeFileSync(own, '{ "model": "a/variable" }')
      await modelIs("a/variable")
      assert.deepEqual(changes, [["typescript"], ["typescript"], ["typescript"], ["environment"]])
    }),
  )
})

test("Config.watch() keeps the last good config after a broken edit, reports it, and recovers", async () => {
  await using tmp = await tmpdir()
  const log = join(tmp.path, "log")
  Log.setFile(log)
  tmp.write(".vitamin/config.jsonc", '{ "model": "a/good" }')
  await inInstance(tmp.path, async (changes) => {
    await Config.watch()
    tmp.write(".vitamin/config.jsonc", '{\n "model": 5 }')
    const problem = /config\.jsonc:2:2: model: expected string/
    await until(async () => problem.test((await Config.current()).warnings.join("\n")), "a warning")
    assert.equal((await Config.get()).model, "a/good")
    assert.match(fs.readFileSync(log, "utf8"), /WARN .*config\.jsonc:2:2/)
    assert.deepEqual(changes, [])
    tmp.write(".vitamin/config.jsonc", '{ "model": "a/better" }')
    await modelIs("a/better")
    assert.deepEqual((await Config.current()).warnings, [])
    assert.deepEqual(changes, [["project"]])
  })
  Log.setFile(undefined)
})

test("Config.watch() publishes nothing for an equal config", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/config.jsonc", '{ "model": "a/b" }')
  await inInstance(tmp.path, async (changes) => {
    await Config.watch()
    tmp.write(".vitamin/config.jsonc", '{ "model": "a/b", /* the same */ }')
    await quiet()
    assert.deepEqual(changes, [])
    tmp.write(".vitamin/config.jsonc", '{ "model": "a/c" }')
    await modelIs("a/c")
    assert.deepEqual(changes, [["project"]])
  })
})

test("Config.watch() starts with a broken config and applies its repair", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/config.jsonc", "{")
  await inInstance(tmp.path, async (changes) => {
    await Config.watch()
    await assert.rejects(Config.get(), Config.Invalid)
    tmp.write(".vitamin/config.jsonc", '{ "model": "a/b" }')
    await until(() => changes.length > 0, "the event")
    assert.equal((await Config.get()).model, "a/b")
    assert.deepEqual(changes, [["project"]])
  })
})

test("Config.watch() notices a change between the first read and the watch", async () => {
  await using tmp = await tmpdir()
  await inInstance(tmp.path, async (changes) => {
    await Config.get()
    tmp.write(".vitamin/config.jsonc", '{ "model": "a/b" }')
    await Config.watch()
    assert.equal((await Config.get()).model, "a/b")
    assert.deepEqual(changes, [["project"]])
  })
})

test("Config.watch() stops with the instance", async (t) => {
  await using tmp = await tmpdir()
  const stats: string[] = []
  const real = fs.statSync
  t.mock.method(fs, "statSync", (path: string, options: object) => {
    stats.push(path)
    return real(path, options)
  })
  syncBuiltinESMExports()
  const file = join(tmp.path, ".vitamin/config.jsonc")
  const polls = () => stats.filter((path) => path === file).length
  try {
    await inInstance(tmp.path, async () => {
      await Config.watch()
      await until(() => polls() > 1, "a poll")
    })
    const before = polls()
    await quiet()
    assert.equal(polls(), before)
  } finally {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  }
})

test("Config.reload() applies the settings of a folder once it is trusted", async () => {
  await using tmp = await tmpdir()
  Log.setFile(join(tmp.path, "log"))
  tmp.write(".vitamin/config.jsonc", '{ "environment": { "pass": ["b"] } }')
  await inInstance(tmp.path, async (changes) => {
    assert.equal((await Config.get()).environment, undefined)
    await Trust.grant(tmp.path)
    await Config.reload()
    assert.deepEqual((await Config.get()).environment, { pass: ["b"] })
    assert.deepEqual(changes, [["project"]])
  })
  assert.match(
    fs.readFileSync(join(tmp.path, "log"), "utf8"),
    /environment is ignored: the folder is not trusted/,
  )
  Log.setFile(undefined)
})

test("Config.renew() waits for a reload that another call has begun", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/config.jsonc", '{ "model": "a/old" }')
  await inInstance(tmp.path, async () => {
    await Config.get()
    await Config.renew()
    tmp.write(".vitamin/config.jsonc", '{ "model": "a/new-one" }')
    const models: (string | undefined)[] = []
    // At any moment of the first call, the others see the new model.
    const calls = Array.from({ length: 30 }, async (_, turns) => {
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
      await Config.renew()
      models.push((await Config.get()).model)
    })
    await Promise.all(calls)
    assert.deepEqual([...new Set(models)], ["a/new-one"])
  })
})
