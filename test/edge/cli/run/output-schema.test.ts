// `vitamin run --output-schema`: the answer is JSON that fits a schema, or the run fails and says why.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { readOutput } from "#engine/run/output-schema.ts"
import { byAgent, reject } from "../../../engine/orchestrator/harness.ts"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { call, calls, env, fakeLlm, type Script, text, type Wire } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const schema = {
  type: "object",
  properties: {
    verdict: { enum: ["approve", "reject"] },
    files: { type: "array", items: { type: "string" } },
  },
  required: ["verdict", "files"],
  additionalProperties: false,
}
const good = { verdict: "approve", files: ["a.ts"] }
const line = JSON.stringify(good)

type Answer = { id: string; error: { name: string }; data: { parts: { text: string }[] } }
type Options = { script: Script; args?: string[]; file?: string; wire?: Wire; config?: object }

async function review(tmp: Tmp, { script, args = [], file, wire = "chat", config }: Options) {
  tmp.write("out.json", file ?? JSON.stringify(schema))
  await using llm = await fakeLlm(script)
  const variables = {
    ...env(llm, wire).variables,
    ...(config ? { VITAMIN_CONFIG: JSON.stringify(config) } : {}),
  }
  const ran = await vitamin(tmp, ["run", "--output-schema", "out.json", ...args, "review"], variables)
  return { ...ran, requests: llm.requests }
}

for (const wire of ["chat", "responses", "messages", "gemini"] as const)
  test(`vitamin run --output-schema prints exactly the JSON, with a tool call before it, over ${wire}`, async () => {
    await using tmp = await tmpdir({ git: true })
    const script = [
      calls([text("I read it first."), call("read", { path: "README.md" })]),
      text(JSON.stringify(good, null, 2)),
    ]
    const { code, out, err, requests } = await review(tmp, { script, wire })
    assert.deepEqual([code, out], [0, line], err)
    assert.match(err, /Read README\.md/)
    assert.match(requests[0]!.raw, /JSON Schema.*verdict/s)
    const { text: native } = requests[0]!.body as { text?: { format?: { type: string; strict: boolean } } }
    if (wire === "responses")
      assert.deepEqual([native?.format?.type, native?.format?.strict], ["json_schema", false])
    else assert.equal(native, undefined)
  })

test("vitamin run --output-schema asks again with the errors, and takes a fenced block", async () => {
  await using tmp = await tmpdir({ git: true })
  const script = [
    text("I approve."),
    text('{"verdict":"maybe","files":"a.ts","more":1}'),
    text(`\`\`\`json\n${JSON.stringify(good)}\n\`\`\``),
  ]
  const { code, out, err, requests } = await review(tmp, { script })
  assert.deepEqual([code, out], [0, line], err)
  assert.match(requests[1]!.raw, /does not fit the JSON Schema:.*it is not JSON/s)
  for (const problem of [
    "/verdict must be equal to one of",
    "/files must be array",
    "must NOT have additional",
  ])
    assert.ok(requests[2]!.raw.includes(problem), requests[2]!.raw)
})

test("vitamin run --output-schema fails with the reason after three answers that do not fit", async () => {
  await using tmp = await tmpdir({ git: true })
  const { code, out, err, requests } = await review(tmp, { script: () => text('{"verdict":"approve"}') })
  assert.deepEqual([code, out, requests.length], [1, "", 3])
  assert.match(
    err,
    /^vitamin: The answer does not fit the output schema in 3 tries: the answer must have required property 'files'\n$/,
  )
})

test("vitamin run --output-schema --format json has the value in the last line", async () => {
  await using tmp = await tmpdir({ git: true })
  const args = ["--format", "json"]
  const ran = await review(tmp, { script: [text("no"), text(line)], args })
  assert.equal(ran.code, 0, ran.err)
  assert.deepEqual(JSON.parse(ran.out.split("\n").at(-1)!).payload.output, good)
  const failed = await review(tmp, { script: () => text("no"), args })
  assert.equal(failed.code, 1)
  const { error, exitCode } = JSON.parse(failed.out.split("\n").at(-1)!).payload
  assert.deepEqual([error.name, exitCode], ["Session.OutputMismatch", 1])
})

