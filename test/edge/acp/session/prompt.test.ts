// A prompt through `vitamin acp`: its updates, permission requests and stop reason.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { call, calls, empty, fakeLlm, reasoning, status, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { choose, on, withSession } from "../harness.ts"

const write = (path = "a.txt", id?: string) =>
  call("write", { path, content: "x\n" }, { ...(id ? { id } : {}) })

test("a prompt is answered with text, and the answer comes after every update", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([reasoning("hm", text("Hello, all.", { deltas: 5 }))])
  await using acp = await withSession(tmp, { llm })
  const { stopReason } = await acp.prompt("hello")
  assert.equal(stopReason, "end_turn")
  // The updates that had arrived when the response came.
  assert.equal(acp.text(), "Hello, all.")
  assert.ok(acp.of("usage_update").length)
  const last = acp.lines.findIndex((line) => line.includes('"stopReason"'))
  const after = acp.lines.slice(last + 1).filter((line) => !line.includes('"available_commands_update"'))
  assert.deepEqual(after, [])
  assert.deepEqual([...new Set(acp.updates.map(({ sessionId }) => sessionId))], [acp.sessionId])
})

test("a call that is allowed once runs, and the request showed its change", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([write(), write("b.txt"), text("Done.")])
  await using acp = await withSession(tmp, { llm, permit: choose("allow_once") })
  assert.equal((await acp.prompt("write it")).stopReason, "end_turn")
  assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "x\n")
  assert.deepEqual(
    acp.permissions.map(({ sessionId, options }) => [sessionId, options.map(({ kind }) => kind)]),
    Array(2).fill([acp.sessionId, ["allow_once", "allow_always", "allow_always", "reject_once"]]),
  )
  const { toolCall, options } = acp.permissions[0]!
  assert.deepEqual(
    options.map(({ name }) => name),
    ["Allow", "Always allow file.write:a.txt", "Allow all edits in this session", "Reject"],
  )
  assert.deepEqual(toolCall.rawInput, { path: "a.txt", content: "x\n" })
  assert.deepEqual(toolCall.locations, [{ path: join(tmp.path, "a.txt") }])
  const begun = acp.of("tool_call")
  assert.deepEqual(begun.map(({ toolCallId }) => toolCallId)[0], toolCall.toolCallId)
  const states = acp.of("tool_call_update").filter(({ toolCallId }) => toolCallId === toolCall.toolCallId)
  assert.equal(states.at(-1)?.status, "completed")
})

test("a rejected call does not run, and its result says so", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([write(), text("I did not.")])
  await using acp = await withSession(tmp, { llm, permit: choose("reject_once") })
  assert.equal((await acp.prompt("write it")).stopReason, "end_turn")
  assert.equal(existsSync(join(tmp.path, "a.txt")), false)
  assert.match(JSON.stringify(llm.requests[1]!.body), /rejected/)
  assert.equal(acp.of("tool_call_update").at(-1)?.status, "failed")
})

test('"always" is not asked again, not even in a later process', async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    write("a.txt"),
    write("a.txt"),
    text("Done."),
    write("a.txt"),
    text("Again."),
  ])
  {
    await using acp = await withSession(tmp, { llm, permit: choose("allow_always") })
    await acp.prompt("write it twice")
    assert.equal(acp.permissions.length, 1)
  }
  await using acp = await withSession(tmp, { llm })
  await acp.prompt("write it again")
  assert.deepEqual([acp.permissions, acp.text()], [[], "Again."])
})

test("a permission request for a protected file says why it is protected", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([write(".vitamin/config.jsonc"), text("Done.")])
  await using acp = await withSession(tmp, { llm, permit: choose("allow_once") })
  await acp.prompt("configure it")
  assert.match(acp.permissions[0]!.options[0]!.name, /^Allow \(it would change what runs on this machine\)$/)
})

test('"always" is not offered if no rule can express it', async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: 'eval "$(cat a.txt)"' }), text("No.")])
  await using acp = await withSession(tmp, { llm, permit: choose("reject_once") })
  await acp.prompt("run it")
  assert.deepEqual(
    acp.permissions.map(({ options }) => options.map(({ kind }) => kind)),
    [["allow_once", "reject_once"]],
  )
})

for (const [name, permit] of [
  [
    "an error",
    () => {
      throw new Error("no window")
    },
  ],
  ["an option that does not exist", () => ({ outcome: { outcome: "selected" as const, optionId: "yes" } })],
  ["nonsense", () => ({ hello: 1 }) as never],
  ["another outcome", () => ({ outcome: { outcome: "expired", optionId: "once" } }) as never],
] as const)
  test(`a permission reply with ${name} allows nothing`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([write(), text("No.")])
    await using acp = await withSession(tmp, { llm, permit, isWrong: true })
    assert.equal((await acp.prompt("write it")).stopReason, "end_turn")
    assert.equal(existsSync(join(tmp.path, "a.txt")), false)
  })

