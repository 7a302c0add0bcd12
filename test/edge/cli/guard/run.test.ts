// Guards in `vitamin run`: a scripted model is held back by guards of the configuration.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { running } from "./running.ts"

const noDocs = { block: "file.write:docs/**", because: "the documents are generated" }

test("vitamin run does not run a call that a guard blocks, and tells the model why", async () => {
  await using tmp = await tmpdir({ git: true })
  const { code, err, sent } = await running(tmp, {
    guards: { "no-docs": noDocs },
    script: [call("write", { path: "docs/a.md", content: "x" }), text("Then not.")],
  })
  assert.equal(code, 0, err)
  assert.match(err, /vitamin: guard "no-docs" blocked write: the documents are generated\./)
  assert.match(sent[1]!, /The guard \\"no-docs\\" blocks it: the documents are generated\./)
  assert.equal(existsSync(join(tmp.path, "docs/a.md")), false)
})

test("vitamin run holds back the answer until the tests pass after the last edit", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("check.sh", "grep -q two a.txt\n")
  const { code, out, err, sent } = await running(tmp, {
    guards: { "tests-before-answer": { command: "sh check.sh" } },
    script: [
      call("write", { path: "a.txt", content: "one\n" }),
      text("Finished."),
      call("bash", { command: "sh check.sh || true" }),
      text("They pass."),
      call("bash", { command: "sh check.sh" }),
      text("They fail."),
      call("write", { path: "a.txt", content: "two\n" }),
      call("bash", { command: "sh check.sh" }),
      text("All good."),
    ],
  })
  assert.equal(code, 0, err)
  assert.match(out, /All good\.$/)
  assert.equal(err.match(/guard "tests-before-answer" held back the answer/g)?.length, 3)
  assert.match(sent[2]!, /Your answer is held back\..*tests have not passed/)
  assert.match(sent[2]!, /This ends the block: a successful bash of \\\\?\\?"sh check\.sh/)
})

test("vitamin run does not start a task that a guard blocks", async () => {
  await using tmp = await tmpdir({ git: true })
  const delegate = call("subtask", { task: "write the notes", agent: "build" })
  const { code, err, sent } = await running(tmp, {
    guards: {
      alone: { block: "subtask:build", until: "ls.done", because: "look at the folder first" },
    },
    script: [delegate, call("ls"), delegate, text("The notes are written."), text("Done.")],
  })
  assert.equal(code, 0, err)
  assert.equal(err.match(/guard "alone" blocked subtask: look at the folder first/g)?.length, 1)
  assert.match(sent[1]!, /\\"subtask\\" was not run\. .* This ends the block: a successful ls\./)
  assert.match(sent[4]!, /The notes are written\./)
})

test("vitamin run --format json prints guard.blocked with session, action, guard and reason", async () => {
  await using tmp = await tmpdir({ git: true })
  const { code, out } = await running(tmp, {
    guards: { "no-docs": noDocs },
    script: [call("write", { path: "docs/a.md", content: "x" }), text("Then not.")],
    args: ["--format", "json"],
  })
  assert.equal(code, 0)
  const events = out.split("\n").map((line) => JSON.parse(line))
  const { payload } = events.find(({ type }) => type === "guard.blocked")
  const { sessionId, messageId, callId, ...rest } = payload
  assert.deepEqual(rest, { action: "write", guard: "no-docs", reason: "the documents are generated." })
  const request = events.find(
    ({ type, payload }) => type === "message.created" && payload.message.id === messageId,
  )
  assert.equal(request.payload.message.data.calls[0].id, callId)
  assert.equal(request.payload.message.sessionId, sessionId)
})

for (const [what, guards, reason] of [
  ["a name of no event", { a: { block: "", because: "x" } }, /guards\.a\.block/],
  [
    "a permission that does not exist",
    { a: { block: "file.edt:**", because: "x" } },
    /guards\.a\.block: "file\.edt" does not exist; did you mean "file\.edit"/,
  ],
  [
    "no reason",
    { a: { block: "edit" } },
    /guards\.a\.because: is missing; expected a text that says why it blocks/,
  ],
  [
    "an unknown key",
    { a: { block: "edit", because: "x", after: "edit" } },
    /guards\.a\.after: the key is unknown/,
  ],
] as const)
  test(`a guard with ${what} is named, with the place`, async () => {
    await using tmp = await tmpdir()
    const { err } = await running(tmp, { guards, script: [text("Fine.")] })
    assert.match(err, reason)
  })

test("what ends the block of a guard is said once for each kind of event", async () => {
  await using tmp = await tmpdir({ git: true })
  const { err } = await running(tmp, {
    guards: {
      "approve-deploy": { command: ["npm run deploy", "git push*", "make deploy"] },
      all: { block: "glob", until: ["ls.done", "read.done:a", "read.done:b", "bash.failed"], because: "x" },
      // An event without a target includes those with one.
      wide: { block: "grep", until: ["read.done:a", "read.done"], because: "x" },
    },
    script: [
      call("bash", { command: "git push" }),
      call("glob", { pattern: "*" }),
      call("grep", { pattern: "x" }),
      text("Then not."),
    ],
  })
  const ends = [...err.matchAll(/^vitamin: guard "[\w-]+" blocked .* This ends the block: (.*)$/gm)]
  assert.deepEqual(
    ends.map(([, end]) => end),
    [
      'the approval of a person for "npm run deploy", "git push*" or "make deploy".',
      'a successful ls, or a successful read of "a" or "b", or a failed bash.',
      "a successful read.",
    ],
  )
})