test("vitamin run -c --output-schema continues a session, and the next prompt has no schema", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("It is fine."), text(line), text("Because it is.")])
  const { variables } = env(llm, "chat")
  tmp.write("out.json", JSON.stringify(schema))
  assert.equal((await vitamin(tmp, ["run", "look"], variables)).out, "It is fine.")
  assert.equal(
    (await vitamin(tmp, ["run", "-c", "--output-schema", "out.json", "sum up"], variables)).out,
    line,
  )
  assert.equal((await vitamin(tmp, ["run", "-c", "why?"], variables)).out, "Because it is.")
  assert.match(llm.requests[1]!.raw, /It is fine\./)
  assert.doesNotMatch(JSON.stringify(llm.requests[2]!.body).slice(0, 20_000), /The form of your final answer/)
})

test("vitamin run --output-schema works with a guard that holds the answer back", async () => {
  await using tmp = await tmpdir({ git: true })
  const config = {
    guards: { first: { block: "answer", until: "ls.done", because: "look at the folder first" } },
  }
  const script = [text("no JSON"), text(line), call("ls"), text("still no JSON"), text(line)]
  const { code, out, err, requests } = await review(tmp, { script, config })
  assert.deepEqual([code, out, requests.length], [0, line, 5], err)
  assert.match(requests[2]!.raw, /held back/)
})

test("vitamin run --agent auto --output-schema lets a specialist reject, and checks the answer of the next one", async () => {
  await using tmp = await tmpdir({ git: true })
  let tries = 0
  const script = byAgent({
    librarian: () => text(reject("operator")),
    operator: () => text(tries++ ? line : "I approve."),
  })
  const args = ["--agent", "auto", "without running it, what does deploy.sh do"]
  const { code, out, err } = await review(tmp, { script, args })
  assert.deepEqual([code, out, tries], [0, line, 2], err)
})

test("vitamin run --sandbox --output-schema checks the answer too", async () => {
  await using tmp = await tmpdir({ git: true })
  const script = [text("I approve."), text(line)]
  const { code, out, err } = await review(tmp, { script, args: ["--sandbox"] })
  assert.deepEqual([code, out], [0, line], err)
})

