// A collector that is away, slow or broken never fails a prompt; what it does not take is dropped, counted and reported.
import assert from "node:assert/strict"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { createQueue } from "#engine/telemetry/create-queue.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, calls, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { openCollector } from "../../fixture/otlp/collector.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

const reads = () => [
  calls(["a", "b", "c", "d"].map((pattern) => call("grep", { pattern }))),
  text("It is a fixture."),
]

async function runWith(variables: Record<string, string>, args: string[] = []) {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(reads())
  return await vitamin(tmp, ["run", ...args, "go"], { ...env(llm, "chat").variables, ...variables })
}

test("a collector that is away costs a warning, not the prompt", async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  const { code, out, err } = await runWith({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` })
  assert.equal(code, 0, err)
  assert.equal(out, "It is a fixture.")
  assert.match(err, /warning: the telemetry collector did not take \d+ records: connect ECONNREFUSED/)
})

test("a collector that never answers is left at the end of the program", async () => {
  await using collector = await openCollector(() => true)
  const { code, err } = await runWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  assert.equal(code, 0, err)
  assert.ok(collector.turns() > 0)
  assert.match(err, /did not take \d+ records: the program ended first/)
})

test("a collector that is busy gets the batch again", async () => {
  const busy = new Set<string>()
  await using collector = await openCollector((response, path) => {
    if (busy.has(path)) return false
    busy.add(path)
    response.writeHead(path.endsWith("traces") ? 429 : 503, { "retry-after": "0" }).end("later")
    return true
  })
  const { code, err } = await runWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  assert.equal(code, 0, err)
  collector.check()
  assert.equal(collector.spans().length, 7)
  assert.doesNotMatch(err, /telemetry/)
})

test("a collector that asks for an hour is left at the end", async () => {
  await using collector = await openCollector((response) => {
    response.writeHead(503, { "retry-after": "3600" }).end()
    return true
  })
  const { code, err } = await runWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  assert.equal(code, 0, err)
  assert.match(err, /did not take \d+ records: it answered 503/)
  // Once for the traces, once for the metrics: the end of the program does not try again.
  assert.equal(collector.turns(), 2)
})

for (const answer of [429, 500, 502, 418])
  test(`a collector that always answers ${answer} loses everything, and it is counted`, async () => {
    await using collector = await openCollector((response) => {
      response.writeHead(answer).end("<html>\u0000 not JSON")
      return true
    })
    const { code, out, err } = await runWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
    assert.equal(code, 0, err)
    assert.equal(out, "It is a fixture.")
    const [, lost] = new RegExp(`did not take (\\d+) records: it answered ${answer}`).exec(err) ?? []
    // Seven spans and the metrics.
    assert.ok(Number(lost) > 7, err)
  })

test("redirects are not followed, and the header stays at its collector", async () => {
  await using elsewhere = await openCollector()
  await using collector = await openCollector((response, path) => {
    response.writeHead(307, { location: `${elsewhere.url}${path}` }).end()
    return true
  })
  const { code, err } = await runWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  assert.equal(code, 0, err)
  assert.equal(elsewhere.turns(), 0)
  assert.match(err, /did not take \d+ records: it answered 307/)
})

test("records that a collector refuses are counted and exported as a metric", async () => {
  await using collector = await openCollector((response, path) => {
    if (!path.endsWith("traces")) return false
    response.end(JSON.stringify({ partialSuccess: { rejectedSpans: "2", errorMessage: "too old" } }))
    return true
  })
  const { code, err } = await runWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  assert.equal(code, 0, err)
  collector.check()
  const lost = collector.metrics().find(({ name }) => name === "vitamin.telemetry.dropped")
  assert.deepEqual(lost?.points, [{ attributes: { signal: "traces", "error.type": "rejected" }, value: 2 }])
  assert.match(err, /did not take 2 records: too old/)
})

test("a full queue drops and counts", async () => {
  // It never answers: of seven spans one is on its way, one waits, and the others are dropped.
  await using collector = await openCollector((_, path) => path.endsWith("traces"))
  const { code, err } = await runWith({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_MAX_QUEUE_SIZE: "2",
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "1",
  })
  assert.equal(code, 0, err)
  const lost = collector.metrics().find(({ name }) => name === "vitamin.telemetry.dropped")!
  const full = lost.points.find(({ attributes }) => attributes["error.type"] === "queue_full")!
  assert.equal(full.value, 5)
})

test("records that come while a batch is sent wait for the next one", async () => {
  const held: (() => void)[] = []
  await using collector = await openCollector((response) => {
    held.push(() => response.end("{}"))
    return true
  })
  const queue = createQueue({
    target: { url: `${collector.url}/v1/traces`, headers: {}, timeout: 10_000, gzip: false },
    limits: { most: 100, batch: 4, delay: 60_000 },
    encode: (records) => JSON.stringify(records),
    onDrop: (...loss) => assert.fail(loss.join(" ")),
  })
  for (const record of ["1", "2", "3", "4"]) queue.add(record)
  await until(() => held.length === 1)
  queue.add("5")
  held[0]!()
  for (const record of ["6", "7", "8"]) {
    await sleep(20)
    assert.equal(collector.turns(), 1)
    queue.add(record)
  }
  // Four wait now.
  await until(() => held.length === 2)
  held[1]!()
  queue.add("9")
  const closed = queue.close(AbortSignal.timeout(10_000))
  await until(() => held.length === 3)
  held[2]!()
  await closed
  assert.equal(collector.turns(), 3)
})

test("an endless or unreadable answer counts as taken", async () => {
  await using collector = await openCollector((response) => {
    const more = () => {
      while (response.writable && response.write("\u0000{{".repeat(10_000)));
      if (response.writable) response.once("drain", more)
    }
    more()
    return true
  })
  const { code, err } = await runWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  assert.equal(code, 0, err)
  assert.doesNotMatch(err, /telemetry/)
})
