// Malformed answers of a model: handled, stored, and never run.
import assert from "node:assert/strict"
import { test } from "node:test"
import type * as Message from "#knowledge/message/message.ts"
import { badCall, call, calls, empty, noFinish, type Reply, text, wires } from "../../fixture/fake-llm.ts"
import { defineTool, inWorld, resultsOf, shapeOf, textOf } from "./harness.ts"

for (const wire of wires) {
  test(`Session.prompt() answers unknown tools, wrong types and invalid JSON with errors that name them, over ${wire}`, async () => {
    const bad = calls([
      call("grp", {}),
      call("touch", { value: 7 }),
      badCall("touch", '{"value": "a'),
      call("touch", { valu: "a" }),
    ])
    await inWorld(
      [bad, text("I see.")],
      async ({ ask, messages, llm }) => {
        let runs = 0
        defineTool("touch", async () => String(++runs))
        assert.equal(textOf(await ask("go")), "I see.")
        const results = resultsOf(await messages())
        assert.deepEqual(
          results.map(({ status }) => status),
          ["error", "error", "error", "error"],
        )
        const patterns = [/"grp" does not exist.*read/, /value: expected string/, /JSON/, /"valu" is not/]
        for (const [i, pattern] of patterns.entries()) assert.match(String(results[i]!.output), pattern)
        assert.equal(llm.requests[1]!.messages.flatMap(({ results }) => results).length, 4)
        assert.equal(runs, 0)
        const [request] = (await messages()).filter(({ type }) => type === "tool_request")
        assert.deepEqual(
          (request as Message.Of<"tool_request">).data.calls.map(({ approval }) => approval),
          ["denied", "denied", "denied", "denied"],
        )
      },
      { wire },
    )
  })

  test(`Session.prompt() retries after an incomplete answer, and runs none of its calls, over ${wire}`, async () => {
    const script = [noFinish(call("touch")), noFinish(text("half")), text("whole")]
    await inWorld(
      script,
      async ({ ask, messages }) => {
        let runs = 0
        defineTool("touch", async () => String(++runs))
        assert.equal(textOf(await ask("go")), "whole")
        assert.deepEqual(shapeOf(await messages()), ["user", "assistant"])
        assert.equal(runs, 0)
      },
      { wire },
    )
  })
}

for (const wire of ["chat", "responses", "messages", "gemini"] as const)
  test(`Session.prompt() answers a call without a name with the known names, over ${wire}`, async () => {
    await inWorld(
      [call("", {}), text("I see.")],
      async ({ ask, messages }) => {
        assert.equal(textOf(await ask("go")), "I see.")
        assert.match(String(resultsOf(await messages())[0]!.output), /does not exist. Available: .*read/)
      },
      { wire },
    )
  })

test("Session.prompt() distinguishes calls with the same id, in one answer and in several", async () => {
  const one = (value: string) => call("look", { value }, { id: "call_0" })
  const script = [calls([one("a"), one("b")]), one("c"), text("Done.")]
  for (const wire of ["responses", "messages"] as const)
    await inWorld(
      script,
      async ({ ask, messages, llm }) => {
        defineTool("look", async ({ value }) => `saw ${value}`, { readOnly: true })
        await ask("go")
        const results = resultsOf(await messages())
        assert.deepEqual(
          results.map(({ requestId, output }) => [requestId, output]),
          [
            ["call_0", "saw a"],
            ["call_0_2", "saw b"],
            ["call_0", "saw c"],
          ],
        )
        const sent = llm.requests[2]!.messages.flatMap(({ results }) => results)
        assert.equal(new Set(sent.map(({ id }) => id)).size, 3)
      },
      { wire },
    )
})

test('Session.prompt() stores an answer that reached the output limit with finish "length"', async () => {
  await inWorld(
    () => text("far ", { finish: "length" }),
    async ({ ask, llm, status }) => {
      const answer = await ask("go")
      assert.equal(answer.type === "text" && answer.data.finish, "length")
      assert.deepEqual([textOf(answer), llm.requests.length, await status()], ["far far far far ", 4, "idle"])
    },
  )
})

for (const wire of wires)
  test(`Session.prompt() runs no call whose arguments the length limit cut off, over ${wire}`, async () => {
    const whole = call("touch", { value: "whole" })
    const cutOff = (raw: string): Reply => calls([whole, badCall("touch", raw)], { finish: "length" })
    await inWorld(
      [cutOff(""), cutOff("{}"), cutOff('{"value": "ab'), text("ok")],
      async ({ ask, messages }) => {
        const seen: unknown[] = []
        defineTool("touch", async ({ value }) => String(seen.push(value)))
        await ask("go")
        assert.deepEqual(seen, ["whole", "whole", "whole"])
        assert.deepEqual(
          resultsOf(await messages()).map(({ status }) => status),
          ["success", "error", "success", "error", "success", "error"],
        )
      },
      { wire },
    )
  })

test("Session.prompt() fails after three empty answers", async () => {
  await inWorld([empty(), text("   "), text("here")], async ({ ask }) => {
    assert.equal(textOf(await ask("go")), "here")
  })
  await inWorld(
    () => empty(),
    async ({ ask, llm, status }) => {
      await assert.rejects(ask("go"), { name: "Session.EmptyAnswer" })
      assert.equal(llm.requests.length, 3)
      assert.equal(await status(), "error")
    },
  )
  await inWorld(
    () => empty({ finish: "content-filter" }),
    async ({ ask, llm }) => {
      await assert.rejects(ask("go"), { name: "Session.Filtered", message: /content filter/ })
      assert.equal(llm.requests.length, 2)
    },
  )
})
