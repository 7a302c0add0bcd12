// Instances: created once per directory, and found in all code that they run.
import assert from "node:assert/strict"
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { afterEach, test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { tmpdir } from "../fixture/tmpdir.ts"

afterEach(async () => {
  await Instance.disposeAll()
  await Storage.close()
})

const here = () => Instance.directory

test("Instance.provide() creates a context, runs init in it before fn, and returns the result of fn", async () => {
  await using tmp = await tmpdir()
  const steps: string[] = []
  const value = await Instance.provide({
    directory: tmp.path,
    init: async () => {
      await sleep(5)
      steps.push(`init ${Instance.directory}`)
    },
    fn: () => {
      steps.push("fn")
      return 42
    },
  })
  assert.equal(value, 42)
  assert.deepEqual(steps, [`init ${tmp.path}`, "fn"])
})

test("Instance.provide() runs init once for concurrent calls, and not again later", async () => {
  await using tmp = await tmpdir()
  mkdirSync(join(tmp.path, "sub"))
  symlinkSync(tmp.path, join(tmp.path, "link"))
  let inits = 0
  const init = async () => {
    await sleep(10)
    inits++
  }
  const state = Instance.state(() => ({}))
  const spellings = [tmp.path, `${tmp.path}/`, join(tmp.path, "link"), `${tmp.path}/sub/..`]
  const states = await Promise.all(
    spellings.map((directory) => Instance.provide({ directory, init, fn: () => [inits, state()] as const })),
  )
  for (const [seen, value] of states) {
    assert.equal(seen, 1)
    assert.equal(value, states[0]![1])
  }
  await Instance.provide({ directory: tmp.path, init, fn: () => {} })
  assert.equal(inits, 1)
})

test("Instance is found after awaits, in timers and in callbacks; outside of one the error says what to do", async () => {
  await using tmp = await tmpdir()
  const seen: string[] = []
  const none = { name: "Instance.NoInstance", message: /Instance\.provide/ }
  for (const access of [
    here,
    () => Instance.worktree,
    () => Instance.project,
    Instance.state(() => 1),
  ] as (() => unknown)[])
    assert.throws(access, none)
  await assert.rejects(Instance.dispose(), none)
  assert.throws(() => Instance.directory, { name: "Instance.NoInstance" })
  let later: Promise<void> | undefined
  await Instance.provide({
    directory: tmp.path,
    fn: async () => {
      await sleep(1)
      seen.push(here())
      later = new Promise((done) =>
        setTimeout(() => {
          seen.push(here())
          queueMicrotask(() => {
            seen.push(here())
            done()
          })
        }, 5),
      )
    },
  })
  await later
  assert.deepEqual(seen, [tmp.path, tmp.path, tmp.path])
  assert.throws(() => Instance.directory, { name: "Instance.NoInstance" })
})

test("Instance.state() runs its factory once per instance", async () => {
  await using tmp = await tmpdir()
  const [a, b] = ["a", "b"].map((name) => join(tmp.path, name)) as [string, string]
  for (const folder of [a, b]) mkdirSync(folder)
  let made = 0
  const state = Instance.state(() => ({ made: ++made, directory: here() }))
  const inside = (directory: string) => Instance.provide({ directory, fn: () => [state(), state()] as const })
  const [first, again] = await inside(a)
  assert.equal(first, again)
  assert.equal((await inside(a))[0], first)
  assert.deepEqual((await inside(b))[0], { made: 2, directory: b })
  assert.equal(made, 2)
})

test("Instance.provide() inside another uses its own context, and then the outer one again", async () => {
  await using tmp = await tmpdir()
  const inner = join(tmp.path, "inner")
  mkdirSync(inner)
  const seen = await Instance.provide({
    directory: tmp.path,
    fn: async () => {
      const before = here()
      const within = await Instance.provide({ directory: inner, fn: here })
      const failed = await Instance.provide({
        directory: inner,
        fn: () => Promise.reject(new Error(here())),
      }).catch((error) => error.message)
      return [before, within, failed, here()]
    },
  })
  assert.deepEqual(seen, [tmp.path, inner, inner, tmp.path])
})

test("Instance has the directory, the git root and the project", async () => {
  await using tmp = await tmpdir({ git: true })
  const sub = join(tmp.path, "src/deep")
  mkdirSync(sub, { recursive: true })
  const root = tmp.git("rev-parse", "HEAD").trim()
  const seen = await Instance.provide({
    directory: sub,
    fn: () => ({ directory: here(), worktree: Instance.worktree, id: Instance.project.id }),
  })
  assert.deepEqual(seen, { directory: sub, worktree: tmp.path, id: root })
})

test("Instance.provide() refuses a path that is not a directory, and names it", async () => {
  await using tmp = await tmpdir()
  const file = tmp.write("file", "")
  const refused = (directory: string, message: RegExp) =>
    assert.rejects(Instance.provide({ directory, fn: () => {} }), {
      name: "Instance.InvalidDirectory",
      message,
    })
  await refused(join(tmp.path, "missing"), /missing" cannot be used: ENOENT/)
  await refused(file, /file" cannot be used: it is not a directory/)
  await refused("a\0b", /"a\\u0000b" cannot be used: it has a NUL byte/)
})

test("Instance.provide() keeps one instance when a new one starts while a failed one is disposed", async () => {
  await using tmp = await tmpdir()
  let second: Promise<unknown> | undefined
  const directory = tmp.path
  const slowEnd = Instance.state(
    () => 1,
    () => {
      second = Instance.provide({ directory, fn: () => {} })
      return second
    },
  )
  const init = () => {
    slowEnd()
    throw new Error("no start")
  }
  await assert.rejects(Instance.provide({ directory, init, fn: () => {} }), /no start/)
  await second
  let inits = 0
  await Instance.provide({ directory, init: () => inits++, fn: () => {} })
  assert.equal(inits, 0)
})

test("Instance.provide() inside init of the same directory runs in the instance that is being created", async () => {
  await using tmp = await tmpdir()
  const other = join(tmp.path, "other")
  mkdirSync(other)
  const state = Instance.state(() => ({}))
  const seen: unknown[] = []
  const own = () => Instance.provide({ directory: tmp.path, fn: () => seen.push(state(), here()) })
  const init = async () => {
    seen.push(state())
    await own()
    await Instance.provide({ directory: other, init: own, fn: own })
  }
  await Promise.race([
    Instance.provide({ directory: tmp.path, init, fn: () => seen.push(state()) }),
    sleep(3000).then(() => assert.fail("it waits for itself")),
  ])
  const value = seen[0]
  assert.deepEqual(seen, [value, value, tmp.path, value, tmp.path, value, tmp.path, value])
  for (const item of seen) if (typeof item === "object") assert.equal(item, value)
})
