// `vitamin guard check` in the installed command, on guards of a trusted project.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

async function check(tmp: Tmp, guards: object, ...options: string[]) {
  tmp.write(".vitamin/config.jsonc", JSON.stringify({ guards }))
  return vitamin(tmp, ["guard", "check", "--trust", ...options])
}

/** Why it blocks does not matter here. */
const guard = (parts: object) => ({ ...parts, because: "of a rule" })

test("guard check finds nothing wrong with the ready-made guards, and names those that count", async () => {
  await using tmp = await tmpdir()
  const { code, out, err } = await check(tmp, {
    "read-before-edit": {},
    "tests-before-answer": {},
    "approve-deploy": {},
    "no-network-after-secret": {},
    "look-at-diff": { writes: 5 },
    "no-repeats": {},
    "plan-before-act": {},
    budget: { tokens: 1_000 },
  })
  const [repeats, budget, last, ...rest] = out.split("\n")
  assert.match(repeats!, /^note: guard "no-repeats" cannot be explored: it is a generator function/)
  assert.match(budget!, /^note: guard "budget" cannot be explored/)
  assert.match(last!, /^8 guards, \d+ states, 0 problems$/)
  assert.deepEqual([code, rest, err], [0, [], ""])
})

test("guard check reports a deadlock with a shortest trace, and exits with 1", async () => {
  await using tmp = await tmpdir()
  const { code, out } = await check(tmp, {
    "tests-before-answer": { command: "npm test*" },
    frozen: guard({ when: "bash.done:git tag*", block: "bash" }),
  })
  assert.equal(code, 1)
  assert.deepEqual(out.split("\n"), [
    'deadlock: "answer" is blocked for ever after edit:example.txt, edit.done:example.txt, bash:git tag, bash.done:git tag',
    '  guard "tests-before-answer" waits for bash.done:npm test, which "frozen" blocks',
    "2 guards, 4 states, 1 problem",
  ])
})

test("guard check reports guards that wait for each other or block nothing, and names that no tool has", async () => {
  await using tmp = await tmpdir()
  const { code, out } = await check(tmp, {
    first: guard({ when: "prompt", block: "edit:a.txt", until: "write.done:b.txt" }),
    second: guard({ when: "prompt", block: "write:b.txt", until: "edit.done:a.txt" }),
    late: guard({ when: "review.done", block: "edit" }),
  })
  assert.equal(code, 1)
  assert.deepEqual(out.split("\n"), [
    'contradiction: guards "first", "second" wait for each other after prompt',
    '  guard "first" waits for write.done:b.txt, which "second" blocks',
    '  guard "second" waits for edit.done:a.txt, which "first" blocks',
    'idle: guard "late" never blocks anything; its rule 2 is never reached',
    'note: guard "late" names "review", and no tool has this name',
    "3 guards, 2 states, 2 problems",
  ])
})

test("guard check tells a guard for each file apart", async () => {
  await using tmp = await tmpdir()
  const until = ["read.done"]
  const { code, out } = await check(tmp, {
    "read-before-edit": { paths: "src/**" },
    locked: guard({ each: "path", block: ["edit:src/**", "read:src/lock/**"], until }),
  })
  assert.equal(code, 1)
  assert.match(out, /contradiction: guard "locked src\/lock\/x" blocks what it waits for from the start/)
  assert.doesNotMatch(out, /"locked src\/x"/)
})

test("guard check --require checks other actions, and --format json prints the same", async () => {
  await using tmp = await tmpdir()
  const guards = { "no-network-after-secret": {} }
  assert.equal((await check(tmp, guards)).code, 0)
  const { code, out } = await check(tmp, guards, "--require", "fetch:example", "--format", "json")
  assert.equal(code, 1)
  const { findings, isComplete, unexplored } = JSON.parse(out)
  assert.deepEqual([isComplete, unexplored], [true, []])
  assert.equal(findings[0].kind, "deadlock")
  assert.equal(findings[0].action, "fetch:example")
  assert.deepEqual(findings[0].blockedBy, [{ thread: "no-network-after-secret", waitsFor: [] }])
})

