import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import * as Session from "#engine/session/session.ts"
import { call, calls, reasoning, text, wires } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { defineTool, inWorld, resultsOf, shapeOf, textOf } from "../session/harness.ts"

for (const wire of wires) {
  test(`Session.prompt() returns a text answer that is stored and published, over ${wire}`, async () => {
    await inWorld(
      [text("A typed language. ✓", { deltas: 4 })],
      async ({ ask, messages, events }) => {
        const answer = await ask("What is TypeScript?")
        assert.equal(textOf(answer), "A typed language. ✓")
        assert.deepEqual((await messages()).at(-1), answer)
        assert.equal(answer.type === "text" && answer.data.finish, "stop")
        assert.equal(answer.usage?.input, 100)
        const created = events.filter(({ type }) => type === "message.created")
        assert.deepEqual((created.at(-1)!.payload as { message: unknown }).message, answer)
        const deltas = events.filter(({ type }) => type === "message.delta").map(({ payload }) => payload)
        assert.equal(deltas.map((delta) => (delta as { text: string }).text).join(""), textOf(answer))
      },
      { wire },
    )
  })

  test(`Session.prompt() runs a read and sends its result to the model, over ${wire}`, async () => {
    const script = [calls([text("Let me look."), call("read", { path: "notes.txt" })]), text("It says 42.")]
    await inWorld(
      script,
      async ({ ask, messages, llm, tmp }) => {
        tmp.write("notes.txt", "the answer is 42\n")
        assert.equal(textOf(await ask("What does notes.txt say?")), "It says 42.")
        assert.deepEqual(shapeOf(await messages()), [
          "user",
          "assistant",
          "tool_request",
          "tool_result",
          "assistant",
        ])
        const sent = llm.requests[1]!.messages
        assert.match(sent.flatMap(({ results }) => results)[0]!.text, /the answer is 42/)
        assert.equal(sent.flatMap(({ calls }) => calls)[0]!.name, "read")
        assert.match(llm.requests[0]!.system, /vitamin/)
      },
      { wire },
    )
  })
}

test("Session.prompt() runs a call that changes something when its message is on disk", async () => {
  const seen: boolean[] = []
  await inWorld([call("change"), call("change"), text("Changed.")], async ({ ask, events }) => {
    defineTool("change", async (_, { messageId }) => {
      // Published when the record is acknowledged.
      const stored = events.filter(({ type }) => type === "message.created").map(({ payload }) => payload)
      seen.push(stored.some((one) => (one as { message: { id: string } }).message.id === messageId))
      return "changed"
    })
    await ask("Change it.")
  })
  assert.deepEqual(seen, [true, true])
})

test("Session.prompt() stores reasoning as its own part, and sends its signature back in the next request", async () => {
  const script = [
    reasoning("First I look.", calls([text("Looking."), call("ls")])),
    text("Done."),
    text("Yes."),
  ]
  await inWorld(
    script,
    async ({ ask, messages, llm }) => {
      await ask("go")
      const [, thought] = await messages()
      assert.deepEqual(thought?.type === "text" && thought.data.parts, [
        {
          type: "reasoning",
          text: "First I look.",
          providerMetadata: { anthropic: { signature: "c2lnbmVk" } },
        },
        { type: "text", text: "Looking." },
      ])
      await ask("sure?")
      for (const { body } of llm.requests.slice(1)) {
        const sent = (body.messages as { content: unknown[] }[])[1]!
        assert.deepEqual(sent.content[0], {
          type: "thinking",
          thinking: "First I look.",
          signature: "c2lnbmVk",
        })
      }
    },
    { wire: "messages" },
  )
})

test("Session.prompt() runs reading calls in parallel and writing calls one by one, with one result each in call order", async () => {
  const log: string[] = []
  const tool = (name: string, readOnly: boolean) =>
    defineTool(
      name,
      async ({ value }) => {
        log.push(`+${value}`)
        // Each reader waits for the other of its pair, so both must run at once.
        const other = { r1: "+r2", r2: "-r1", r5: "+r6", r6: "-r5" }[value!]
        await (other ? until(() => log.includes(other)) : sleep(20))
        log.push(`-${value}`)
        return `${value} done`
      },
      { readOnly },
    )
  const asked = ["r1", "r2", "w3", "w4", "r5", "r6"]
  const script = [
    calls(asked.map((value) => call(value.startsWith("r") ? "look" : "change", { value }))),
    text("ok"),
  ]
  await inWorld(script, async ({ ask, messages, llm }) => {
    tool("look", true)
    tool("change", false)
    await ask("go")
    // Either of a pair may start first; both start before either ends.
    const pair = (a: string, b: string) => `(\\+${a} \\+${b}|\\+${b} \\+${a}) -${a} -${b}`
    assert.match(log.join(" "), new RegExp(`^${pair("r1", "r2")} \\+w3 -w3 \\+w4 -w4 ${pair("r5", "r6")}$`))
    const results = resultsOf(await messages())
    assert.deepEqual(
      results.map(({ output }) => output),
      asked.map((value) => `${value} done`),
    )
    const sent = llm.requests[1]!.messages.flatMap(({ results }) => results)
    assert.deepEqual(
      sent.map(({ text }) => text),
      asked.map((value) => `${value} done`),
    )
  })
})

for (const wire of wires)
  test(`Session.prompt() takes calls in the middle of text, over ${wire}`, async () => {
    const script = [calls([text("Before. "), call("ls"), text("After.")]), text("Done.")]
    await inWorld(
      script,
      async ({ ask, messages }) => {
        await ask("go")
        const [, said, request, result] = await messages()
        assert.equal(textOf(said), "Before. After.")
        assert.equal(request?.type, "tool_request")
        assert.equal(result?.type, "tool_result")
      },
      { wire },
    )
  })

test("Session.prompt() continues with another model, which does not get the reasoning of the first", async () => {
  await inWorld(
    [reasoning("secret thought", text("one")), text("two")],
    async ({ ask, session, llm }) => {
      await ask("first", { model: "anthropic/fake-model" })
      assert.equal((await Session.get(session.id)).model, "anthropic/fake-model")
      process.env.OPENAI_BASE_URL = `${llm.url}/v1`
      await ask("second", { model: "openai/fake-model" })
      assert.doesNotMatch(llm.requests[1]!.raw, /secret thought|c2lnbmVk/)
      delete process.env.OPENAI_BASE_URL
    },
    { wire: "messages" },
  )
})
