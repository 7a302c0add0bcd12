// Idle instances that requests created are disposed.
import assert from "node:assert/strict"
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { z } from "zod"
import { accept, defineRoute } from "#edge/server/http/route.ts"
import { createIdleSweep } from "#edge/server/idle-sweep.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as GlobalBus from "#kernel/bus/global-bus.ts"
import { Instance } from "#kernel/instance.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { range, startServer } from "./harness.ts"

let release = () => {}
const later = defineRoute({
  id: "later",
  method: "POST",
  role: "reader",
  path: "/later",
  summary: "For tests: answers at once and works on",
  response: z.object({}),
  accepted: z.object({}),
  handle: () => {
    release = Instance.hold()
    return accept({})
  },
})

function disposed() {
  const directories: string[] = []
  const off = GlobalBus.subscribe(({ type, directory }) => {
    if (type === Bus.Disposed.type) directories.push(directory)
  })
  return { directories, [Symbol.dispose]: off }
}

function folders(root: string, count: number): string[] {
  const all = range(0, count).map((n) => join(root, `d${n}`))
  for (const folder of all) mkdirSync(folder)
  return all
}

test("a server keeps about 50 instances: the last used, its own, and busy ones", async () => {
  await using tmp = await tmpdir()
  const all = folders(tmp.path, 80)
  await using server = await startServer(tmp.path, { routes: [later] })
  using ended = disposed()
  await server.get("/info")
  const working = { ...server.auth, "x-vitamin-directory": all[0]! }
  assert.equal((await fetch(`${server.url}/later`, { method: "POST", headers: working })).status, 202)
  for (const folder of all.slice(1))
    assert.equal((await server.get("/info", { "x-vitamin-directory": folder })).status, 200)
  await until(() => ended.directories.length >= 30, "the oldest to end")
  assert.deepEqual(ended.directories, all.slice(1, 1 + ended.directories.length))
  assert.ok(ended.directories.length <= 33, String(ended.directories.length))
  release()
})

test("createIdleSweep() disposes unused instances, but not that of the server's own directory", async () => {
  await using tmp = await tmpdir()
  const [one, two] = folders(tmp.path, 2)
  const link = join(tmp.path, "link")
  symlinkSync(one!, link)
  using ended = disposed()
  for (const directory of [one!, two!]) await Instance.provide({ directory, fn: () => {} })
  const sweep = createIdleSweep({ directory: link, olderThan: 20, keep: 50, every: 5 })
  await until(() => ended.directories.length > 0, "the idle one to end")
  sweep.stop()
  assert.deepEqual(ended.directories, [two])
  await Instance.disposeAll()
})

test("an instance that failed to start is not disposed", async () => {
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path, {
    init: () => Promise.reject(new Error("the configuration is broken")),
  })
  using ended = disposed()
  for (const _ of range(0, 5)) assert.equal((await server.get("/info")).status, 500)
  assert.deepEqual(ended.directories, [])
})
