// Servers as processes: killed and restarted, and two servers with one state folder.
import assert from "node:assert/strict"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { onBackends } from "../../fixture/tmp-store.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { follow, range } from "./harness.ts"

async function start(tmp: Pick<Tmp, "path" | "env">) {
  const child: ChildProcess = fork(join(import.meta.dirname, "serve-child.ts"), [tmp.path], { env: tmp.env })
  const [{ url, tokenFile }] = (await once(child, "message")) as [{ url: string; tokenFile: string }]
  return {
    url,
    token: readFileSync(tokenFile, "utf8").trim(),
    publish: (from: number, to: number) => child.send({ from, to, step: 20 }),
    async end(how: "kill" | "stop") {
      const gone = once(child, "exit")
      if (how === "kill") child.kill("SIGKILL")
      else child.send("stop")
      await gone
    },
  }
}

onBackends("events are replayed exactly across kill -9 of the server", async (open) => {
  await using tmp = await open()
  const got: number[] = []
  let last = "0"
  let next = 0
  for (const round of range(0, 3)) {
    const server = await start(tmp)
    const client = follow(server, { "last-event-id": last })
    await client.opened
    server.publish(next, next + 3000)
    await until(() => client.frames.length >= 500, `round ${round}`)
    await server.end("kill")
    await client.closed
    got.push(...client.numbers())
    last = String(client.lastId() ?? last)
    assert.equal(
      client.frames.some(({ event }) => event === "gap"),
      false,
    )

    // Events that were logged before the kill but not received come first.
    const again = await start(tmp)
    const rest = follow(again, { "last-event-id": last })
    await rest.opened
    again.publish(1_000_000 + round, 1_000_000 + round + 1)
    await until(() => rest.numbers().includes(1_000_000 + round), "the event after the restart")
    assert.equal(
      rest.frames.some(({ event }) => event === "gap"),
      false,
    )
    const ids = [...client.frames, ...rest.frames].map(({ id }) => id ?? 0)
    assert.deepEqual(
      ids,
      ids.toSorted((a, b) => a - b),
    )
    got.push(...rest.numbers().slice(0, -1))
    assert.deepEqual(
      got,
      range(0, got.length).map((n) => n),
      "nothing lost, nothing twice",
    )
    next = got.length
    last = String(rest.lastId())
    rest.drop()
    await again.end("kill")
  }
})

onBackends("a regular stop leaves no gap in the event ids", async (open) => {
  await using tmp = await open()
  const first = await start(tmp)
  const client = follow(first)
  await client.opened
  first.publish(0, 100)
  await until(() => client.frames.length === 100)
  await first.end("stop")
  await client.closed
  const second = await start(tmp)
  assert.equal(second.token, first.token)
  const late = follow(second, { "last-event-id": String(client.frames[49]?.id) })
  assert.equal((await late.opened).headers["x-vitamin-cursor"], String(client.lastId()))
  second.publish(100, 101)
  await until(() => late.frames.length === 51)
  assert.deepEqual(late.numbers(), range(50, 101))
  await second.end("stop")
})

test("two servers with one state folder keep separate event logs; a cursor of the other server is a gap", async () => {
  await using tmp = await tmpdir()
  const [one, two] = [await start(tmp), await start(tmp)]
  const [a, b] = [follow(one), follow(two)]
  await Promise.all([a.opened, b.opened])
  one.publish(0, 10)
  two.publish(100, 110)
  await until(() => a.frames.length === 10 && b.frames.length === 10)
  assert.deepEqual(a.numbers(), range(0, 10))
  assert.deepEqual(b.numbers(), range(100, 110))
  for (const [server, cursor] of [[one, b.lastId()] as const, [two, a.lastId()] as const]) {
    const lost = follow(server, { "last-event-id": String(cursor) })
    await until(() => lost.frames.length === 1)
    assert.equal(lost.frames[0]?.event, "gap")
  }
  await Promise.all([one.end("stop"), two.end("kill")])
})
