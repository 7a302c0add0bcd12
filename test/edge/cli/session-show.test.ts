// What a person sees of a session that is over.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { openTerminal } from "../../fixture/terminal.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

test("vitamin session show and list let the words of a session drive no terminal, and give them to a pipe as they are", async () => {
  const words = "a\u001b]52;c;eA==\u0007b"
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text(words)])
  await vitamin(tmp, ["run", `wish ${words}`], env(llm, "chat").variables)
  const [{ id }] = JSON.parse((await vitamin(tmp, ["session", "list", "--format", "json"])).out)
  for (const args of [["list"], ["show", id]]) {
    await using terminal = openTerminal(tmp, ["session", ...args], { env: {} })
    assert.equal(await terminal.exit, 0, terminal.shown())
    assert.match(terminal.shown(), /a\\u001b\]52;c;eA==\\u0007b/)
  }
  assert.ok((await vitamin(tmp, ["session", "show", id])).out.includes(`[assistant] ${words}`))
})

test("vitamin session show names calls in words, as vitamin run does", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    call("write", { path: "a.txt", content: "x\n" }),
    call("bash", { command: "cat a.txt" }),
    text("done"),
  ])
  await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)
  const { out } = await vitamin(tmp, ["session", "show"])
  assert.match(out, /^→ Write a\.txt$/m)
  assert.match(out, /^→ Run cat a\.txt$/m)
})

test("vitamin session list keeps each session on a line of a narrow terminal, and gives a pipe everything", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "x\n" }), text("done")])
  await vitamin(tmp, ["run", "--yes", "write a short file please"], env(llm, "chat").variables)
  const [whole] = (await vitamin(tmp, ["session", "list"])).out.split("\n")
  assert.match(whole!, / idle +openai\/fake-model +\. +1 file changed +write a short file please$/)
  for (const [columns, shown] of [
    [80, /^sess_\w+ {2}\S+ \S+ {2}idle {2}1 file changed {2}write a short file please$/],
    [50, /^sess_\w+ {2}\S+ \S+ {2}write a short fil$/],
  ] as const) {
    await using terminal = openTerminal(tmp, ["session", "list"], { before: `stty cols ${columns}` })
    assert.equal(await terminal.exit, 0, terminal.shown())
    assert.match(terminal.shown().trimEnd(), shown)
  }
})

test("vitamin session list marks a session whose only prompt could not start", async () => {
  await using tmp = await tmpdir({ git: true })
  const { code } = await vitamin(tmp, ["run", "--model", "anthropic/claude-sonnet-4-5", "go"])
  assert.equal(code, 1)
  assert.match((await vitamin(tmp, ["session", "list"])).out, / error .* \(no prompt was run\)$/)
})
