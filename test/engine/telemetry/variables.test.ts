// The standard `OTEL_*` variables and the configuration decide what is exported, and where to.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { openCollector } from "../../fixture/otlp/collector.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

/** Runs a prompt with these variables; COLLECTOR stands for the address of the collector. */
async function exported(variables: Record<string, string>, prepare?: (tmp: Tmp, url: string) => void) {
  await using tmp = await tmpdir({ git: true })
  await using collector = await openCollector()
  await using llm = await fakeLlm([text("Done.")])
  prepare?.(tmp, collector.url)
  const given = Object.entries(variables).map(([name, value]) => [
    name,
    value.replace("COLLECTOR", collector.url),
  ])
  const { code, err } = await vitamin(tmp, ["run", "go"], {
    ...env(llm, "chat").variables,
    ...Object.fromEntries(given),
  })
  assert.equal(code, 0, err)
  collector.check({ outer: "b7ad6b7169203331" })
  const paths = [...new Set(collector.received.map(({ path }) => path))].sort()
  return { collector, err, paths, traceparent: llm.requests[0]!.headers.traceparent }
}

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "COLLECTOR/" }
const outer = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"

test("nothing is exported, and no request is marked, unless it is asked for", async () => {
  const off = [
    {},
    { ...endpoint, OTEL_SDK_DISABLED: "true" },
    { ...endpoint, OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none", OTEL_LOGS_EXPORTER: "none" },
  ]
  for (const variables of off) {
    const { paths, err, traceparent } = await exported(variables)
    assert.deepEqual([paths, traceparent], [[], undefined])
    assert.doesNotMatch(err, /telemetry/)
  }
})

test("each signal has its own variables", async () => {
  const traces = await exported({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "COLLECTOR/v1/traces" })
  assert.deepEqual(traces.paths, ["/v1/traces"])
  const rest = await exported({ ...endpoint, OTEL_TRACES_EXPORTER: "none" })
  assert.deepEqual(rest.paths, ["/v1/metrics"])
  const headers = await exported({
    ...endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: "x-a=1,x-b=2",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x-b=3",
    OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
  })
  const sent = Object.fromEntries(
    headers.collector.received.map(({ path, headers }) => [path, [headers["x-a"], headers["x-b"]]]),
  )
  assert.deepEqual(sent, { "/v1/metrics": ["1", "2"], "/v1/traces": ["1", "3"] })
  assert.equal(headers.collector.received[0]!.headers["content-encoding"], "gzip")
})

test("a protocol other than http/json is refused with a notice", async () => {
  for (const protocol of ["grpc", "http/protobuf"]) {
    const { paths, err } = await exported({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: protocol })
    assert.deepEqual(paths, [])
    assert.ok(err.includes(`traces are not exported: the protocol "${protocol}" is not supported.`), err)
    assert.match(err, /Set OTEL_EXPORTER_OTLP_PROTOCOL=http\/json/)
  }
  const json = await exported({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" })
  assert.deepEqual(json.paths, ["/v1/metrics", "/v1/traces"])
})

test("values that cannot be used are named, and the defaults apply", async () => {
  const { paths, err } = await exported({
    ...endpoint,
    OTEL_EXPORTER_OTLP_TIMEOUT: "soon",
    OTEL_BSP_MAX_QUEUE_SIZE: "-1",
    OTEL_TRACES_SAMPLER: "mine",
    OTEL_RESOURCE_ATTRIBUTES: "nonsense,a=%ZZ",
  })
  assert.deepEqual(paths, ["/v1/metrics", "/v1/traces"])
  const names = [
    ...["OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_BSP_MAX_QUEUE_SIZE"],
    ...["OTEL_TRACES_SAMPLER", "OTEL_RESOURCE_ATTRIBUTES"],
  ]
  for (const name of names) assert.ok(err.includes(name), `${name}\n${err}`)
  const wrong = await exported({ OTEL_EXPORTER_OTLP_ENDPOINT: "ftp://127.0.0.1" })
  assert.match(wrong.err, /the endpoint is not an http or https URL/)
})

test("TRACEPARENT is the parent of the prompt, and its sampling decision counts", async () => {
  const sampled = await exported({ ...endpoint, TRACEPARENT: `${outer}-01` })
  const prompt = sampled.collector.spans().find(({ name }) => name.startsWith("invoke_agent"))!
  assert.equal(prompt.traceId, "0af7651916cd43dd8448eb211c80319c")
  assert.equal(prompt.parentSpanId, "b7ad6b7169203331")
  const not = await exported({ ...endpoint, TRACEPARENT: `${outer}-00` })
  assert.deepEqual(not.paths, ["/v1/metrics"])
  assert.match(String(not.traceparent), /^00-0af7651916cd43dd8448eb211c80319c-[\da-f]{16}-00$/)
})

test("the samplers decide which traces are recorded", async () => {
  const spans = async (sampler: string, argument = "", traceparent = "") => {
    const variables = {
      OTEL_TRACES_SAMPLER: sampler,
      OTEL_TRACES_SAMPLER_ARG: argument,
      TRACEPARENT: traceparent,
    }
    return (await exported({ ...endpoint, ...variables })).collector.spans().length
  }
  assert.equal(await spans("always_off"), 0)
  assert.equal(await spans("always_on", "", `${outer}-00`), 2)
  assert.equal(await spans("traceidratio", "0"), 0)
  assert.equal(await spans("traceidratio", "1"), 2)
  assert.equal(await spans("parentbased_traceidratio", "0", `${outer}-01`), 2)
  assert.equal(
    await spans("traceidratio", "0.5", "00-00000000000000000000000000000001-b7ad6b7169203331-01"),
    2,
  )
  assert.equal(
    await spans("traceidratio", "0.5", "00-000000000000000000ffffffffffffff-b7ad6b7169203331-01"),
    0,
  )
})

test("metrics are deltas if the variable asks for them", async () => {
  const usual = await exported(endpoint)
  assert.equal(usual.collector.metrics()[0]!.temporality, 2)
  const deltas = await exported({ ...endpoint, OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "delta" })
  assert.equal(deltas.collector.metrics()[0]!.temporality, 1)
})

test("an untrusted folder cannot turn telemetry on or redirect it", async () => {
  const config = (url: string) => JSON.stringify({ telemetry: { endpoint: url, contents: true } })
  const untrusted = await exported({}, (tmp, url) => tmp.write(".vitamin/config.jsonc", config(url)))
  assert.deepEqual(untrusted.paths, [])
  const own = await exported({}, (tmp, url) => tmp.write("../config/vitamin/vitamin.jsonc", config(url)))
  assert.deepEqual(own.paths, ["/v1/metrics", "/v1/traces"])
})
