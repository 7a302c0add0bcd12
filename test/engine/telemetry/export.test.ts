// Telemetry through the installed command: a collector that validates OTLP gets one tree of spans per prompt, metrics and logs.
import assert from "node:assert/strict"
import { test } from "node:test"
import { shorten } from "#engine/telemetry/otlp.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, calls, env, fakeLlm, type Request, status, text } from "../../fixture/fake-llm.ts"
import { openCollector, type Span } from "../../fixture/otlp/collector.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

/** An MCP server over stdio whose tool returns the `_meta` of the call. */
const metaServer = `
import { createInterface } from "node:readline"
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "meta", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "show", description: "Shows the metadata.", inputSchema: { type: "object" } }] }),
  "tools/call": ({ _meta }) => ({ content: [{ type: "text", text: "meta " + JSON.stringify(_meta ?? {}) }] }),
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  const result = answers[method]?.(params)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: result ?? {} }))
}
`

const named = (spans: Span[], name: string) => spans.filter((span) => span.name === name)
const one = (spans: Span[], name: string) => {
  const [found, ...more] = named(spans, name)
  assert.ok(found && more.length === 0, `${name}: ${spans.map((span) => span.name)}`)
  return found
}
const traceparentOf = ({ headers }: Request) => String(headers.traceparent)

