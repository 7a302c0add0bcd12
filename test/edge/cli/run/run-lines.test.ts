// The lines of `vitamin run --format json`: every line of real runs fits the published schema, and the schema cannot lose
// anything without a new version.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { Ajv2020 } from "ajv/dist/2020.js"
import { linesVersion } from "#edge/cli/run/run-lines.ts"
import { version } from "#util/version.ts"
import { loadEvents } from "../../../../script/references/events.ts"
import {
  lostIn,
  renderRunOutput,
  runOutputSchema,
  type Schema,
} from "../../../../script/references/run-output.ts"
import { byAgent } from "../../../engine/orchestrator/harness.ts"
import { startVitamin, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, type Script, stall, status, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

type Line = { type: string; payload: Record<string, unknown> }

const file = new URL("../../../../docs/run-output.schema.json", import.meta.url)
const committed = readFileSync(file, "utf8")
await loadEvents()
/** Refuses fields that the schema does not name. */
const types = new Set(Object.keys(runOutputSchema().$defs!))
const validate = new Ajv2020({ strict: false, allErrors: true }).compile(runOutputSchema({ isStrict: true }))

/** The lines, each checked. */
function checked(out: string): Line[] {
  const lines = out.split("\n").map((line) => JSON.parse(line) as Line)
  for (const line of lines) {
    assert.ok(types.has(line.type), `${line.type} is not in the schema`)
    assert.ok(
      validate(line),
      JSON.stringify([line, validate.errors?.filter(({ schemaPath }) => !/const$/.test(schemaPath))]),
    )
  }
  assert.equal(lines[0]!.type, "run.started")
  assert.deepEqual(
    { ...lines[0]!.payload, sessionId: undefined },
    { schema: linesVersion, vitamin: version, sessionId: undefined },
  )
  assert.deepEqual(
    lines.flatMap(({ type }, at) => (type === "run.ended" ? [at] : [])),
    [lines.length - 1],
  )
  return lines
}

const runs: {
  name: string
  script: Script
  args?: string[]
  code: number
  types: string[]
  ended?: Record<string, unknown>
}[] = [
  {
    name: "an answer",
    script: [text("Hello.")],
    code: 0,
    types: ["session.updated", "message.created", "message.delta", "session.idle"],
    ended: { answer: "Hello." },
  },
  {
    name: "tool calls that change files",
    script: [
      call("read", { path: "README.md" }),
      call("write", { path: "a.txt", content: "a" }),
      text("Done."),
    ],
    args: ["--yes"],
    code: 0,
    types: ["tool.started", "snapshot.created"],
  },
  {
    name: "a call that a rule denies",
    script: [call("bash", { command: "ls" }), text("Not.")],
    args: ["--deny", "bash.execute:*"],
    code: 3,
    types: ["permission.denied"],
  },
  {
    name: "a question without a person",
    script: [call("write", { path: "a.txt", content: "a" }), text("Not.")],
    code: 3,
    types: ["permission.denied"],
  },
  {
    name: "an error of the provider",
    script: [status(401)],
    code: 1,
    types: ["session.error"],
    ended: { answer: undefined },
  },
  {
    name: "a retry",
    script: [status(503, { retryAfter: 0 }), text("Late.")],
    code: 0,
    types: ["session.retry"],
  },
  {
    name: "a task of another agent",
    script: byAgent({
      orchestrator: (_, turn) =>
        turn ? text("It says hello.") : call("delegate", { agent: "operator", task: "Read README.md" }),
      operator: (_, turn) => (turn ? text("hello") : call("read", { path: "README.md" })),
    }),
    args: ["--agent", "orchestrator"],
    code: 0,
    types: ["session.created"],
    ended: { answer: "It says hello." },
  },
  {
    name: "a plan",
    script: [call("todo", { todos: [{ text: "one", status: "pending" }] }), text("Planned.")],
    code: 0,
    types: ["todo.updated"],
  },
]

for (const { name, script, args = [], code, types, ended = {} } of runs)
  test(`vitamin run --format json prints lines that fit the schema: ${name}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm(script)
    const ran = await vitamin(tmp, ["run", "--format", "json", ...args, "go"], env(llm, "chat").variables)
    assert.equal(ran.code, code, ran.err)
    const lines = checked(ran.out)
    for (const type of types)
      assert.ok(
        lines.some((line) => line.type === type),
        `${type} in ${ran.out}`,
      )
    const last = lines.at(-1)!.payload
    assert.equal(last.exitCode, code)
    for (const [key, value] of Object.entries(ended)) assert.equal(last[key], value)
    if (code === 1) assert.match(JSON.stringify(last.error), /"name":"\w.*"message":"\w/)
  })

test("vitamin run --format json prints lines that fit the schema: an interruption", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([stall(text("This never ends.", { deltas: 3 }), 200)])
  await using child = startVitamin(tmp, ["run", "--format", "json", "go"], env(llm, "chat").variables)
  await child.line(/message\.created/)
  child.process.kill("SIGINT")
  assert.equal(await child.exit, 130, child.errors())
  const lines = checked(child.lines.join("\n"))
  assert.equal(lines.at(-1)!.payload.exitCode, 130)
  assert.equal((lines.at(-1)!.payload.error as { name: string }).name, "Session.Interrupted")
})

test("the schema of the lines allows what later versions add", () => {
  const open = new Ajv2020({ strict: false }).compile(JSON.parse(committed))
  const line = { type: "session.idle", time: 1, directory: "/a", payload: { sessionId: "s", more: 1 } }
  assert.ok(open(line))
  assert.ok(open({ ...line, type: "something.new", extra: true }))
  assert.equal(open({ ...line, payload: {} }), false)
  assert.equal(open({ ...line, time: "now" }), false)
})

test("the committed schema of the lines is the one of the code", () => {
  assert.equal(committed, renderRunOutput(committed), "To write it: node script/references.ts --write")
})

for (const [what, change, says] of [
  ["an event is gone", (now: Schema) => delete now.$defs!["session.idle"], /session\.idle is gone/],
  [
    "a field is gone",
    (now: Schema) => delete now.$defs!["session.notice"]!.properties!.text,
    /session\.notice\.text is gone/,
  ],
  [
    "a field of a message is gone",
    (now: Schema) => delete (now.$defs!.message!.oneOf as Schema[])[0]!.properties!.branch,
    /message has lost a form \(1\)/,
  ],
  [
    "a field may be missing",
    (now: Schema) => now.$defs!["session.idle"]!.required!.pop(),
    /session\.idle\.sessionId may be missing now/,
  ],
  [
    "a field has another type",
    (now: Schema) => Object.assign(now.$defs!["run.ended"]!.properties!.exitCode!, { type: "string" }),
    /run\.ended\.exitCode was "integer" and is "string"/,
  ],
  [
    "a value is gone",
    (now: Schema) => now.$defs!["message.delta"]!.properties!.kind!.enum!.pop(),
    /message\.delta\.kind is never "reasoning" now/,
  ],
] as const)
  test(`a new schema of the lines needs a new version if ${what}`, () => {
    const now = JSON.parse(committed) as Schema
    change(now)
    assert.match(lostIn(JSON.parse(committed), now).join("\n"), says)
    // The other way round it is an addition, unless a value or a type changed.
    const added = JSON.parse(committed) as Schema
    added.$defs!["a.new.event"] = { type: "object" }
    added.$defs!["session.idle"]!.properties!.more = { type: "string" }
    added.$defs!["message.delta"]!.properties!.kind!.enum!.push("sound")
    assert.deepEqual(lostIn(JSON.parse(committed), added), [])
  })

test("the generator refuses to write a schema that lost something", () => {
  const before = JSON.parse(committed) as Schema
  before.$defs!["old.event"] = { type: "object" }
  assert.throws(() => renderRunOutput(JSON.stringify(before)), /old\.event is gone.*linesVersion/)
  assert.equal(renderRunOutput(JSON.stringify({ ...before, version: 0 })), committed)
})
