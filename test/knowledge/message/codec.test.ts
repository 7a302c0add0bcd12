// Messages to JSON and back: every type, and unknown, broken and missing fields.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Log from "#kernel/process/log.ts"
import * as Message from "#knowledge/message/message.ts"
import { examples } from "../../../script/messages.ts"
import { repeat } from "../../fixture/soak.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { createRandom, envelope, randomMessage } from "./fixture.ts"

const types = Object.keys(examples) as Message.Type[]

/** What is logged while `fn` runs. */
async function logged(fn: () => unknown): Promise<string[]> {
  await using tmp = await tmpdir()
  const file = join(tmp.path, "log")
  Log.setFile(file)
  try {
    Log.warn("begin")
    await fn()
    return readFileSync(file, "utf8").split("\n").slice(1, -1)
  } finally {
    Log.setFile(undefined)
  }
}

test("Message.Info is one closed set of eight types", () => {
  const all = Message.Info.options.map(({ shape }) => shape.type.value)
  assert.deepEqual([...all].sort(), [...types].sort())
  assert.equal(new Set(all).size, 8)
})

test("Message.Info makes the compiler refuse a variant that is not handled", () => {
  const handle = (message: Message.Info) => {
    if (message.type !== "unknown" && message.type !== "image") return "handled"
    // @ts-expect-error The image is forgotten; `npm run types` fails when the compiler lets that pass.
    const forgotten: Message.Of<"unknown"> = message
    return forgotten.type
  }
  assert.equal(handle(examples.text), "handled")
  assert.equal(handle(examples.image), "image")
})

for (const type of types)
  test(`Message.parse() gives back what Message.serialize() wrote: ${type}`, () => {
    for (let seed = 1; seed <= repeat(300, 20_000); seed++) {
      const before = randomMessage(type, createRandom(seed))
      const whole = JSON.stringify(before)
      assert.deepEqual(Message.parse(whole), before, `seed ${seed}`)
      assert.deepEqual(Message.parse(JSON.parse(whole)), before, `seed ${seed}`)
      const text = Message.serialize(before)
      assert.equal(Message.serialize(Message.parse(text)), text, `seed ${seed}`)
    }
  })

test("Message.serialize() writes a type tag with the data nested below it", () => {
  for (const type of types.filter((type) => type !== "unknown")) {
    const value = JSON.parse(Message.serialize(examples[type]))
    assert.equal(value.type, type)
    assert.deepEqual(value.data, examples[type].data)
    assert.equal(value.schema, 1)
  }
})

const foreign = {
  "an unknown type": '{"type":"poll","schema":1,"id":"msg_9","sessionId":"s","options":["a","b"]}',
  "odd blanks, numbers and doubled names":
    '{ "type" : "poll2",\n\t"n": 1.0, "n": 12345678901234567890, "e":1E2 }\n',
  "a newer version of a known type": '{"schema":2,"type":"text","id":"msg_9","data":{"role":"robot"}}',
  "a newer version without a type": '{"schema":9,"kind":"text"}',
  "a version that is no number": '{"schema":"1.5","type":"text"}',
  "a half version": '{"schema":1.5,"type":"text","data":{"role":"user"}}',
  "a type without a version": '{"type":"Poll","question":"?"}',
  "an older version without a migration": '{"schema":0,"type":"text","data":{"role":"user"}}',
  "a foreign type that is called unknown": '{"schema":1,"type":"unknown","id":"m","data":{"x":1}}',
  "a name of Object's own": '{"schema":0,"type":"constructor"}',
  "a name that sets prototypes": '{"schema":1,"type":"__proto__","__proto__":{"type":"text"}}',
}
for (const [what, text] of Object.entries(foreign))
  test(`Message.parse() keeps ${what} byte for byte`, () => {
    const kept = Message.parse(text)
    assert.equal(kept.type, "unknown")
    assert.equal(Message.serialize(kept), text)
    assert.equal(Message.serialize(Message.parse(Message.serialize(kept))), text)
    assert.deepEqual(Message.parse(JSON.stringify(kept)), kept)
    assert.deepEqual(Message.validate({ ...kept, sessionId: "s" }), { ok: true })
  })

test("Message.parse() reads the known fields of an unknown message's envelope", () => {
  const text =
    '{"schema":3,"type":"x","id":"msg_7","sessionId":"s7","parentId":"msg_6","branch":"b","time":5}'
  const { data, ...rest } = Message.parse(text)
  const known = { id: "msg_7", sessionId: "s7", parentId: "msg_6", branch: "b", time: 5 }
  assert.deepEqual(rest, { ...known, schema: 1, type: "unknown" })
  assert.deepEqual(data, { original: text })
})

