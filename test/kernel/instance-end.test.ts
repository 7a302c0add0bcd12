// How an instance is disposed: once, completely, and never while it is in use.
import assert from "node:assert/strict"
import { mkdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { afterEach, test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { tmpdir } from "../fixture/tmpdir.ts"

afterEach(async () => {
  await Instance.disposeAll()
  await Storage.close()
})

const here = () => Instance.directory

test("Instance.dispose() disposes each state once, last created first, and removes the instance", async () => {
  await using tmp = await tmpdir()
  const ended: unknown[] = []
  const first = Instance.state(
    () => "first",
    (state) => ended.push(state),
  )
  const second = Instance.state(
    async () => "second",
    async (state) => {
      await sleep(1)
      ended.push(state, here())
    },
  )
  const unused = Instance.state(
    () => "unused",
    (state) => ended.push(state),
  )
  await Instance.provide({
    directory: tmp.path,
    fn: async () => {
      first()
      second()
      await Promise.all([Instance.dispose(), Instance.dispose()])
      await Instance.dispose()
    },
  })
  assert.deepEqual(ended, ["second", tmp.path, "first"])
  let inits = 0
  await Instance.provide({ directory: tmp.path, init: () => inits++, fn: () => unused() })
  assert.equal(inits, 1)
})

test("Instance.dispose() stops work before it disposes the states that the work uses, whichever was created first", async () => {
  await using tmp = await tmpdir()
  const ended: string[] = []
  const end = async (state: string) => {
    await sleep(1)
    ended.push(state)
  }
  const work = Instance.state(() => "work", end, { isWork: true })
  const parts = [Instance.state(() => "shell", end), Instance.state(() => "index", end)]
  await Instance.provide({
    directory: tmp.path,
    fn: async () => {
      for (const use of [parts[0]!, work, parts[1]!]) use()
      await Instance.dispose()
    },
  })
  assert.deepEqual(ended, ["work", "index", "shell"])
})

test("Instance.stopWork() stops the work of every instance once, and keeps its other states", async () => {
  await using tmp = await tmpdir()
  mkdirSync(join(tmp.path, "other"))
  const ended: string[] = []
  const work = Instance.state(here, (directory) => ended.push(basename(directory)), { isWork: true })
  const part = Instance.state(
    () => "part",
    (state) => ended.push(state),
  )
  for (const directory of [tmp.path, join(tmp.path, "other")])
    await Instance.provide({ directory, fn: () => [part(), work()] })
  await Instance.stopWork()
  assert.deepEqual(ended.sort(), ["other", "project"])
  await Instance.disposeAll()
  assert.deepEqual(ended.sort(), ["other", "part", "part", "project"])
})

test("Instance.dispose() continues when one state cannot be disposed, and reports it", async () => {
  await using tmp = await tmpdir()
  const file = join(tmp.path, "log")
  Log.setFile(file)
  const ended: string[] = []
  const well = Instance.state(
    () => "well",
    (state) => ended.push(state),
  )
  const failing = Instance.state(
    () => "failing",
    () => {
      throw new Error("cannot end")
    },
  )
  await Instance.provide({
    directory: tmp.path,
    fn: async () => {
      well()
      failing()
      await Instance.dispose()
    },
  })
  Log.setFile(undefined)
  assert.deepEqual(ended, ["well"])
  assert.match(readFileSync(file, "utf8"), /ERROR .*could not be disposed.*cannot end/)
})

test("Instance.disposeAll() disposes every instance", async () => {
  await using tmp = await tmpdir()
  const ended: string[] = []
  const state = Instance.state(here, (directory) => ended.push(basename(directory)))
  for (const name of ["a", "b", "c"]) {
    mkdirSync(join(tmp.path, name))
    await Instance.provide({ directory: join(tmp.path, name), fn: () => state() })
  }
  await Instance.disposeAll()
  assert.deepEqual(ended.sort(), ["a", "b", "c"])
})

test("Instance.provide() retries after a failed init, and disposes the states that it created", async () => {
  await using tmp = await tmpdir()
  const ended: string[] = []
  const state = Instance.state(
    () => "made in init",
    (value) => ended.push(value),
  )
  const init = async () => {
    state()
    throw new Error("no start")
  }
  const failing = () => Instance.provide({ directory: tmp.path, init, fn: () => assert.fail("fn ran") })
  const results = await Promise.allSettled([failing(), failing()])
  for (const result of results) assert.match(String((result as PromiseRejectedResult).reason), /no start/)
  assert.deepEqual(ended, ["made in init"])
  assert.equal(await Instance.provide({ directory: tmp.path, fn: () => "works" }), "works")
})

test("Instance.provide() never runs in an instance that is being disposed", async () => {
  await using tmp = await tmpdir()
  const order: string[] = []
  const state = Instance.state(
    () => order.push("made"),
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      order.push("disposed")
    },
  )
  await Instance.provide({ directory: tmp.path, fn: state })
  const disposing = Instance.provide({ directory: tmp.path, fn: () => Instance.dispose() })
  const later = Instance.provide({
    directory: tmp.path,
    fn: () => {
      order.push("ran")
      state()
    },
  })
  await Promise.all([disposing, later])
  assert.deepEqual(order, ["made", "disposed", "ran", "made"])
  await Instance.disposeAll()
})

/** Creates an instance for each name, in that order. Returns the names of disposed ones. */
async function stand(root: string, names: string[]) {
  const ended: string[] = []
  const state = Instance.state(here, (directory) => ended.push(basename(directory)))
  const enter = (name: string, fn: () => unknown = () => {}) =>
    Instance.provide({
      directory: join(root, name),
      fn: () => {
        state()
        return fn()
      },
    })
  for (const name of names) {
    mkdirSync(join(root, name))
    await enter(name)
  }
  return { ended, enter }
}

test("Instance.disposeIdle() disposes long unused instances, by a monotonic clock", async (t) => {
  await using tmp = await tmpdir()
  const { ended, enter } = await stand(tmp.path, ["a", "b"])
  await sleep(40)
  const now = Date.now()
  t.mock.method(Date, "now", () => now - 3_600_000)
  await enter("b")
  await Instance.disposeIdle({ olderThan: 30, keep: 10 })
  assert.deepEqual(ended, ["a"])
  await Instance.disposeIdle({ olderThan: 60_000, keep: 10 })
  assert.deepEqual(ended, ["a"])
})

test("Instance.disposeIdle() disposes the least recently used instances above a number, except one", async () => {
  await using tmp = await tmpdir()
  const { ended, enter } = await stand(tmp.path, ["a", "b", "c", "d", "e"])
  await enter("b")
  await Instance.disposeIdle({ olderThan: 60_000, keep: 3, except: join(tmp.path, "a") })
  assert.deepEqual(ended.sort(), ["c", "d"])
})

test("Instance.disposeIdle() never disposes an instance in which a call runs, or that is held", async () => {
  await using tmp = await tmpdir()
  const { ended, enter } = await stand(tmp.path, ["running", "held", "idle"])
  const call = Promise.withResolvers<void>()
  const running = enter("running", () => call.promise)
  let release = () => {}
  await enter("held", () => {
    release = Instance.hold()
  })
  const sweep = () => Instance.disposeIdle({ olderThan: 0, keep: 0 })
  await sweep()
  assert.deepEqual(ended, ["idle"])
  call.resolve()
  await running
  await sweep()
  assert.deepEqual(ended, ["idle", "running"])
  release()
  release()
  await sweep()
  assert.deepEqual(ended, ["idle", "running", "held"])
})

test("Instance.disposeIdle() never disposes an instance whose next call starts at the same time", async () => {
  await using tmp = await tmpdir()
  const { enter } = await stand(tmp.path, ["a"])
  const made = Instance.state(() => ({}))
  const runs = await Promise.all(
    Array.from({ length: 20 }, async () => {
      void Instance.disposeIdle({ olderThan: 0, keep: 0 })
      await enter("a", async () => {
        const mine = made()
        await sleep(1)
        assert.equal(made(), mine)
      })
    }),
  )
  assert.equal(runs.length, 20)
})

test("Instance.state() works during disposal and is disposed too; afterwards it throws", async () => {
  await using tmp = await tmpdir()
  const ended: string[] = []
  const late = Instance.state(
    () => "late",
    (value) => ended.push(value),
  )
  const first = Instance.state(
    () => "first",
    (value) => ended.push(value, late()),
  )
  await Instance.provide({
    directory: tmp.path,
    fn: async () => {
      first()
      await Instance.dispose()
      for (const access of [first, late, () => Instance.hold()])
        assert.throws(access, { name: "Instance.Disposed", message: /was disposed.*Instance\.hold/ })
    },
  })
  assert.deepEqual(ended, ["first", "late", "late"])
})
