// Prompts whose guest is gone before it has done anything: they fail with the reason, which clients and telemetry learn, and
// the next prompt works.
import assert from "node:assert/strict"
import { mkdtempDisposableSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { createClient, createHttpTransport } from "#client/client.ts"
import * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { whyNot } from "../../ability/sandbox/world.ts"
import { serving } from "../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { openCollector } from "../../fixture/otlp/collector.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { guestsOf } from "./harness.ts"
import { withGuest } from "./lying-guest.ts"

test("the trace of a prompt whose guest dies before its first event is ended and exported", async () => {
  await using collector = await openCollector()
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url
  process.env.OTEL_BSP_SCHEDULE_DELAY = "20"
  const seen: unknown[] = []
  try {
    const error = await withGuest(
      async ({ peer, stream, session }) => {
        Bus.subscribe(Session.Failed, (failed) => void seen.push(failed))
        seen.push(session.id)
        stream.destroy()
        await peer.closed
      },
      { after: () => until(() => collector.spans().length > 0, "the trace is exported") },
    )
    const [span, ...more] = collector.spans()
    const [sessionId, ...failures] = seen
    assert.equal(error.name, "Sandbox.Ended")
    assert.deepEqual(failures, [{ sessionId, error: { name: error.name, message: error.message } }])
    assert.deepEqual(more, [])
    assert.equal(span!.name, "invoke_agent")
    assert.equal(span!.attributes["error.type"], "Sandbox.Ended")
    assert.equal(span!.attributes["gen_ai.conversation.id"], sessionId)
    collector.check()
  } finally {
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT
    delete process.env.OTEL_BSP_SCHEDULE_DELAY
  }
})

test("bubblewrap that is removed while vitamin serve --sandbox runs refuses the next session, which works once it is back", {
  skip: whyNot("user") ?? false,
}, async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("One."), text("Two."), text("Three.")])
  // Not in /tmp, which is another folder inside.
  using bin = mkdtempDisposableSync("/var/tmp/vitamin-bin-")
  const link = (name: string) => symlinkSync(`/usr/bin/${name}`, join(bin.path, name))
  for (const name of ["bwrap", "bash", "sh", "unshare", "git", "cat"]) link(name)
  const variables = { ...env(llm, "chat").variables, PATH: bin.path }
  const { child, url, tokenFile } = await serving(tmp, ["--sandbox"], variables)
  await using _ = child
  const token = readFileSync(tokenFile, "utf8").trim()
  const client = createClient(createHttpTransport({ url, token, directory: tmp.path }))
  const [first, second] = [await client.createSession({}), await client.createSession({})]
  await client.promptSession({ id: first.id, text: "go" })
  rmSync(join(bin.path, "bwrap"))
  // A guest that has started stays.
  await client.promptSession({ id: first.id, text: "go on" })
  const before = guestsOf(child.process.pid!)
  assert.equal(before.length, 1)
  await assert.rejects(
    client.promptSession({ id: second.id, text: "go" }),
    /The sandbox did not start: bubblewrap \(bwrap\) is not on the PATH\. Install it with/,
  )
  assert.notEqual((await client.getSession({ id: second.id })).status, "busy")
  assert.deepEqual(guestsOf(child.process.pid!), before)
  assert.equal(llm.requests.length, 2)
  link("bwrap")
  await client.promptSession({ id: second.id, text: "go" })
  assert.equal(llm.requests.length, 3)
  assert.equal(guestsOf(child.process.pid!).length, 2)
})
