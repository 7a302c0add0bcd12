// Forms of MCP servers: which can be shown, which replies fit them, and which person a server may ask.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createElicit } from "#ability/elicitation/create-elicit.ts"
import * as Elicitation from "#ability/elicitation/elicitation.ts"
import { fieldsOf } from "#ability/elicitation/elicitation-form.ts"
import type { WhileAsking } from "#ability/tool/tool.ts"
import { problemOf, readTyped } from "#client/check-form.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const schemaOf = (properties: object, required: string[] = []) => ({ type: "object", properties, required })
const form = { mode: "form" as const, message: "Well?", schema: schemaOf({ a: { type: "string" } }) }

test("fieldsOf() refuses forms that cannot be shown", () => {
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`f${i}`, { type: "string" }]))
  const refused = [
    { a: { type: "object" } },
    { a: { type: "array", items: { type: "string" } } },
    { a: { enum: [1, 2] } },
    { "a\u001b[2J": { type: "string" } },
    { a: { enum: ["x\u202ey"] } },
    { a: null },
    many,
  ]
  for (const properties of refused) assert.equal(fieldsOf(schemaOf(properties)), undefined)
  assert.deepEqual(fieldsOf({}), [])
  const [field] = fieldsOf(
    schemaOf({ a: { type: "string", title: "A\u0007", default: 7, format: "toString" } }),
  )!
  assert.deepEqual(field, { name: "a", kind: "text", required: false, title: "A\\u{7}" })
})

test("problemOf() describes invalid content, and returns undefined for valid content", () => {
  const fields = fieldsOf(
    schemaOf(
      {
        day: { type: "string", format: "date" },
        count: { type: "integer", minimum: 1 },
        sure: { type: "boolean" },
        some: { type: "array", items: { enum: ["x", "y"] }, maxItems: 1 },
      },
      ["count"],
    ),
  )!
  assert.equal(problemOf(fields, { count: 1, day: "2026-02-28", sure: false, some: ["x"] }), undefined)
  const wrong: [Elicitation.Reply["content"] & object, RegExp][] = [
    [{}, /count: it is required/],
    [{ count: 0 }, /count: at least 1/],
    [{ count: 1.5 }, /whole number/],
    [{ count: 1, day: "soon" }, /day: .*date/],
    [{ count: 1, sure: "yes" }, /sure: yes or no/],
    [{ count: 1, some: ["z"] }, /some: choose among x, y/],
    [{ count: 1, some: ["x", "y"] }, /at most 1 choices/],
    [{ count: 1, constructor: "x" }, /no field "constructor"/],
  ]
  for (const [content, said] of wrong) assert.match(problemOf(fields, content) ?? "", said)
  const typed = ["2026-02-28", "12", "No", "x, y"].map((text, i) => readTyped(fields[i]!, text))
  assert.deepEqual(typed, ["2026-02-28", 12, false, ["x", "y"]])
})

const whileAsking: WhileAsking = (work) => work({ onlyListeners: false })

test("a question that nobody answers is cancelled after ten minutes, and no other is asked in the same call", async (t) => {
  await using tmp = await tmpdir()
  t.mock.timers.enable({ apis: ["setTimeout"] })
  await Instance.provide({
    directory: tmp.path,
    async fn() {
      const elicit = createElicit("tiny")
      await elicit.during({ whileAsking }, async () => {
        const asked = new Promise((resolve) => Bus.subscribe(Elicitation.Requested, resolve))
        const answer = elicit.onElicit(form)
        await asked
        t.mock.timers.tick(599_999)
        assert.equal(Elicitation.pending().length, 1)
        t.mock.timers.tick(1)
        assert.deepEqual(await answer, { action: "cancel" })
        assert.deepEqual(await elicit.onElicit(form), { action: "decline" })
      })
    },
  })
  t.mock.timers.reset()
  await Instance.disposeAll()
})

test("a server may ask only during a call with a person who can be asked", async () => {
  await using tmp = await tmpdir()
  await Instance.provide({
    directory: tmp.path,
    async fn() {
      const elicit = createElicit("tiny")
      assert.deepEqual(await elicit.onElicit(form), { action: "decline" }, "outside of a call")
      await elicit.during({}, async () =>
        assert.deepEqual(await elicit.onElicit(form), { action: "decline" }, "nobody is there"),
      )
      const replied: unknown[] = []
      Bus.subscribe(Elicitation.Replied, ({ action, by }) => replied.push([action, by]))
      const left = await elicit.during({ whileAsking, sessionId: "s" }, async () => {
        const answer = elicit.onElicit(form)
        const asked = new Promise<Elicitation.Request>((resolve) =>
          Bus.subscribe(Elicitation.Requested, resolve),
        )
        const { id, server, sessionId } = await asked
        assert.deepEqual([server, sessionId], ["tiny", "s"])
        assert.throws(
          () => Elicitation.reply(id, { action: "accept", content: { b: "x" } }),
          Elicitation.InvalidReply,
        )
        Elicitation.reply(id, { action: "accept", content: { a: "x" } })
        assert.deepEqual(await answer, { action: "accept", content: { a: "x" } })
        return {
          open: elicit.onElicit(form),
          asked: await new Promise((resolve) => Bus.subscribe(Elicitation.Requested, resolve)),
        }
      })
      assert.deepEqual(await left.open, { action: "cancel" }, "the call is over")
      assert.deepEqual(Elicitation.pending(), [])
      assert.deepEqual(replied, [
        ["accept", "person"],
        ["cancel", "end"],
      ])
    },
  })
  await Instance.disposeAll()
})

test("a field is hidden while it is typed only if vitamin itself asks, not if a server does", async () => {
  await using tmp = await tmpdir()
  await Instance.provide({
    directory: tmp.path,
    async fn() {
      const schema = schemaOf({
        a: { type: "string", format: "password" },
        b: { type: "string", format: "email" },
      })
      const question = { ...form, schema }
      const formats = async (ask: () => Promise<unknown>) => {
        const asked = new Promise<Elicitation.Request>((resolve) =>
          Bus.subscribe(Elicitation.Requested, resolve),
        )
        const answer = ask()
        const { id, fields } = await asked
        Elicitation.reply(id, { action: "decline" })
        await answer
        return fields!.map(({ format }) => format)
      }
      const elicit = createElicit("tiny")
      const { signal } = new AbortController()
      assert.deepEqual(await elicit.during({ whileAsking }, () => formats(() => elicit.onElicit(question))), [
        undefined,
        "email",
      ])
      assert.deepEqual(await formats(() => Elicitation.ask({ question, signal })), ["password", "email"])
    },
  })
  await Instance.disposeAll()
})
