import assert from "node:assert/strict"
import { test } from "node:test"
import { bootstrap } from "#engine/host/bootstrap.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as GlobalBus from "#kernel/bus/global-bus.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

function ends(): { count: () => number; stop: () => void } {
  let count = 0
  const stop = GlobalBus.subscribe((event) => {
    if (event.type === Bus.Disposed.type) count++
  })
  return { count: () => count, stop }
}

test("bootstrap() runs the callback in the folder's instance, with its configuration, and returns its value", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/config.jsonc", '{ "model": "a/b" }')
  const seen = ends()
  const value = await bootstrap(tmp.path, async () => [
    Instance.directory,
    (await Config.get()).model,
    seen.count(),
  ])
  assert.deepEqual(value, [tmp.path, "a/b", 0])
  assert.equal(seen.count(), 1)
  seen.stop()
  await Storage.close()
})

test("bootstrap() disposes the instance when the callback throws", async () => {
  await using tmp = await tmpdir()
  const seen = ends()
  const fail = bootstrap(tmp.path, () => {
    throw new Error("on purpose")
  })
  await assert.rejects(fail, /on purpose/)
  assert.equal(seen.count(), 1)
  seen.stop()
  await Storage.close()
})

test("bootstrap() stops at the first part that fails, and the callback does not run", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/config.jsonc", "{ broken")
  let ran = false
  await assert.rejects(
    bootstrap(tmp.path, () => {
      ran = true
    }),
    { name: "Config.Invalid" },
  )
  assert.equal(ran, false)
  await Storage.close()
})

test("two bootstrap() calls for one folder: the last one to finish disposes the instance", async () => {
  await using tmp = await tmpdir()
  const seen = ends()
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const running = [bootstrap(tmp.path, () => first.promise), bootstrap(tmp.path, () => second.promise)]
  first.resolve()
  await running[0]
  assert.equal(seen.count(), 0)
  second.resolve()
  await running[1]
  assert.equal(seen.count(), 1)
  seen.stop()
  await Storage.close()
})