test("permission requests of a subtask are asked in the parent session", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    call("subtask", { task: "write a.txt" }),
    write(),
    text("Written."),
    text("All done."),
  ])
  await using acp = await withSession(tmp, { llm, permit: choose("allow_once") })
  await acp.prompt("have it written")
  assert.equal(acp.text(), "All done.", JSON.stringify(llm.requests.at(-1)?.body).slice(-2_000))
  assert.equal(existsSync(join(tmp.path, "a.txt")), true)
  assert.deepEqual(new Set(acp.permissions.map(({ sessionId }) => sessionId)), new Set([acp.sessionId]))
})

test("--allow, --deny and --yes apply to all sessions", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([calls([write("a.txt"), write("b/c.txt")]), text("Done.")])
  const args = ["--allow", "file.write:*.txt", "--deny", "file.write:b/**", "--yes"]
  await using acp = await withSession(tmp, { llm, args })
  await acp.prompt("write both")
  assert.deepEqual(
    ["a.txt", "b/c.txt"].map((name) => existsSync(join(tmp.path, name))),
    [true, false],
  )
  assert.deepEqual(acp.permissions, [])
})

test("in plan mode nothing is written", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([write(), text("A plan.")])
  await using acp = await withSession(tmp, { llm, permit: choose("allow_once"), args: ["--yes"] })
  assert.equal(acp.opened.modes?.currentModeId, "act")
  await acp.agent.request(on.session.setMode, { sessionId: acp.sessionId, modeId: "plan" })
  await acp.prompt("write it")
  assert.equal(existsSync(join(tmp.path, "a.txt")), false)
  assert.deepEqual(acp.permissions, [])
  assert.deepEqual(
    acp.of("current_mode_update").map(({ currentModeId }) => currentModeId),
    ["plan"],
  )
})

test("the stop reason of an answer is reported", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([
    ...["Half", " of", " an", " answer"].map((part) => text(part, { finish: "length" })),
    ...Array.from({ length: 2 }, () => text("I must not", { finish: "content-filter" })),
    ...Array.from({ length: 2 }, () => empty({ finish: "content-filter" })),
  ])
  await using acp = await withSession(tmp, { llm })
  const reasons: string[] = []
  for (const words of ["one", "two", "three"]) reasons.push((await acp.prompt(words)).stopReason)
  assert.deepEqual(reasons, ["max_tokens", "refusal", "refusal"])
})

test("a turn with too many steps ends with max_turn_requests", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm((_, turn) => call("read", { path: "README.md", startLine: turn + 1 }))
  await using acp = await withSession(tmp, { llm })
  assert.equal((await acp.prompt("read on")).stopReason, "max_turn_requests")
  assert.equal(llm.requests.length, 200)
})

test("an error of the provider is one line, and the session continues", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([status(400, { message: "the model is asleep" }), text("Awake.")])
  await using acp = await withSession(tmp, { llm })
  await assert.rejects(acp.prompt("hello"), (error: { code: number; message: string; data: object }) => {
    assert.equal(error.code, -32603)
    assert.match(error.message, /^[^\n]*the model is asleep[^\n]*$/)
    assert.deepEqual(Object.keys(error.data), ["name"])
    return true
  })
  await acp.prompt("again")
  assert.equal(acp.text(), "Awake.")
})

test('a refused API key is answered with "authentication required"', async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([status(401, { message: "this key is not known" })])
  await using acp = await withSession(tmp, { llm })
  await assert.rejects(acp.prompt("hello"), { code: -32000, message: /this key is not known/ })
})

test('a missing API key is answered with "authentication required"', async () => {
  await using tmp = await tmpdir()
  await using acp = await withSession(tmp, { env: { VITAMIN_MODEL: "anthropic/claude-sonnet-4-5" } })
  await assert.rejects(acp.prompt("hello"), {
    code: -32000,
    message: /needs a key.*vitamin auth login anthropic/,
    data: { name: "Provider.MissingKey" },
  })
})

test("the command line shows the session of an editor", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("Hello.")])
  await using acp = await withSession(tmp, { llm })
  await acp.prompt("say hello to the world")
  const { out } = await vitamin(tmp, ["session", "show", acp.sessionId, "--format", "json"])
  const { session, messages } = JSON.parse(out)
  assert.deepEqual([session.title, messages.length], ["say hello to the world", 2])
})

test("a second prompt waits for the first", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("One. ", { delay: 20, deltas: 5 }), text("Two.")])
  await using acp = await withSession(tmp, { llm })
  const both = await Promise.all([acp.prompt("first"), acp.prompt("second")])
  assert.deepEqual(
    both.map(({ stopReason }) => stopReason),
    ["end_turn", "end_turn"],
  )
  assert.equal(acp.text(), "One. Two.")
})