test("Message.parse() warns once per unknown type", async () => {
  const lines = await logged(() => {
    for (let i = 0; i < 5; i++) for (const type of ["once_a", "once_b"]) Message.parse({ type, schema: 1, i })
  })
  assert.equal(lines.length, 2)
  assert.match(lines[0]!, /WARN .*unknown type.*type=once_a/)
  assert.match(lines[1]!, /type=once_b/)
})

const broken: Record<string, [json: unknown, path: string]> = {
  "text that is not JSON": ['{"type":', ""],
  "a list": ["[]", ""],
  "a number": [7, ""],
  nothing: [undefined, ""],
  "no type": [{ schema: 1 }, "type"],
  "a type that is no text": [{ schema: 1, type: 5 }, "type"],
  "no data": [{ ...envelope, type: "text" }, "data"],
  "an unknown role": [{ ...envelope, type: "text", data: { role: "robot", parts: [] } }, "data.role"],
  "an unknown part": [
    {
      ...envelope,
      type: "text",
      data: { role: "user", parts: [{ type: "text", text: "a" }, { type: "x" }] },
    },
    "data.parts.1.type",
  ],
  "an unknown approval": [
    { ...envelope, type: "tool_request", data: { calls: [{ id: "a", name: "b", approval: "maybe" }] } },
    "data.calls.0.approval",
  ],
  "an id that is no text": [
    { ...envelope, id: 5, type: "mcp_resource", data: { serverName: "a", resourceUri: "b", content: "" } },
    "id",
  ],
}
for (const [what, [json, path]] of Object.entries(broken))
  test(`Message.parse() refuses ${what} and names the place`, () => {
    assert.throws(
      () => Message.parse(json),
      (error) => {
        assert.ok(error instanceof Message.Invalid)
        assert.equal(error.name, "Message.Invalid")
        assert.deepEqual(
          (error.data.problems as Message.Problem[]).map((problem) => problem.path),
          [path],
        )
        assert.ok(error.message.includes(path))
        return true
      },
    )
  })

test("Message.parse() refuses an unknown value that cannot be JSON", () => {
  const cycle: Record<string, unknown> = { type: "poll" }
  cycle.self = cycle
  assert.throws(() => Message.parse(cycle), Message.Invalid)
})

test("Message.parse() fills what is missing with defaults and ignores what it does not know", () => {
  const short = { id: "m", sessionId: "s", schema: 1, type: "tool_request", old: true }
  const call = { id: "c", name: "read", legacy: 1 }
  assert.deepEqual(Message.parse({ ...short, data: { calls: [call], count: 1 } }), {
    id: "m",
    sessionId: "s",
    parentId: null,
    branch: "main",
    time: 0,
    schema: 1,
    type: "tool_request",
    data: { calls: [{ id: "c", name: "read", arguments: {}, approval: "pending" }] },
  })
})

test("Message.parse() gives defaults of its own to each message", () => {
  const json = { id: "m", sessionId: "s", schema: 1, type: "text", data: { role: "user" } }
  const [first, second] = [Message.parse(json), Message.parse(json)] as [
    Message.Of<"text">,
    Message.Of<"text">,
  ]
  first.data.parts.push({ type: "text", text: "a" })
  assert.deepEqual(second.data.parts, [])
})

test("Message.parse() takes the ids from where a message is stored, not from the message", () => {
  const place = { id: "msg_key", sessionId: "sess_key" }
  for (const json of [JSON.stringify(examples.text), '{"type":"Text","content":"a"}', '{"type":"poll"}']) {
    const { id, sessionId } = Message.parse(json, place)
    assert.deepEqual({ id, sessionId }, place)
  }
})

test("Message.make() gives a new message that reads back as itself", () => {
  const data = { control: "mode_change", parameters: { from: "plan", to: "act" } }
  const made = Message.make({ sessionId: "s", parentId: null, type: "system_control", data })
  const later = Message.make({ sessionId: "s", parentId: made.id, branch: "b", type: "system_control", data })
  assert.match(made.id, /^msg_/)
  assert.ok(later.id > made.id)
  assert.equal(later.branch, "b")
  assert.equal(made.branch, "main")
  assert.deepEqual(Message.parse(Message.serialize(made)), made)
})
