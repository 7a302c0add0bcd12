// Tool calls that would hang or break the program: each gets a result that says what is wrong, and the session
// continues. Without the limits in the code, these tests would time out.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { badCall, call, env, fakeLlm, type Reply, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const levels = 100_000
const keys = Array.from({ length: 50_000 }, (_, i) => [`k${i}`, 1])
const cases: [what: string, reply: Reply, told: RegExp][] = [
  [
    "arguments nested 100,000 levels deep",
    badCall("grep", `{"pattern":${"[".repeat(levels)}${"]".repeat(levels)}}`),
    /nested deeper than 100 levels/,
  ],
  ["50,000 unknown arguments", call("ls", Object.fromEntries(keys)), /- and 49990 more/],
  ["a pattern of 100,000 characters", call("grep", { pattern: "a".repeat(1e5) }), /at most 30000 characters/],
  [
    "a glob of 100,000 characters",
    call("glob", { pattern: "{a}".repeat(33_333) }),
    /more than 1000 characters/,
  ],
  [
    "a glob with long sets",
    call("glob", { pattern: `[${"a-z".repeat(9_000)}]` }),
    /Glob pattern .* cannot be used: it has more than 1000 characters/,
  ],
  [
    "blanks up to the length limit",
    badCall("ls", " ".repeat(500_000), { finish: "length" }),
    /expected a JSON/,
  ],
  ["an awk program with sets", call("bash", { command: `awk '/${"[](".repeat(60)}'` }), /denied|permission/i],
  ["a sed script with sets", call("bash", { command: `sed 's/${"[]]".repeat(60)}'` }), /denied|permission/i],
]
for (const [what, reply, told] of cases)
  test(`a call with ${what} gets a result, and the session continues`, async () => {
    await using llm = await fakeLlm([reply, text("done"), text("again")])
    await using tmp = await tmpdir({ git: true })
    tmp.write("b.txt", "b")
    const { variables } = env(llm, "chat")
    const first = await vitamin(tmp, ["run", "hello"], variables)
    assert.match(first.out, /done/)
    assert.match(JSON.stringify(llm.requests[1]), told)
    const second = await vitamin(tmp, ["run", "--continue", "more"], variables)
    assert.equal(second.out, "again")
  })