test("vitamin run exports one tree of spans, metrics and logs with the GenAI names", async () => {
  await using tmp = await tmpdir({ git: true })
  await using collector = await openCollector()
  const usage = { input: 100, output: 20 }
  await using llm = await fakeLlm([
    calls([call("read", { path: "README.md" }), call("read", { path: "missing.txt" })], { usage }),
    text("It is a fixture.", { usage }),
  ])
  const { variables } = env(llm, "chat")
  const { code, out, err } = await vitamin(tmp, ["run", "What is this?"], {
    ...variables,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: "tests",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=a%20b,service.name=other",
  })
  assert.equal(code, 0, err)
  assert.equal(out, "It is a fixture.")
  collector.check()
  const spans = collector.spans()
  const prompt = one(spans, "invoke_agent build")
  const requests = named(spans, "chat fake-model")
  const tools = named(spans, "execute_tool read")
  assert.deepEqual([spans.length, requests.length, tools.length], [5, 2, 2])
  assert.equal(prompt.parentSpanId, undefined)
  assert.deepEqual(new Set(requests.map((span) => span.parentSpanId)), new Set([prompt.spanId]))
  const asking = requests.find((span) => traceparentOf(llm.requests[0]!).includes(span.spanId))!
  assert.deepEqual(
    tools.map((span) => span.parentSpanId),
    [prompt.spanId, prompt.spanId],
  )
  assert.deepEqual(
    llm.requests.map(traceparentOf).sort(),
    requests.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`).sort(),
  )
  const { attributes } = asking
  assert.equal(attributes["gen_ai.operation.name"], "chat")
  assert.equal(attributes["gen_ai.provider.name"], "openai")
  assert.equal(attributes["gen_ai.request.model"], "fake-model")
  assert.equal(attributes["gen_ai.response.model"], "fake-model")
  assert.equal(attributes["gen_ai.usage.input_tokens"], 100)
  assert.equal(attributes["gen_ai.usage.output_tokens"], 20)
  assert.deepEqual(attributes["gen_ai.response.finish_reasons"], ["tool-calls"])
  assert.match(String(attributes["gen_ai.conversation.id"]), /^sess_/)
  assert.equal(prompt.attributes["gen_ai.usage.input_tokens"], 200)
  assert.equal(prompt.attributes["gen_ai.agent.name"], "build")
  assert.deepEqual(tools.map((span) => span.attributes["error.type"]).sort(), ["error", undefined])
  assert.deepEqual(tools.map((span) => span.status.code ?? 0).sort(), [0, 2])
  for (const span of spans) {
    assert.equal(span.traceId, prompt.traceId)
    assert.ok(span.start >= prompt.start && span.end <= prompt.end + 1_000_000n, `${span.name} lies inside`)
  }
  const metrics = new Map(collector.metrics().map((metric) => [metric.name, metric]))
  const tokens = metrics.get("gen_ai.client.token.usage")!
  assert.deepEqual(
    tokens.points.map(({ attributes, count, sum }) => [attributes["gen_ai.token.type"], count, sum]),
    [
      ["input", 2, 200],
      ["output", 2, 40],
    ],
  )
  for (const name of [
    "gen_ai.client.operation.duration",
    "gen_ai.invoke_agent.duration",
    "gen_ai.execute_tool.duration",
  ])
    assert.ok(metrics.has(name), name)
  const resource = collector.resource()
  assert.equal(resource["service.name"], "tests")
  assert.equal(resource["deployment.environment.name"], "a b")
  assert.ok(
    !JSON.stringify(collector.received.map(({ raw }) => raw)).includes(tmp.path),
    "no path of the folder",
  )
})

test("contents are not exported, and with the variable they are, without secrets", async () => {
  const secret = "canary-0123456789abcdef"
  for (const capture of ["", "true"]) {
    await using tmp = await tmpdir({ git: true })
    await using collector = await openCollector()
    await using llm = await fakeLlm([
      call("bash", { command: "echo tool-argument $((40+2)) canary-0123456789abcdef" }),
      text(`The final-answer is ${secret}.`),
    ])
    const variables = {
      ...env(llm, "chat").variables,
      GROQ_API_KEY: secret,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20header-canary-42",
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: capture,
    }
    const { code, err } = await vitamin(tmp, ["run", "--yes", `a user-prompt with ${secret}`], variables)
    assert.equal(code, 0, err)
    collector.check()
    const all = collector.received.map(({ raw }) => raw).join("\n")
    for (const content of ["user-prompt", "tool-argument", "tool-argument 42", "final-answer"])
      assert.equal(all.includes(content), capture === "true", `${content} ${capture}`)
    for (const key of [secret, "header-canary-42", "fake-llm-key-0123456789"])
      assert.ok(!all.includes(key) && !err.includes(key), `${key} was exported`)
    assert.equal(collector.received[0]!.headers.authorization, "Bearer header-canary-42")
  }
})

test("a secret in an error of a provider, in a failing command and in names of tools is not exported", async () => {
  const secret = "canary-0123456789abcdef"
  await using tmp = await tmpdir({ git: true })
  await using collector = await openCollector()
  await using llm = await fakeLlm([
    call("bash", { command: `cat /nowhere/${secret}; exit 3` }),
    call(`tool_${secret}`, { [secret]: secret }),
    status(400, { message: `the key ${secret} is wrong` }),
  ])
  const { code, out, err } = await vitamin(tmp, ["run", "--yes", "go"], {
    ...env(llm, "chat").variables,
    GROQ_API_KEY: secret,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_RESOURCE_ATTRIBUTES: `team=${secret}`,
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
  })
  assert.notEqual(code, 0)
  collector.check()
  const all = collector.received.map(({ raw }) => raw).join("\n")
  assert.match(all, /nowhere/)
  assert.match(all, /is wrong/)
  assert.match(all, /execute_tool tool_/)
  assert.ok(!all.includes(secret) && !out.includes(secret) && !err.includes(secret), "the key was shown")
})

test("shorten() leaves no start of a secret at the end of a text", () => {
  Secret.register("canary-0123456789abcdef", "test key")
  assert.equal(shorten(`${"x".repeat(90)}canary-0123456789abcdef`, 100), `${"x".repeat(90)}[test key]…`)
  assert.equal(shorten(`${"x".repeat(90)}canary-0123456789abcdef`, 95), `${"x".repeat(90)}[test…`)
})

test("a secret that looks like the start of an id or a time changes neither", async () => {
  await using tmp = await tmpdir({ git: true })
  await using collector = await openCollector()
  await using llm = await fakeLlm([text("It is 00000000.")])
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
  const { code, err } = await vitamin(tmp, ["run", `the key is ${traceId.slice(0, 8)}`], {
    ...env(llm, "chat").variables,
    GROQ_API_KEY: traceId.slice(0, 8),
    MISTRAL_API_KEY: String(Date.now()).slice(0, 8),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
    TRACEPARENT: `00-${traceId}-00f067aa0ba902b7-01`,
  })
  assert.equal(code, 0, err)
  collector.check({ outer: "00f067aa0ba902b7" })
  const spans = collector.spans()
  assert.deepEqual(new Set(spans.map((span) => span.traceId)), new Set([traceId]))
  assert.ok(spans.every(({ start }) => start > 0n))
  const prompt = one(spans, "invoke_agent build")
  assert.doesNotMatch(String(prompt.attributes["gen_ai.input.messages"]), /4bf92f35/)
})

test("a task's spans are below the call that gave it, in the same trace", async () => {
  await using tmp = await tmpdir({ git: true })
  await using collector = await openCollector()
  await using llm = await fakeLlm([
    call("subtask", { task: "read the file" }),
    call("read", { path: "README.md" }),
    text("It says fixture."),
    text("Done."),
  ])
  const { code, err } = await vitamin(tmp, ["run", "--yes", "go"], {
    ...env(llm, "chat").variables,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  })
  assert.equal(code, 0, err)
  collector.check()
  const spans = collector.spans()
  const task = one(spans, "execute_tool subtask")
  const [inner, outer] = [...named(spans, "invoke_agent build")].sort((a, b) => Number(b.start - a.start))
  assert.equal(outer!.parentSpanId, undefined)
  assert.equal(inner!.parentSpanId, task.spanId)
  const read = one(spans, "execute_tool read")
  assert.equal(read.parentSpanId, inner!.spanId)
  assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1)
  assert.notEqual(inner!.attributes["gen_ai.conversation.id"], outer!.attributes["gen_ai.conversation.id"])
})

for (const where of [[], ["--sandbox"]])
  test(`an MCP server gets the traceparent of its call ${where.join()}`, async (t) => {
    await using tmp = await tmpdir({ git: true })
    await using collector = await openCollector()
    tmp.write("server.mjs", metaServer)
    const server = { id: "meta", name: "meta", transport: "stdio", command: ["node", "server.mjs"] }
    tmp.write(
      "../config/vitamin/vitamin.jsonc",
      JSON.stringify({
        telemetry: { endpoint: collector.url },
        mcp: { servers: [server] },
        permission: [{ permission: "mcp.call", pattern: "*", action: "allow" }],
      }),
    )
    await vitamin(tmp, ["trust", "--yes", "--file", "server.mjs"])
    await using llm = await fakeLlm([call("meta_show", {}), text("Done.")])
    const ran = await vitamin(tmp, ["run", ...where, "go"], env(llm, "chat").variables)
    if (where.length && /bubblewrap|bwrap/.test(ran.err) && ran.code !== 0) return t.skip(ran.err)
    assert.equal(ran.code, 0, ran.err)
    collector.check()
    const spans = collector.spans()
    const tool = one(spans, "execute_tool meta_show")
    const body = JSON.stringify(llm.requests[1]!.body)
    assert.ok(body.includes(`00-${tool.traceId}-${tool.spanId}-01`), body)
    const requests = named(spans, "chat fake-model")
    assert.deepEqual(
      llm.requests.map(traceparentOf).sort(),
      requests.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`).sort(),
    )
  })

test("a failed request and a failed prompt are errors in spans, metrics and logs", async () => {
  await using tmp = await tmpdir({ git: true })
  await using collector = await openCollector()
  await using llm = await fakeLlm([status(401, { message: "no such key" })])
  const { code } = await vitamin(tmp, ["run", "go"], {
    ...env(llm, "chat").variables,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  })
  assert.notEqual(code, 0)
  collector.check()
  const spans = collector.spans()
  const request = one(spans, "chat fake-model")
  assert.equal(request.attributes["error.type"], "401")
  assert.equal(request.status.code, 2)
  assert.equal(one(spans, "invoke_agent build").status.code, 2)
  const logs = collector.logs()
  assert.deepEqual(
    logs.map(({ eventName, severityNumber }) => [eventName, severityNumber]),
    [
      ["gen_ai.client.operation.exception", 13],
      ["vitamin.session.error", 17],
    ],
  )
  assert.equal(logs[0]!.traceId, request.traceId)
  assert.ok(!JSON.stringify(logs).includes("no such key"), "what the provider said is content")
})
