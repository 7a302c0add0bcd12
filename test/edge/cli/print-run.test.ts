// What a person sees of a run in a terminal, and what a pipe gets.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, calls, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { openTerminal } from "../../fixture/terminal.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const command = "printf 'step 1\\nstep 2 \\033[31mred\\n'; until [ -e go ]; do sleep 0.02; done; echo last"

test("a terminal shows the last line of a running command, and takes it away when the command has ended", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command }), text("done")])
  await using terminal = openTerminal(tmp, ["run", "--yes", "go"], { env: env(llm, "chat").variables })
  let raw = ""
  terminal.child.process.stdout!.on("data", (piece: string) => {
    raw += piece
  })
  await terminal.sees(/ {2}step 2 red/)
  assert.doesNotMatch(terminal.shown(), /step 1/)
  tmp.write("go", "")
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.match(raw, /step 2 red[^\n]*\r\u001b\[K· bash /)
  assert.match(terminal.shown(), /\ndone\n$/)
})

test("a pipe gets no such line", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("go", "")
  await using llm = await fakeLlm([call("bash", { command }), text("done")])
  const { err, out } = await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)
  assert.equal(out, "done")
  assert.match(err, /^· bash [^\n]*\n$/)
})

test("the words of a model do not drive the terminal, and reach a pipe as they are", async () => {
  const words = "a\u001b]52;c;eA==\u0007b\n\tc\u009b2J"
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text(words), text(words)])
  const { variables } = env(llm, "chat")
  await using terminal = openTerminal(tmp, ["run", "go"], { env: variables })
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.match(terminal.shown(), /a\\u001b\]52;c;eA==\\u0007b\n[\t ]+c\\u009b2J/)
  assert.equal((await vitamin(tmp, ["run", "go"], variables)).out, words)
})

test("the line of a call stands before what the model says about it", async () => {
  await using tmp = await tmpdir({ git: true })
  const rounds = Array.from({ length: 10 }, (_, i) =>
    calls([text(`looking ${i}`), call("glob", { pattern: `*${i}` })]),
  )
  await using llm = await fakeLlm([...rounds, text("That is all.")])
  await using terminal = openTerminal(tmp, ["run", "go"], { env: env(llm, "chat").variables })
  assert.equal(await terminal.exit, 0, terminal.shown())
  const lines = terminal.shown().trimEnd().split("\n")
  const kinds = lines.map((line) => /^(looking|· glob|That is all)/.exec(line)?.[1] ?? line)
  assert.deepEqual(kinds, [...rounds.flatMap(() => ["looking", "· glob"]), "That is all"])
})