test("POST /session/:id/message takes an outputSchema", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("no"), text(line), ...Array(3).fill(text("no"))])
  const { child, url, tokenFile } = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = child
  const headers = {
    authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}`,
    "content-type": "application/json",
  }
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    return { status: answer.status, body: (await answer.json()) as Answer }
  }
  const { id } = (await post("/session", {})).body
  const ask = (outputSchema: object) => post(`/session/${id}/message`, { text: "review", outputSchema })
  const answered = await ask(schema)
  assert.equal(answered.status, 200)
  assert.equal(answered.body.data.parts.at(-1)?.text, line)
  const refused = await ask({ $ref: "http://127.0.0.1:1/a.json" })
  assert.deepEqual([refused.status, refused.body.error.name], [400, "Session.InvalidOutputSchema"])
  const misfit = await ask(schema)
  assert.deepEqual([misfit.status, misfit.body.error.name], [409, "Session.OutputMismatch"])
  assert.equal(llm.requests.length, 5)
})

for (const [what, file, answer, fits] of [
  ["2020-12 prefixItems", { prefixItems: [{ type: "string" }], items: false }, ["a"], true],
  ["2020-12 prefixItems", { prefixItems: [{ type: "string" }], items: false }, ["a", "b"], false],
  [
    "2020-12 unevaluatedProperties",
    { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
    { b: 1 },
    false,
  ],
  [
    "draft-07 items as a list",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      items: [{ type: "string" }],
      additionalItems: false,
    },
    ["a", "b"],
    false,
  ],
  [
    "draft-07 definitions",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      $ref: "#/definitions/a",
      definitions: { a: { const: 1 } },
    },
    1,
    true,
  ],
  [
    "a schema that refers to itself",
    { type: "object", properties: { next: { $ref: "#" } }, required: ["n"] },
    { n: 1, next: { n: 2, next: {} } },
    false,
  ],
  ["an answer that is null", { type: "null" }, null, true],
] as const)
  test(`vitamin run --output-schema knows ${what}: ${JSON.stringify(answer)}`, async () => {
    await using tmp = await tmpdir()
    const script = () => text(JSON.stringify(answer))
    const { code, out, err } = await review(tmp, { script, file: JSON.stringify(file) })
    assert.deepEqual([code, out], fits ? [0, JSON.stringify(answer)] : [1, ""], err)
  })

for (const [what, file, answer, says] of [
  ["a schema that nothing fits", '{"not":{}}', '{"a":1}', /the answer must NOT be valid/],
  ["a property that may not be", '{"required":["a"],"properties":{"a":false}}', '{"a":1}', /schema is false/],
  ["a number that is too large", "{}", '{"a":[-1e400]}', /it is not JSON: a number is too large/],
  [
    "an answer that is nested too deep",
    "{}",
    `${"[".repeat(20_000)}${"]".repeat(20_000)}`,
    /deeper than 100/,
  ],
  ["an answer that is too long", "{}", JSON.stringify("x".repeat(1_000_001)), /more than 1000000 characters/],
] as const)
  test(`readOutput() names ${what}`, () => {
    const read = readOutput(JSON.parse(file), answer)
    assert.ok("problems" in read)
    assert.match(read.problems.join("; "), says)
  })

for (const [what, file, says] of [
  ["no JSON", "{", /out\.json: .*JSON/],
  ["a list", "[]", /is not a JSON object/],
  ["a boolean", "true", /is not a JSON object/],
  ["an unknown type", '{"type":"text"}', /schema is invalid/],
  [
    "an unknown draft",
    '{"$schema":"http://json-schema.org/draft-04/schema#"}',
    /Known: draft-07, 2019-09, 2020-12/,
  ],
  [
    "a remote reference",
    '{"$ref":"http://127.0.0.1:1/a.json"}',
    /points outside the document, and nothing is fetched/,
  ],
  ["a reference to a file", '{"items":{"$ref":"other.json#/a"}}', /points outside the document/],
  ["a reference to nothing", '{"$ref":"#/$defs/none"}', /can't resolve reference/],
  ["an endless reference", '{"$ref":"#"}', /refers to itself without end/],
  ["an endless circle", '{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}}}', /without end/],
  ["too many levels", `${'{"items":'.repeat(5_000)}{}${"}".repeat(5_000)}`, /nested deeper than 100 levels/],
  ["too many characters", JSON.stringify({ enum: ["x".repeat(200_000)] }), /100000 are the most/],
  ["a huge file", `{"a":"${"x".repeat(500_000)}"}`, /bytes, and 400000 are the most/],
  ["a broken pattern", '{"type":"string","pattern":"("}', /regular expression|pattern/i],
] as const)
  test(`vitamin run --output-schema refuses ${what} before a model is asked`, async () => {
    await using tmp = await tmpdir()
    const { code, out, err, requests } = await review(tmp, { script: [text("{}")], file })
    assert.deepEqual([code, out, requests.length], [2, "", 0], err)
    assert.match(err, /^vitamin: --output-schema out\.json: [^\n]+\n$/)
    assert.match(err, says)
  })

test("vitamin run --output-schema fails with the reason for an answer that no schema can fit", async () => {
  await using tmp = await tmpdir()
  const script = () => text(`${"[".repeat(20_000)}${"]".repeat(20_000)}`)
  const { code, out, err } = await review(tmp, { script, file: "{}" })
  assert.deepEqual([code, out], [1, ""])
  assert.match(err, /does not fit the output schema in 3 tries: it is nested deeper than 100 levels\n$/)
})

test("vitamin run --output-schema ends a pattern that takes for ever", async () => {
  await using tmp = await tmpdir()
  const file = JSON.stringify({ type: "string", pattern: "^(a+)+$" })
  const answer = text(JSON.stringify(`${"a".repeat(60)}!`))
  const { code, err } = await review(tmp, { script: [answer, text('"aa"')], file })
  assert.equal(code, 0, err)
})

test("vitamin run --output-schema refuses references that branch without end", async () => {
  await using tmp = await tmpdir()
  const both = (name: string) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] })
  const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`d${i}`, both(`d${i + 1}`)]))
  const file = JSON.stringify({ ...both("d0"), $defs: { ...$defs, d40: { type: "string" } } })
  const { code, err, requests } = await review(tmp, { script: [text('"a"')], file })
  assert.deepEqual([code, requests.length], [2, 0], err)
  assert.match(err, /the check takes more than 2 s/)
})

test("vitamin run --output-schema refuses a missing file, a folder and a pipe", async () => {
  await using tmp = await tmpdir({ git: true })
  execFileSync("mkfifo", [join(tmp.path, "pipe")])
  for (const [name, says] of [
    ["none.json", /ENOENT|no such file/],
    [".", /not a file/],
    ["pipe", /not a file/],
  ] as const) {
    const { code, err } = await vitamin(tmp, ["run", "--output-schema", name, "go"])
    assert.equal(code, 2, err)
    assert.match(err, says)
  }
  assert.equal((await vitamin(tmp, ["session", "list"])).out, "No session in this project yet.")
})
