// The event stream of the client: over HTTP with connections that break, and in the same process.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ClientError, createClient, createHttpTransport, type StreamEvent } from "#client/client.ts"
import { createLocalTransport } from "#edge/server/local-transport.ts"
import { Instance } from "#kernel/instance.ts"
import { publish, range, startServer } from "../edge/server/harness.ts"
import { tmpdir } from "../fixture/tmpdir.ts"
import { until } from "../fixture/until.ts"
import { startProxy } from "./proxy.ts"

/** Collects what a client's stream gives until `stop` is called. */
function collect(events: (signal: AbortSignal) => AsyncIterable<StreamEvent>) {
  const ending = new AbortController()
  const seen: StreamEvent[] = []
  const done = (async () => {
    for await (const event of events(ending.signal)) seen.push(event)
  })()
  const reports = ["connected", "disconnected", "gap"]
  return {
    seen,
    done,
    types: () => seen.map(({ type }) => type).filter((type) => reports.includes(type)),
    numbers: () =>
      seen.flatMap((event) => ("payload" in event ? [(event.payload as unknown as { n: number }).n] : [])),
    stop() {
      ending.abort()
      return done
    },
  }
}

test("a stream that is cut in the middle is replayed without loss and without doubles", async () => {
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path)
  await using proxy = await startProxy(server.port)
  const { token } = server
  const transport = createHttpTransport({ url: proxy.url, token, directory: tmp.path })
  const stream = collect((signal) => createClient(transport).events({ signal }))
  await until(() => stream.types().length === 1, "the stream is open")
  // Cut before the first event, then three times in the middle of others.
  proxy.cutAfter(1)
  await publish(tmp.path, range(0, 20), "x".repeat(300))
  for (const round of range(1, 4)) {
    const before = stream.types().length
    await until(() => stream.types().at(-1) === "connected" && stream.numbers().length === 20 * round)
    proxy.cutAfter(2000)
    await publish(tmp.path, range(20 * round, 20 * round + 20), "x".repeat(300))
    await until(() => stream.types().length === before + 2, `cut ${round} is reported`)
  }
  await until(() => stream.numbers().length >= 80, "all events arrive")
  await stream.stop()
  assert.deepEqual(stream.numbers(), range(0, 80))
  assert.equal(stream.types().includes("gap"), false)
  const cut = stream.seen.find(({ type }) => type === "disconnected")
  assert.ok(cut?.type === "disconnected" && cut.error.status === 0 && cut.retryIn > 0)
  const [first, second] = stream.seen.filter(({ type }) => type === "connected")
  assert.deepEqual(
    [first, second],
    [
      { type: "connected", isResumed: false },
      { type: "connected", isResumed: true },
    ],
  )
})

test("a server that is restarted is found again, and what it published meanwhile is replayed", async () => {
  await using tmp = await tmpdir()
  const first = await startServer(tmp.path)
  const { url, token, port } = first
  const client = createClient(createHttpTransport({ url, token, directory: tmp.path }))
  const stream = collect((signal) => client.events({ signal }))
  await until(() => stream.types().length === 1, "the stream is open")
  await publish(tmp.path, range(0, 5))
  await until(() => stream.numbers().length === 5, "the first events")
  await first.stop()
  await until(() => stream.types().includes("disconnected"), "the end is reported")
  await assert.rejects(client.getInfo(), { name: "Client.Unreachable", status: 0 })
  await using _ = await startServer(tmp.path, { port })
  await publish(tmp.path, range(5, 10))
  await until(() => stream.numbers().length >= 10, "the events after the restart")
  await stream.stop()
  assert.deepEqual(stream.numbers(), range(0, 10))
  assert.equal(stream.types().includes("gap"), false)
})

test("events after an id are replayed, and an id that is not stored gives a gap", async () => {
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path)
  const { url, token } = server
  const client = createClient(createHttpTransport({ url, token, directory: tmp.path }))
  const live = collect((signal) => client.events({ signal }))
  await until(() => live.types().length === 1, "the stream is open")
  await publish(tmp.path, range(0, 5))
  await until(() => live.numbers().length === 5, "the events")
  await live.stop()
  const ids = live.seen.flatMap((event) => ("id" in event ? [event.id] : []))
  const later = collect((signal) => client.events({ signal, after: ids[1] }))
  await until(() => later.numbers().length === 3, "the replay")
  await later.stop()
  assert.deepEqual(later.numbers(), [2, 3, 4])
  const lost = collect((signal) => client.events({ signal, after: 999_999_999 }))
  await until(() => lost.types().includes("gap"), "the gap")
  await publish(tmp.path, [5])
  await until(() => lost.numbers().length === 1, "an event with a lower id")
  await lost.stop()
})

test("a wrong token ends the stream and the call with the server's error", async () => {
  await using tmp = await tmpdir()
  await using server = await startServer(tmp.path)
  const client = createClient(createHttpTransport({ url: server.url, token: "wrong" }))
  const refused = { name: "Server.Unauthorized", status: 401 }
  await assert.rejects(client.getInfo(), refused)
  await assert.rejects(collect((signal) => client.events({ signal })).done, refused)
  await assert.rejects(client.getInfo(), ClientError)
})

test("in the same process the stream has the events of its folder only, and a gap instead of old ones", async () => {
  await using tmp = await tmpdir()
  await using other = await tmpdir()
  const transport = createLocalTransport({ directory: tmp.path })
  const client = createClient(transport)
  const stream = collect((signal) => client.events({ signal }))
  await until(() => stream.types().length === 1, "the stream is open")
  await publish(other.path, range(100, 103))
  await publish(tmp.path, range(0, 3))
  await until(() => stream.numbers().length === 3, "the events")
  await stream.stop()
  assert.deepEqual(stream.numbers(), [0, 1, 2])
  const ids = stream.seen.flatMap((event) => ("id" in event ? [event.id] : []))
  const later = collect((signal) => client.events({ signal, after: ids[0] }))
  await until(() => later.types().includes("gap"), "the gap")
  await later.stop()
  const current = collect((signal) => client.events({ signal, after: ids[2] }))
  await publish(tmp.path, [3])
  await until(() => current.numbers().length === 1, "the next event")
  await current.stop()
  assert.deepEqual(current.types(), ["connected"])
  await transport.close()
  await Instance.disposeAll()
})

test("in the same process a client that does not read gets a gap instead of a growing queue", async () => {
  await using tmp = await tmpdir()
  const transport = createLocalTransport({ directory: tmp.path })
  const ending = new AbortController()
  const { frames } = await transport.connect({ signal: ending.signal })
  await publish(tmp.path, range(0, 20_010))
  const seen: number[] = []
  for await (const { event } of frames) {
    if (event?.type === "gap") seen.push(event.from - Number(event.after) - 1)
    else seen.push((event as unknown as { payload: { n: number } }).payload.n)
    if (seen.at(-1) === 20_009) break
  }
  assert.deepEqual(seen, [20_000, ...range(20_000, 20_010)])
  await transport.close()
  await Instance.disposeAll()
})
