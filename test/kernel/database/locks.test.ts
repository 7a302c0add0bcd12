// Work that one process of a database does at a time.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { exclusively, jobLock, open, withLock } from "#kernel/database/database.ts"
import { networkTo } from "../../fixture/network-cut.ts"
import { cluster, noPostgres, tmpDatabase } from "../../fixture/postgres.ts"

const real = { skip: noPostgres, timeout: 60_000 }
const lock = jobLock("of the test")

test("withLock() waits for another process, but not for one that is cut off", real, async () => {
  await using tmp = await tmpDatabase()
  const { port } = await cluster()
  await using network = await networkTo(port)
  const first = await open(tmp.url.replace(`:${port}/`, `:${network.port}/`))
  const second = await open(tmp.url)
  const events: string[] = []
  const begun = Promise.withResolvers<void>()
  const back = Promise.withResolvers<void>()
  const one = withLock(first.connect(), lock, async () => {
    begun.resolve()
    await back.promise
    return "one"
  })
  await begun.promise
  const two = withLock(second.connect(), lock, async () => {
    events.push("work of the second")
    return "two"
  })
  await sleep(500)
  events.push("cut")
  network.cut()
  assert.equal(await two, "two")
  assert.deepEqual(events, ["cut", "work of the second"])
  network.mend()
  back.resolve()
  assert.equal(await one, "one")
  for (const database of [first, second]) await database.close()
})

test("withLock() keeps its lock during work that takes long", real, async () => {
  await using tmp = await tmpDatabase()
  const database = await open(tmp.url)
  await withLock(database.connect(), lock, async () => {
    // Longer than PostgreSQL leaves the connection idle.
    await sleep(5_000)
    await exclusively(database, lock, () => assert.fail("the lock is free"))
  })
  await database.close()
})

test("exclusively() keeps its lock during work that takes long, and others do not wait", real, async () => {
  await using tmp = await tmpDatabase()
  const database = await open(tmp.url)
  const done: string[] = []
  await exclusively(database, lock, async () => {
    // Longer than PostgreSQL leaves a transaction idle.
    await sleep(5_000)
    await exclusively(database, lock, async () => void done.push("beside it"))
    done.push("long")
  })
  assert.deepEqual(done, ["long"])
  await exclusively(database, lock, async () => void done.push("after it"))
  assert.deepEqual(done, ["long", "after it"])
  await database.close()
})