test("guard check --require knows both modes", async () => {
  await using tmp = await tmpdir()
  const guards = { careful: guard({ when: "edit.done", block: "mode:act" }) }
  const modes = ["--require", "mode:plan", "--require", "mode:act"]
  const { code, out } = await check(tmp, { "plan-before-act": {} }, ...modes)
  assert.deepEqual([code, out], [0, "1 guard, 2 states, 0 problems"])
  assert.match(
    (await check(tmp, guards, ...modes)).out,
    /^deadlock: "mode:act" is blocked for ever after edit/,
  )
})

test("guard check explores fifty guards that have nothing to do with each other", async () => {
  await using tmp = await tmpdir()
  const guards = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [
      `guard ${i}`,
      guard({ when: `edit.done:src/${i}/**`, block: `bash:deploy ${i} *`, until: `bash.done:test ${i} *` }),
    ]),
  )
  const { code, out } = await check(tmp, guards)
  assert.deepEqual([code, out], [0, "50 guards, 100 states, 0 problems"])
})

test("guard check ends with 150 guards that hold back the same action, and says what it has not seen", async () => {
  await using tmp = await tmpdir()
  const own = Array.from({ length: 150 }, (_, i) => [
    `own-${i}`,
    guard({ when: `edit.done:src/${i}/**`, block: "answer", until: `bash.done:make ${i}` }),
  ])
  const { code, out } = await check(tmp, Object.fromEntries(own))
  const [note, last] = out.split("\n")
  assert.equal(note, "note: there are more states; nothing is known about the rest")
  assert.match(last!, /^150 guards, \d+ states, 0 problems$/)
  assert.equal(code, 0)
})

test("guard check explores guards in TypeScript that are lists of rules, and names the others", async () => {
  await using tmp = await tmpdir()
  const head =
    'import { bSync, bThread } from "vitamin/behavioral"\nexport default { because: "of a rule", thread: '
  const rules =
    '[bSync({ waitFor: "edit.done:src/**" }), bSync({ block: "answer", waitFor: "bash.done:npm run check*" })]'
  tmp.write(".vitamin/guards/checked.ts", `${head}bThread(${rules}, true) }\n`)
  const own =
    '[bSync({ waitFor: "write.done" }), bSync({ block: ({ type }) => type === "bash", waitFor: "fetch.done" })]'
  tmp.write(".vitamin/guards/offline.ts", `${head}bThread(${own}) }\n`)
  tmp.write(".vitamin/guards/free.ts", `${head}function* () { yield { block: "edit" } } }\n`)
  const { code, out } = await check(tmp, {
    "no-fetch": guard({ when: "write.done", block: "fetch" }),
  })
  assert.deepEqual(out.split("\n"), [
    'deadlock: "answer" is blocked for ever after edit:src/x, edit.done:src/x, write:example.txt, write.done:example.txt',
    '  guard "checked" waits for bash.done:npm run check, which "offline" blocks',
    'note: guard "free" cannot be explored: it is a generator function, whose state cannot be seen',
    "4 guards, 5 states, 1 problem",
  ])
  assert.equal(code, 1)
})

const loops = {
  "in its block": "bSync({ block: ({ type }) => { while (type === 'bash'); return false } })",
  "in its next": "bSync({ waitFor: 'prompt' }, () => { for (;;); }), bSync({ block: 'bash' })",
}
for (const [where, rules] of Object.entries(loops))
  test(`guard check names a guard with an endless loop ${where}, and explores the others`, async () => {
    await using tmp = await tmpdir()
    tmp.write(
      ".vitamin/guards/hangs.ts",
      `import { bSync, bThread } from "vitamin/behavioral"
export default { because: "x", thread: bThread([${rules}]) }\n`,
    )
    const { code, out } = await check(tmp, { silent: guard({ block: "answer" }) })
    assert.deepEqual(out.split("\n"), [
      'deadlock: "answer" is blocked for ever from the start',
      '  guard "silent" waits for nothing that can happen',
      'note: guard "hangs" cannot be explored: its code ran for more than 1000 ms and was ended',
      "2 guards, 1 state, 1 problem",
    ])
    assert.equal(code, 1)
  })

