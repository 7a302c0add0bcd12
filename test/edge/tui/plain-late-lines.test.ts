// `--plain`: lines that were typed for a question that is answered or closed meanwhile.
import assert from "node:assert/strict"
import { test } from "node:test"
import { serving } from "../../fixture/cli.ts"
import { call, calls, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm } from "../../fixture/xterm.ts"
import { clientOf } from "./client-of.ts"
import { openGate } from "./gate.ts"

const enter = "\r"
const isReply = /\/permission\/[^/]+/

test("--plain: a line typed for a question that another client answered does not answer the next one", async () => {
  await using tmp = await tmpdir({ git: true })
  const both = calls([call("bash", { command: "touch one" }), call("bash", { command: "touch two" })])
  await using llm = await fakeLlm([both, text("Done.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const client = clientOf(tmp, server)
  await using terminal = await openXterm(tmp, ["attach", server.url, "--plain"], { rows: 60 })
  await terminal.sees(/^> ?$/m)
  terminal.type(`go${enter}`)
  await terminal.sees(/touch one\n.*Type a number/s)
  await until(async () => (await client.listPermissions()).length === 2, "both questions")
  const [first, second] = await client.listPermissions()
  await client.replyPermission({ id: first!.id, reply: "once" })
  await terminal.sees(/touch two\n.*Type a number/s)
  terminal.type(`1${enter}`)
  await terminal.sees(/touch two\n.*touch two\n.*Type a number/s)
  assert.deepEqual(
    (await client.listPermissions()).map(({ id }) => id),
    [second!.id],
  )
  await until(async () => {
    terminal.type(`1${enter}`)
    return (await client.listPermissions()).length === 0
  }, "the answer")
  await terminal.sees("Done.")
})

test("--plain: a line that comes while an answer is on its way is kept for what follows", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "touch one" }), text("Done."), text("More.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  await using gate = await openGate(server.url)
  await using terminal = await openXterm(tmp, ["attach", gate.url, "--plain"])
  await terminal.sees(/^> ?$/m)
  terminal.type(`go${enter}`)
  await terminal.sees("Type a number")
  gate.hold("request", isReply)
  terminal.type(`1${enter}`)
  await until(() => gate.held.length === 1, "the answer")
  terminal.type(`hello there${enter}`)
  await terminal.sees("hello there")
  gate.release()
  await until(() => llm.requests.some(({ raw }) => raw.includes("hello there")), "the second line")
  assert.match(llm.requests[1]!.raw, /touch one/)
  assert.doesNotMatch(llm.requests[1]!.raw, /rejected/)
})

test("--plain: a question that was answered elsewhere is over, although no event has told it yet", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "touch one" }), text("Done.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const client = clientOf(tmp, server)
  await using gate = await openGate(server.url)
  await using terminal = await openXterm(tmp, ["attach", gate.url, "--plain"])
  await terminal.sees(/^> ?$/m)
  terminal.type(`go${enter}`)
  await terminal.sees("Type a number")
  gate.holdEvents()
  const [question] = await client.listPermissions()
  await client.replyPermission({ id: question!.id, reply: "once" })
  terminal.type(`1${enter}`)
  await terminal.sees("It was answered elsewhere.")
  gate.release()
  await terminal.sees("Done.")
  assert.doesNotMatch(terminal.all(), /Error/)
})
