// Sessions that exceed a small window, with a model that counts tokens and refuses requests that are too long.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import type * as Message from "#knowledge/message/message.ts"
import { call, calls, type Reply, type Request, status, text, wires } from "../../fixture/fake-llm.ts"
import { checkWire } from "../../fixture/wire-rules.ts"
import { defineTool, textOf } from "./harness.ts"
import { inPatientWorld } from "./patient.ts"

const context = 24_000
const providers = { chat: "openai", responses: "openai", messages: "anthropic", gemini: "google" } as const

/** The configuration of a model with a small window. */
function small(wire: keyof typeof providers = "chat", limits: object = { context, output: 2_000 }) {
  const api = wire === "responses" ? { api: "responses" } : {}
  return { provider: { [providers[wire]]: { models: { "fake-model": { ...limits, ...api } } } } }
}

/** About the number of tokens in JSON with plain words. */
const tokensOf = ({ raw }: Request) => Math.ceil(raw.length / 4)
const isSummary = ({ system }: Request) => /^You summarise/.test(system)

/** A model that counts tokens and refuses requests that exceed its window. */
function counting(reply: (request: Request) => Reply, limit = context) {
  return (request: Request): Reply => {
    const input = tokensOf(request)
    if (input > limit)
      return status(400, { message: `prompt is too long: ${input} tokens > ${limit} maximum` })
    return { usage: { input, output: 50 }, ...reply(request) }
  }
}

function compactionsOf(messages: Message.Info[]) {
  return messages.flatMap((message) =>
    message.type === "system_control" && message.data.control === "compaction"
      ? [{ id: message.id, ...(message.data.parameters as Record<string, unknown>) }]
      : [],
  ) as { id: string; by: string; summary: string; pinned: string; keptFrom: string }[]
}

const words = (n: number, length = 300) => `turn ${n}: ${"some plain words about it ".repeat(length / 25)}`

for (const wire of wires)
  test(`a session continues over many compactions, and no text of the person is lost, over ${wire}`, async () => {
    let n = 0
    const script = counting((request) => {
      if (isSummary(request)) return text("Goal: the summary of the model.")
      return ++n % 3 ? call("look", { value: `${n}` }) : text(words(n))
    })
    await inPatientWorld(
      script,
      async (world) => {
        const { ask, messages, llm, events } = world
        process.env.OPENAI_BASE_URL = `${llm.url}/v1`
        defineTool("look", async ({ value }) => words(Number(value), 6_000), { readOnly: true })
        for (let i = 0; i < 25; i++) await ask(`Rule number ${i}: never touch file${i}.ts`)
        const all = await messages()
        const found = compactionsOf(all)
        assert.ok(found.length >= 3, `${found.length} compactions`)
        assert.ok(found.some(({ by }) => by === "model"))
        for (const request of llm.requests) {
          checkWire(request)
          assert.ok(tokensOf(request) <= context)
        }
        const last = llm.requests.at(-1)!.raw
        for (let i = 0; i < 25; i++)
          assert.match(last, new RegExp(`Rule number ${i}: never touch file${i}.ts`))
        assert.match(last, /the summary of the model/)
        // Everything is still there.
        for (let i = 0; i < 25; i++)
          assert.ok(
            all.some((message) => message.type === "text" && textOf(message).startsWith(`Rule number ${i}:`)),
          )
        const told = events.filter(({ type }) => type === "session.compacted").map(({ payload }) => payload)
        assert.equal(told.length, found.length)
        for (const { tokensBefore, tokensAfter } of told as { tokensBefore: number; tokensAfter: number }[])
          assert.ok(tokensAfter < tokensBefore)
      },
      { wire, config: small(wire), variables: { OPENAI_BASE_URL: "" } },
    )
  })

test("a request that the provider refuses as too long is shortened and sent again", async () => {
  let isLong = true
  const script = (request: Request): Reply => {
    if (isSummary(request)) return text("The work so far.")
    if (!isLong || request.messages.length < 10)
      return text(words(1, 2_000), { usage: { input: 300, output: 10 } })
    isLong = false
    return status(400, { message: "This model's maximum context length is 4096 tokens." })
  }
  await inPatientWorld(script, async ({ ask, llm, messages }) => {
    for (let i = 0; i < 8; i++) await ask(`wish ${i}`)
    const [found] = compactionsOf(await messages())
    assert.equal(found?.by, "model")
    assert.equal(isLong, false)
    const refused = llm.requests.findIndex((_, i) => isSummary(llm.requests[i + 1] ?? llm.requests[0]!))
    assert.ok(llm.requests[refused + 2]!.raw.length < llm.requests[refused]!.raw.length)
    for (const request of llm.requests) checkWire(request)
  })
})

test("a request that is still too long after compaction ends the prompt with Session.ContextFull, and the next prompt works", async () => {
  let limit = 1
  const script = (request: Request): Reply =>
    isSummary(request)
      ? text("So far.")
      : request.messages.length > limit
        ? status(400, { message: "prompt is too long: 9 tokens > 8 maximum" })
        : text("fine")
  await inPatientWorld(script, async ({ ask, status }) => {
    await ask("one")
    await assert.rejects(ask("two"), {
      name: "Session.ContextFull",
      message: /does not fit the model's window/,
    })
    assert.equal(await status(), "error")
    limit = 100
    assert.equal(textOf(await ask("three")), "fine")
  })
})