test("a guard with a wrong key or value is refused with its name, the key and what is expected", async () => {
  await using tmp = await tmpdir()
  const { code, err } = await check(tmp, {
    misspelt: { blok: "edit" },
    numbers: guard({ block: 5 }),
    pattern: guard({ block: ["edit", "fiel.edit:src/**"] }),
    "tests-before-answer": { command: 5 },
  })
  assert.equal(code, 1)
  for (const text of [
    "guards.misspelt.block: is missing; expected a pattern, or a list of patterns",
    "guards.misspelt.because: is missing; expected a text that says why it blocks",
    'guards.misspelt.blok: the key is unknown; did you mean "block"?',
    "guards.numbers.block: expected a pattern, or a list of patterns",
    'guards.pattern.block: "fiel.edit" does not exist; did you mean "file.edit"?',
    "guards.tests-before-answer.command: expected a command, or a list of commands",
  ])
    assert.ok(err.includes(text), `${text} is not in\n${err}`)
})

test("a guard in TypeScript with a wrong key or pattern is named with the key and what is expected", async () => {
  await using tmp = await tmpdir()
  const wrong = {
    key: '{ blok: "edit" }',
    value: "{ block: 5 }",
    pattern: '{ block: "write", waitFor: ["bash.done", "fiel.edit"] }',
  }
  for (const [name, idiom] of Object.entries(wrong))
    tmp.write(
      `.vitamin/guards/${name}.ts`,
      `import { bSync, bThread } from "vitamin/behavioral"
export default { because: "x", thread: bThread([bSync({ waitFor: "read" }), bSync(${idiom})]) }\n`,
    )
  const { code, out, err } = await check(tmp, { "plan-before-act": {} })
  for (const text of [
    'key.ts: its guards are not used: guard "key": rule 2: blok: the key is unknown; there are request, waitFor, block, interrupt',
    'value.ts: its guards are not used: guard "value": rule 2: block: expected a pattern, a function, or a list of them; received 5',
    'pattern.ts: its guards are not used: guard "pattern": rule 2: waitFor: "fiel.edit" does not exist; did you mean "file.edit"?',
  ])
    assert.ok(err.includes(text), `${text} is not in\n${err}`)
  assert.deepEqual([code, out], [1, "1 guard, 2 states, 0 problems, 3 files not used"])
})

test("guard check fails if the guards of a file are not used, and says which", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/guards/broken.ts", "export default {")
  const alone = await check(tmp, {})
  assert.equal(alone.code, 1)
  assert.match(alone.err, /broken\.ts: its guards are not used: /)
  assert.equal(alone.out, "No guards, 1 file not used")
  const ready = { "tests-before-answer": {} }
  assert.match((await check(tmp, ready)).out, /^1 guard, 2 states, 0 problems, 1 file not used$/)
  const { out, code } = await check(tmp, ready, "--format", "json")
  assert.equal(code, 1)
  assert.match(JSON.parse(out).unused.join(), /broken\.ts: its guards are not used: /)
})

test("guard check fails in a project that is not trusted, whose guards do not count", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/config.jsonc", JSON.stringify({ guards: { "tests-before-answer": {} } }))
  const { code, out, err } = await vitamin(tmp, ["guard", "check"])
  assert.equal(code, 1)
  assert.match(err, /guards is ignored: the folder is not trusted/)
  assert.equal(out, "No guards, 1 file not used")
})

test("guard check says how many files are too many", async () => {
  await using tmp = await tmpdir()
  for (let i = 0; i < 102; i++)
    tmp.write(
      `../config/vitamin/guards/${i}.ts`,
      `export const own${i} = { because: "x", *thread() { yield { block: "ls" } } }`,
    )
  const { code, err, out } = await check(tmp, {})
  assert.equal(code, 1)
  assert.match(err, /guards: 2 of its files are not used: at most 100 are/)
  assert.match(out, /^100 guards, .* 1 file not used$/m)
})

test("guard check says that no guards are configured", async () => {
  await using tmp = await tmpdir()
  const { code, out } = await vitamin(tmp, ["guard", "check"])
  assert.deepEqual([code, out], [0, "No guards are configured (docs/guards.md)."])
})

test("guard check --require refuses an action that does not exist", async () => {
  await using tmp = await tmpdir()
  const { code, err } = await check(tmp, { "plan-before-act": {} }, "--require", "anwser")
  assert.equal(code, 2)
  assert.match(err, /No action is named "anwser"\. There are answer, read:example\.txt/)
})
