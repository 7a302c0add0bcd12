// The quick check before the schema: it accepts a value only if the schema would return it unchanged.
import assert from "node:assert/strict"
import { test } from "node:test"
import { z } from "zod"
import { adopt, Invalid, parse } from "#knowledge/message/codec.ts"
import { createFit } from "#knowledge/message/create-fit.ts"
import * as Message from "#knowledge/message/message.ts"
import { examples } from "../../../script/messages.ts"
import { repeat } from "../../fixture/soak.ts"
import { createRandom, mutate, randomMessage } from "./fixture.ts"

const types = Object.keys(examples) as Message.Type[]
const fits = createFit(Message.Info)
const copy = (value: unknown) => JSON.parse(JSON.stringify(value))

for (const type of types)
  test(`createFit() accepts every stored message: ${type}`, () => {
    assert.ok(fits(copy(Message.Info.parse(examples[type]))))
    for (let seed = 1; seed <= repeat(300, 20_000); seed++) {
      const stored = copy(Message.Info.parse(randomMessage(type, createRandom(seed))))
      assert.ok(fits(stored), `seed ${seed}`)
      assert.equal(JSON.stringify(Message.Info.parse(stored)), JSON.stringify(stored), `seed ${seed}`)
    }
  })

for (const type of types)
  test(`createFit() refuses every mutated message that the schema would change or refuse: ${type}`, () => {
    let yes = 0
    let no = 0
    for (let seed = 1; seed <= repeat(2_000, 50_000); seed++) {
      const random = createRandom(seed)
      const value = copy(Message.Info.parse(randomMessage(type, random)))
      for (let n = Math.ceil(random() * 3); n > 0; n--) mutate(value, random)
      const before = JSON.stringify(value)
      const checked = Message.Info.safeParse(copy(value))
      const isSame = checked.success && JSON.stringify(checked.data) === before
      if (fits(value)) {
        assert.ok(isSame, `seed ${seed}: ${before}`)
        yes++
      } else no++
      assert.equal(JSON.stringify(value), before, `seed ${seed}`)
    }
    assert.ok(yes > 20 && no > 20, `${yes} fit, ${no} do not`)
  })

test("adopt() returns or throws the same as parse() for valid, mutated and newer messages", () => {
  const places = [
    { id: "msg_1", sessionId: "sess_1" },
    { id: "", sessionId: "" },
  ]
  for (let seed = 1; seed <= repeat(3_000, 50_000); seed++) {
    const random = createRandom(seed)
    const value = copy(randomMessage(types[seed % types.length]!, random))
    if (random() < 0.7) mutate(value, random)
    if (random() < 0.2) value.schema = [2, "1", 1.5][Math.floor(random() * 3)]
    const own = { id: String(value.id), sessionId: String(value.sessionId) }
    const place = [own, ...places][Math.floor(random() * 3)]!
    assert.deepEqual(
      outcome(() => adopt(copy(value), place)),
      outcome(() => parse(copy(value), place)),
      `seed ${seed}: ${JSON.stringify(value)}`,
    )
  }
})

test("adopt() returns a valid message of a long history without a copy", () => {
  const value = copy(Message.Info.parse(examples.tool_result))
  const { id, sessionId } = value
  for (let i = 0; i < 100; i++) adopt(value, { id, sessionId })
  assert.equal(adopt(value, { id, sessionId }), value)
  assert.notEqual(adopt(value, { id: "msg_other", sessionId }), value)
  assert.equal(value.id, id)
})

const unsure: Record<string, [schema: z.ZodType, value: unknown]> = {
  "a rule beyond the type": [z.string().min(1), "a"],
  "a format": [z.email(), "a@b.example"],
  "a whole number": [z.int(), 1],
  "a conversion": [z.coerce.string(), "a"],
  "a transformation": [z.string().transform((text) => `${text}!`), "a"],
  "a change of text": [z.string().trim(), "a"],
  "a fallback": [z.string().catch("b"), "a"],
  "a refinement of an object": [z.object({ a: z.string() }).refine(() => false), { a: "a" }],
  "a plain union": [z.union([z.string(), z.number()]), "a"],
  "a custom check that fails": [z.custom(() => false), "a"],
  "a kind that it does not know": [z.record(z.string(), z.string()), { a: "b" }],
  "another order of fields": [z.object({ a: z.string(), b: z.string() }), { b: "b", a: "a" }],
  "a field too many": [z.object({ a: z.string() }), { a: "a", b: "b" }],
  "a default to fill in": [z.object({ a: z.string().default("") }), {}],
  "a default to fill in at the end": [z.object({ a: z.string(), b: z.string().default("") }), { a: "a" }],
  "a number that JSON makes infinite": [z.number(), JSON.parse("1e999")],
}
for (const [what, [schema, value]] of Object.entries(unsure))
  test(`createFit() leaves to the schema: ${what}`, () => assert.equal(createFit(schema)(value), false))

/** A call of an old message without an id gets a new one at each reading. */
const newCallId = /"call_[0-9a-z]{26}"/g

function outcome(fn: () => Message.Info): unknown {
  try {
    return JSON.stringify(fn()).replaceAll(newCallId, '"call_new"')
  } catch (error) {
    assert.ok(error instanceof Invalid)
    return error.message
  }
}
