// Events of a prompt that reach the terminal before the answer that names the prompt.
import assert from "node:assert/strict"
import { test } from "node:test"
import { serving } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm } from "../../fixture/xterm.ts"
import { clientOf } from "./client-of.ts"
import { openGate } from "./gate.ts"

const [enter, esc] = ["\r", "\u001b"]
const isPrompt = /\/session\/[^/]+\/message$/

test("a prompt that began before its answer came does not wait any more", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  await using line = await openGate(server.url)
  await using terminal = await openXterm(tmp, ["attach", line.url])
  await terminal.sees(/^ask · /m)
  line.hold("answer", isPrompt)
  terminal.type(`go${enter}`)
  await terminal.sees(/▌ go.*Done\./s)
  await until(() => line.held.length === 1, "the answer")
  line.release()
  await terminal.misses(/waits: go/)
})

test("a prompt that was stopped before its answer came returns to the editor", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "sleep 600" })])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  await using line = await openGate(server.url)
  await using terminal = await openXterm(tmp, ["attach", line.url, "--yes"])
  await terminal.sees(/^yes to all · /m)
  terminal.type(`one${enter}`)
  await terminal.sees("● Run sleep 600")
  line.hold("answer", isPrompt)
  terminal.type(`two${enter}`)
  await until(() => line.held.length === 1, "the answer")
  terminal.type(esc)
  await terminal.sees("· stopped")
  line.release()
  await terminal.sees(/^> two$/m)
  assert.doesNotMatch(terminal.screen(), /waits: two/)
})

test("a terminal works while its prompt is on its way, also if the session changes meanwhile", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const client = clientOf(tmp, server)
  await using line = await openGate(server.url)
  await using terminal = await openXterm(tmp, ["attach", line.url])
  await terminal.sees(/^ask · /m)
  line.hold("request", isPrompt)
  terminal.type(`go${enter}`)
  await until(() => line.held.length === 1, "the prompt")
  const [session] = await client.listSessions()
  await client.setMode({ id: session!.id, mode: "plan" })
  await terminal.sees("plan · build")
  assert.match(terminal.screen(), /working/)
  line.release()
  await terminal.sees("Done.")
  await terminal.misses(/working/)
})