test("a prompt that is larger than the window is refused before it is sent, the error names it, and the next prompt works", async () => {
  const script = counting((request) => text(isSummary(request) ? "A long paste." : "fine"))
  await inPatientWorld(
    script,
    async ({ ask, llm }) => {
      await assert.rejects(ask("pasted words ".repeat(20_000)), {
        name: "Session.ContextFull",
        message: /The largest part is the text of the prompt \(about \d+ tokens\)/,
      })
      assert.equal(llm.requests.length, 0)
      assert.equal(textOf(await ask("a short wish")), "fine")
      assert.match(llm.requests.at(-1)!.raw, /A long paste\.[\s\S]*characters left out/)
    },
    { config: small() },
  )
})

test("if the system prompt and the tools fill the window, the error names them", async () => {
  await inPatientWorld(
    [text("never")],
    async ({ ask, llm }) => {
      await assert.rejects(ask("hello"), {
        name: "Session.ContextFull",
        message: /The largest part is the system prompt with the tools/,
      })
      assert.equal(llm.requests.length, 0)
    },
    { config: small("chat", { context: 2_000, output: 500 }) },
  )
})

test("a huge result is cut before any turn is left out, and the cut names a file with the whole result", async () => {
  const long = Array.from({ length: 1_000 }, (_, i) => `line ${i} of a long result`).join("\n")
  let n = 0
  const script = counting(() => (++n <= 4 ? call("look", { value: `${n}` }) : text("done")))
  await inPatientWorld(
    script,
    async ({ ask, llm, messages }) => {
      defineTool("look", async ({ value }) => `${value}\n${long}`, { readOnly: true })
      await ask("go")
      const all = await messages()
      const found = compactionsOf(all)
      assert.equal(found[0]?.by, "cut")
      assert.equal(found[0]?.summary, "")
      assert.ok(!llm.requests.some(isSummary))
      const [result] = llm.requests.at(-1)!.messages.flatMap(({ results }) => results)
      const [, file] =
        /characters left out here to save tokens; all of it in (\S+), which read and grep can open/.exec(
          result!.text,
        )!
      assert.equal(readFileSync(file!, "utf8"), `1\n${long}`)
      const [stored] = all.filter((message) => message.type === "tool_result")
      assert.equal(stored?.type === "tool_result" && stored.data.output, `1\n${long}`)
    },
    { config: small() },
  )
})

test("an exchange that is larger than the window continues with the part that fits, calls with their results", async () => {
  let n = 0
  const script = counting((request) => {
    if (isSummary(request)) return text("Looked at many things.")
    const looks = Array.from({ length: 4 }, () => call("look", { value: `${++n}` }))
    return n <= 80 ? calls([text(`step ${n} ${words(n, 1_500)}`), ...looks]) : text("done")
  })
  await inPatientWorld(
    script,
    async ({ ask, llm, messages }) => {
      defineTool("look", async ({ value }) => words(Number(value), 12_000), { readOnly: true })
      assert.equal(textOf(await ask("the one wish: port 8080")), "done")
      assert.ok(compactionsOf(await messages()).length > 1)
      for (const request of llm.requests) {
        checkWire(request)
        if (!isSummary(request)) assert.match(request.raw, /the one wish: port 8080/)
      }
    },
    { config: small() },
  )
})

test("if the model refuses to write a summary, or leaves it empty, it is extracted from the messages", async () => {
  for (const answer of [status(400, { message: "no" }), text(" "), status(500)]) {
    let n = 0
    const script = counting((request) => {
      if (isSummary(request)) return answer
      return ++n % 2 ? call("bash", { command: `echo ${n}` }) : text(words(n, 9_000))
    })
    await inPatientWorld(
      script,
      async ({ ask, messages, llm }) => {
        for (let i = 0; i < 12; i++) await ask(`wish ${i} ${words(i, 2_000)}`, { asks: "once" })
        const found = compactionsOf(await messages()).filter(({ by }) => by !== "cut")
        assert.ok(found.length > 0)
        for (const { by, summary } of found) {
          assert.equal(by, "extract")
          assert.match(summary, /It began with: wish 0/)
          assert.match(summary, /echo \d+: ok/)
        }
        for (const request of llm.requests) checkWire(request)
      },
      { config: small() },
    )
  }
})

test("the front of the window stays the same bytes until the next compaction", async () => {
  let n = 0
  const script = counting((request) => (isSummary(request) ? text("So far.") : text(words(++n, 9_000))))
  await inPatientWorld(
    script,
    async ({ ask, llm, messages }) => {
      const fronts: string[] = []
      for (let i = 0; i < 40; i++) {
        await ask(`wish ${i}`)
        const [first] = llm.requests.at(-1)!.body.messages
          ? (llm.requests.at(-1)!.body.messages as unknown[]).slice(1)
          : []
        fronts.push(JSON.stringify(first))
      }
      const found = compactionsOf(await messages())
      assert.ok(found.length > 1)
      assert.equal(new Set(fronts).size, found.length + 1)
    },
    { config: small() },
  )
})

test("summary and pins do not grow with the number of compactions", async () => {
  let n = 0
  const script = counting((request) =>
    isSummary(request)
      ? text(`Summary ${"of everything so far, and more ".repeat(500)}`)
      : text(words(++n, 9_000)),
  )
  await inPatientWorld(
    script,
    async ({ ask, messages, llm }) => {
      for (let i = 0; i < 60; i++) await ask(`wish ${i} ${"x y z ".repeat(80)}`)
      const found = compactionsOf(await messages())
      assert.ok(found.length > 3)
      for (const { summary, pinned } of found) assert.ok(summary.length < 12_000 && pinned.length < 20_000)
      assert.match(found.at(-1)!.pinned, /and \d+ others, which are not shown here/)
      assert.match(llm.requests.filter(isSummary).at(-1)!.raw, /<earlier_summary>/)
    },
    { config: small() },
  )
})
