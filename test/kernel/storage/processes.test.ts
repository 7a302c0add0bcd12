// Several processes over one store.
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import type { Folders } from "#kernel/storage/files.ts"
import type { Segments } from "#kernel/storage/journal-files.ts"
import { createLock } from "#kernel/storage/lock.ts"
import { createOpening } from "#kernel/storage/opening.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { runFixture } from "../../fixture/child.ts"
import { repeat } from "../../fixture/soak.ts"
import { onBackends } from "../../fixture/tmp-store.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const key = ["counter", "one"]

onBackends("Storage.update() of four processes on one key loses no increment", async (open) => {
  await using tmp = await open()
  const each = repeat(60, 500)
  const children = [1, 2, 3, 4].map(() =>
    runFixture("storage-counter.ts", { args: [String(each)], env: tmp.env }),
  )
  for (const child of children) assert.equal(await child.exit, 0, child.errors())
  assert.deepEqual(await Storage.read(key), { n: 4 * each })
  await Storage.close()
})

onBackends("another process reads the new value after Storage.write()", async (open) => {
  await using tmp = await open()
  await Storage.write(key, { n: 1 })
  await using child = runFixture("storage-counter.ts", { args: ["1"], env: tmp.env })
  assert.equal(await child.exit, 0, child.errors())
  assert.deepEqual(await Storage.read(key), { n: 2 })
  await Storage.close()
})

onBackends(
  "Storage: a process that dies inside an update frees the lock at once and changes nothing",
  async (open) => {
    await using tmp = await open()
    await Storage.write(key, { n: 1 })
    await using child = runFixture("storage-counter.ts", { args: ["die"], env: tmp.env })
    assert.equal(await child.exit, "SIGKILL")
    assert.deepEqual(await Storage.update<{ n: number }>(key, (draft) => draft.n++), { n: 2 })
    await Storage.close()
  },
)

test("Storage: a paused process keeps the lock; others fail after five seconds and name it", async () => {
  await using tmp = await tmpdir()
  await Storage.write(key, { n: 1 })
  await using child = runFixture("storage-counter.ts", { args: ["pause"], env: tmp.env })
  await child.line(/^holding/)
  const refused = await Storage.write(key, { n: 9 }).then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(refused instanceof Storage.Locked)
  assert.match(refused.message, new RegExp(`process ${child.process.pid} holds .* 5 s`))
  assert.deepEqual(await Storage.read(key), { n: 1 })
  child.process.kill("SIGCONT")
  assert.equal(await child.exit, 0, child.errors())
  await Storage.write(key, { n: 3 })
  assert.deepEqual(await Storage.read(key), { n: 3 })
  await Storage.close()
})

test("Storage: after a failed wait of five seconds, the next call fails sooner", async () => {
  await using tmp = await tmpdir()
  await Storage.write(key, { n: 1 })
  await Storage.close()
  await using child = runFixture("storage-counter.ts", { args: ["pause"], env: tmp.env })
  await child.line(/^holding/)
  // Reading opens the store, waits for the lock in vain, and continues without the journal.
  assert.deepEqual(await Storage.read(key), { n: 1 })
  const failed = Storage.write(key, { n: 9 }).catch((error: unknown) => error)
  const soon = await Promise.race([failed, sleep(3_000, "still waiting", { ref: false })])
  assert.ok(soon instanceof Storage.Locked, String(soon))
  child.process.kill("SIGCONT")
  assert.equal(await child.exit, 0, child.errors())
  await Storage.close()
})

test("createLock() lets each of four processes acquire the lock, while they open and close it all the time", async () => {
  await using tmp = await tmpdir()
  const args = [join(tmp.path, "lock"), "300"]
  const children = [1, 2, 3, 4].map(() => runFixture("storage-lock.ts", { args, env: tmp.env }))
  for (const child of children) assert.equal(await child.exit, 0, child.errors())
})

test("Opening.acquire() after a failed wait still waits as long as an ordinary commit takes", async () => {
  await using tmp = await tmpdir()
  const folder = (name: string) => join(tmp.path, name)
  const folders = { records: folder("records"), temporary: folder("temporary"), journal: folder("journal") }
  const { acquire } = createOpening(folders as Folders, {} as Segments)
  const [holder, waiter] = [await createLock(folder("lock")), await createLock(folder("lock"))]
  await holder.acquire()
  await assert.rejects(acquire(waiter), { name: "Storage.Locked" })
  const again = acquire(waiter)
  setTimeout(holder.release, 60)
  await again
  for (const lock of [waiter, holder]) lock.close()
})
