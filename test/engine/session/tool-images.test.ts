// Images that tools return: sent after the results of their turn, over all four wire forms, and reported if they cannot
// be used.
import assert from "node:assert/strict"
import { test } from "node:test"
import { z } from "zod"
import * as Tool from "#ability/tool/tool.ts"
import type * as Message from "#knowledge/message/message.ts"
import { call, calls, text, type Wire } from "../../fixture/fake-llm.ts"
import { image } from "../../fixture/images.ts"
import { inWorld } from "./harness.ts"

const note = image("note.png").toString("base64")
const providers = { chat: "openai", messages: "anthropic", gemini: "google" }

function seeing(wire: keyof typeof providers) {
  const models = { "fake-model": { api: wire, input: ["text", "image"] } }
  return { wire: wire as Wire, config: { provider: { [providers[wire]]: { models } } } }
}

function defineCamera(data: string): void {
  Tool.define("camera", () => ({
    description: "Takes a picture",
    parameters: z.object({}),
    readOnly: true,
    execute: async () => ({ text: "[image 1]", images: [{ data, mimeType: "image/png" }] }),
  }))
}

for (const wire of ["chat", "messages", "gemini"] as const)
  test(`an image of a tool is sent after all results of its turn, over ${wire}`, async () => {
    await inWorld(
      [calls([call("camera"), call("ls")]), text("A note about tea.")],
      async ({ ask, messages, llm }) => {
        defineCamera(note)
        await ask("look")
        const all = await messages()
        assert.deepEqual(
          all.map(({ type }) => type),
          ["text", "tool_request", "tool_result", "tool_result", "image", "text"],
        )
        const { data } = all[4] as Message.Of<"image">
        assert.deepEqual([data.state, data.visionAnalysis], ["done", "A note about tea."])
        const { calls: asked } = (all[1] as Message.Of<"tool_request">).data
        assert.equal(data.metadata?.callId, asked[0]!.id, "the call that gave it")
        assert.ok(llm.requests[1]!.raw.includes(note))
      },
      seeing(wire),
    )
  })

test("an invalid image of a tool does not stop the turn", async () => {
  await inWorld(
    [call("camera"), text("I see nothing.")],
    async ({ ask, messages, llm }) => {
      defineCamera("bm90IGFuIGltYWdl")
      await ask("look")
      const { data } = (await messages()).find(({ type }) => type === "image") as Message.Of<"image">
      assert.equal(data.state, "failed")
      assert.match(llm.requests[1]!.raw, /it is text, not an image/)
    },
    seeing("chat"),
  )
})
