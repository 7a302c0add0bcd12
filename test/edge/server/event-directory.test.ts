// GET /event filtered by directory.
import assert from "node:assert/strict"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { onBackends } from "../../fixture/tmp-store.ts"
import { until } from "../../fixture/until.ts"
import { follow, publish, range, startServer } from "./harness.ts"

onBackends(
  "GET /event with x-vitamin-directory sends only that directory, live and replayed",
  async (open) => {
    await using tmp = await open()
    const other = join(tmp.path, "öther")
    mkdirSync(other)
    await using server = await startServer(tmp.path)
    const header = { "x-vitamin-directory": encodeURIComponent(other) }
    const client = follow(server, header)
    const cursor = String((await client.opened).headers["x-vitamin-cursor"])
    for (const n of range(0, 50)) await publish(n % 2 ? other : tmp.path, [n])
    const odd = range(0, 50).filter((n) => n % 2)
    await until(() => client.frames.length === 25)
    assert.deepEqual(client.numbers(), odd)
    const late = follow(server, { ...header, "last-event-id": cursor })
    await until(() => late.frames.length === 25)
    assert.deepEqual(late.numbers(), odd)
    const all = follow(server, { "last-event-id": cursor })
    await until(() => all.frames.length === 50)
    const answer = await server.get("/event", { "x-vitamin-directory": "/does/not/exist" })
    assert.equal(answer.status, 400)
    for (const one of [client, late, all]) one.drop()
  },
)

onBackends("GET /event of one directory moves the cursor past events of other directories", async (open) => {
  await using tmp = await open()
  const other = join(tmp.path, "other")
  mkdirSync(other)
  await using server = await startServer(tmp.path, { heartbeat: 30 })
  const header = { "x-vitamin-directory": other }
  const client = follow(server, header)
  const all = follow(server)
  await Promise.all([client.opened, all.opened])
  await publish(other, [1])
  await publish(tmp.path, range(2, 50))
  await until(() => all.frames.length === 49)
  await until(() => client.cursor() === all.lastId(), "the cursor to move")
  assert.deepEqual(client.numbers(), [1])
  client.drop()
  await publish(other, [50])
  const again = follow(server, { ...header, "last-event-id": String(client.cursor()) })
  await until(() => again.frames.length === 1)
  assert.deepEqual(again.numbers(), [50])
  for (const one of [all, again]) one.drop()
})
