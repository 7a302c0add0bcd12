// What a call prints while it runs reaches who listens, and nobody later.
import assert from "node:assert/strict"
import { test } from "node:test"
import { call, text } from "../../fixture/fake-llm.ts"
import { inWorld, until } from "./harness.ts"

test("the output of a command is published as it comes, live only, for the call that it belongs to", async () => {
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
