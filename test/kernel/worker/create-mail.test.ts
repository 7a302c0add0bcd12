// Messages between workers when the network was cut.
import assert from "node:assert/strict"
import { test } from "node:test"
import { open } from "#kernel/database/database.ts"
import { createMail } from "#kernel/worker/create-mail.ts"
import { networkTo } from "../../fixture/network-cut.ts"
import { cluster, noPostgres, tmpDatabase } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"

test("a worker listens for messages again after its network was cut, and nobody said so", {
  skip: noPostgres,
  timeout: 120_000,
}, async () => {
  await using tmp = await tmpDatabase()
  const { port } = await cluster()
  let listens = 0
  await using network = await networkTo(port, (answer) => {
    if (answer.includes("LISTEN\0")) listens++
    return true
  })
  const database = await open(tmp.url.replace(`:${port}/`, `:${network.port}/`))
  const taken: unknown[] = []
  const mail = await createMail(database, { worker: "one", take: (message) => taken.push(message) })
  try {
    assert.equal(listens, 1)
    network.cut()
    network.mend()
    await until(() => listens === 2, "another LISTEN")
    await mail.send("one", "hello")
    await until(() => taken.length, "the message")
    assert.deepEqual(taken, ["hello"])
  } finally {
    await mail.close()
    await database.close()
  }
})
