// The output of a running call is published live, and not replayed.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import { call, calls, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { inWorld } from "./harness.ts"
import { next } from "./needy.ts"

test("the output of a command is published as live events of its call", async () => {
  const command = "echo one; until [ -e go ]; do sleep 0.02; done; echo two"
  await inWorld([call("bash", { command }, { id: "call_9" }), text("done")], async (world) => {
    const { ask, tmp, events, session } = world
    const progress = () => events.filter(({ type }) => type === "tool.progress")
    const work = ask("go", { asks: "once" })
    await until(() => progress().length === 1, "the first line")
    tmp.write("go", "")
    await work
    assert.deepEqual(
      progress().map(({ payload }) => payload),
      ["one\n", "two\n"].map((line) => ({ sessionId: session.id, callId: "call_9", text: line })),
    )
    assert.deepEqual(
      progress().map(({ id }) => id),
      [undefined, undefined],
    )
  })
})

test("a started event follows permission and names the message; a refused call has none", async () => {
  const script = [
    calls([
      call("ls", {}, { id: "a" }),
      call("bash", { command: "echo" }, { id: "b" }),
      call("none", {}, { id: "c" }),
    ]),
    call("bash", { command: "echo" }, { id: "d" }),
    text("done"),
  ]
  await inWorld(script, async ({ ask, events, messages, session }) => {
    const work = ask("go")
    const [first] = await next()
    const started = () => events.filter(({ type }) => type === "tool.started")
    assert.ok(started().length <= 1, "what waits for a person does not run")
    await Permission.reply(first!.id, "reject")
    const [second] = await next()
    await Permission.reply(second!.id, "once")
    await work
    const requests = (await messages()).filter(({ type }) => type === "tool_request")
    assert.deepEqual(
      started().map(({ payload }) => payload),
      [
        { sessionId: session.id, messageId: requests[0]!.id, callId: "a" },
        { sessionId: session.id, messageId: requests[1]!.id, callId: "d" },
      ],
    )
    assert.ok(
      started().every(({ id }) => id === undefined),
      "nobody is told later",
    )
  })
})
