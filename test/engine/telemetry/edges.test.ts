// Telemetry of a server, of editors, of the interactive terminal and of `vitamin doctor`, through the installed command.
import assert from "node:assert/strict"
import { readFileSync, rmSync } from "node:fs"
import { test } from "node:test"
import { withSession } from "../../edge/acp/harness.ts"
import { serving, vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { openCollector } from "../../fixture/otlp/collector.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm } from "../../fixture/xterm.ts"

const prompted = (collector: Awaited<ReturnType<typeof openCollector>>) =>
  collector.spans().filter(({ name }) => name.startsWith("invoke_agent"))

test("the interactive terminal exports its prompts, and says at its end what was dropped", async () => {
  await using tmp = await tmpdir({ git: true })
  await using collector = await openCollector((response, path) => {
    if (!path.endsWith("logs")) return false
    response.writeHead(400).end()
    return true
  })
  await using llm = await fakeLlm([
    call("bash", { command: "echo hi" }),
    text("The first answer."),
    text("The second answer."),
  ])
  await using terminal = await openXterm(tmp, ["say something"], {
    env: { ...env(llm, "chat").variables, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  })
  await terminal.sees("Run this command?")
  terminal.type("y")
  await terminal.sees("The first answer.")
  await terminal.sees(/^ask · /m)
  terminal.type("and more\r")
  await terminal.sees("The second answer.")
  await terminal.sees(/^ask · /m)
  terminal.type("\u0004")
  assert.equal(await terminal.exit, 0)
  collector.check()
  assert.equal(prompted(collector).length, 2)
  assert.equal(collector.spans().filter(({ name }) => name === "execute_tool bash").length, 1)
  assert.match(terminal.all(), /the telemetry collector did not take \d+ records: it answered 400/)
})

test("vitamin acp exports its prompts, and says on stderr what was dropped", async () => {
  await using tmp = await tmpdir({ git: true })
  await using collector = await openCollector((response, path) => {
    if (!path.endsWith("traces")) return false
    response.end(JSON.stringify({ partialSuccess: { rejectedSpans: "1", errorMessage: "one too many" } }))
    return true
  })
  await using llm = await fakeLlm([call("read", { path: "README.md" }), text("Done.")])
  const acp = await withSession(tmp, { llm, env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
  await acp.prompt("read it")
  acp.stdin.end()
  assert.equal(await acp.exit, 0)
  collector.check()
  const agents = collector.metrics().find(({ name }) => name === "gen_ai.invoke_agent.duration")
  assert.equal(agents?.points[0]?.count, 1)
  assert.match(acp.errors(), /the telemetry collector did not take 1 records?: one too many/)
})

test("a request to vitamin serve with a traceparent continues that trace, and its sampling decision counts", async () => {
  await using tmp = await tmpdir({ git: true })
  await using collector = await openCollector()
  await using llm = await fakeLlm(() => text("Done."))
  const { child, url, tokenFile } = await serving(tmp, [], {
    ...env(llm, "chat").variables,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: "20",
  })
  await using _ = child
  const post = async (path: string, body: object, traceparent = "") => {
    const headers = {
      authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}`,
      "content-type": "application/json",
      "x-vitamin-directory": tmp.path,
      ...(traceparent ? { traceparent } : {}),
    }
    const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
    assert.ok(response.ok, `${path} ${response.status}`)
    return (await response.json()) as { id: string }
  }
  const { id } = await post("/session", {})
  const [traceId, spanId] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"]
  const prompt = (traceparent?: string) => post(`/session/${id}/message`, { text: "go" }, traceparent)
  await prompt(`00-${traceId}-${spanId}-01`)
  await prompt(`00-1${traceId.slice(1)}-${spanId}-00`)
  await prompt("00-garbage")
  await prompt()
  await until(() => prompted(collector).length === 3)
  collector.check({ outer: spanId })
  const [first, ...rest] = prompted(collector)
  assert.deepEqual([first!.traceId, first!.parentSpanId], [traceId, spanId])
  assert.deepEqual(new Set(rest.map((span) => span.parentSpanId)), new Set([undefined]))
  assert.equal(new Set([first, ...rest].map((span) => span!.traceId)).size, 3)
  const sent = llm.requests.map(({ headers }) => String(headers.traceparent))
  assert.match(sent[0]!, new RegExp(`^00-${traceId}-[\\da-f]{16}-01$`))
  assert.match(sent[1]!, new RegExp(`^00-1${traceId.slice(1)}-[\\da-f]{16}-00$`))
})

test("each of the prompts that wait for a session continues the trace of its own caller", async () => {
  await using tmp = await tmpdir({ git: true })
  await using collector = await openCollector()
  const waits = call("bash", { command: "until [ -e go ]; do sleep 0.05; done" })
  await using llm = await fakeLlm([waits, text("One."), text("Two."), text("Three."), text("Four.")])
  const { child, url, tokenFile } = await serving(tmp, [], {
    ...env(llm, "chat").variables,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: "20",
  })
  await using _ = child
  const post = async (path: string, body: object, traceparent?: string) => {
    const headers = {
      authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}`,
      "content-type": "application/json",
      "x-vitamin-directory": tmp.path,
      prefer: "respond-async",
      ...(traceparent ? { traceparent } : {}),
    }
    const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
    assert.ok(response.ok, `${path} ${response.status}`)
    return (await response.json()) as { id: string }
  }
  const { id } = await post("/session", {})
  const callers = ["1", "2", "3"].map((digit) => ({ traceId: digit.repeat(32), spanId: digit.repeat(16) }))
  for (const { traceId, spanId } of callers)
    await post(
      `/session/${id}/message`,
      { text: "go", allow: ["bash.execute:*"] },
      `00-${traceId}-${spanId}-01`,
    )
  // This one fails before it begins, so the last one, which has no caller, must not take over its trace.
  tmp.write(".vitamin/commands/gone.md", "Go.")
  await post(`/session/${id}/message`, { text: "/gone" }, `00-${"4".repeat(32)}-${"4".repeat(16)}-01`)
  rmSync(`${tmp.path}/.vitamin/commands/gone.md`)
  await post(`/session/${id}/message`, { text: "go" })
  tmp.write("go", "")
  await until(() => prompted(collector).length === 4)
  const spans = prompted(collector).map(({ traceId, parentSpanId: spanId }) => ({ traceId, spanId }))
  assert.deepEqual(spans.slice(0, 3), callers)
  assert.equal(spans[3]!.spanId, undefined)
})

test("vitamin serve exports each prompt as a trace, while it runs", async () => {
  await using tmp = await tmpdir({ git: true })
  await using collector = await openCollector()
  await using llm = await fakeLlm([call("read", { path: "README.md" }), text("One."), text("Two.")])
  const { child, url, tokenFile } = await serving(tmp, [], {
    ...env(llm, "chat").variables,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: "20",
    OTEL_METRIC_EXPORT_INTERVAL: "50",
  })
  await using _ = child
  const headers = {
    authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}`,
    "content-type": "application/json",
    "x-vitamin-directory": tmp.path,
  }
  const post = async (path: string, body: object) => {
    const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
    assert.ok(response.ok, `${path} ${response.status}`)
    return (await response.json()) as { id: string }
  }
  const { id } = await post("/session", {})
  for (const words of ["first", "second"]) await post(`/session/${id}/message`, { text: words })
  await until(() => collector.spans().filter(({ name }) => name.startsWith("invoke_agent")).length === 2)
  await until(() => collector.metrics().length > 0)
  collector.check()
  const prompts = collector.spans().filter(({ name }) => name.startsWith("invoke_agent"))
  assert.equal(new Set(prompts.map(({ traceId }) => traceId)).size, 2)
  assert.deepEqual(
    prompts.map(({ attributes }) => attributes["gen_ai.conversation.id"]),
    [id, id],
  )
})

test("vitamin doctor says where telemetry goes, and whether the collector takes it", async () => {
  await using tmp = await tmpdir({ git: true })
  await using collector = await openCollector((response, path) => {
    if (!path.endsWith("logs")) return false
    response.writeHead(404).end()
    return true
  })
  const off = await vitamin(tmp, ["doctor"])
  assert.doesNotMatch(off.out, /telemetry/)
  const { out } = await vitamin(tmp, ["doctor"], { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  collector.check()
  assert.match(out, /^ok {4}telemetry {6}traces to http:\/\/127\.0\.0\.1:\d+\/v1\/traces$/m)
  assert.match(out, /^note {2}telemetry {6}logs to http:\S+ are dropped: it answered 404$/m)
  const refused = await vitamin(tmp, ["doctor"], {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
  })
  assert.match(refused.out, /^bad {3}telemetry .*"grpc" is not supported/m)
})
