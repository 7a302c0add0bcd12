// How a finished session is shown.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

test("vitamin session show and list escape control characters in a terminal", async () => {
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

test("vitamin session list shows one line per session in a narrow terminal, and all columns in a pipe", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "x\n" }), text("done")])
  await vitamin(tmp, ["run", "--yes", "write a short file please"], env(llm, "chat").variables)
  const [whole] = (await vitamin(tmp, ["session", "list"])).out.split("\n")
  assert.match(whole!, / idle +openai\/fake-model +\. +1 file changed +write a short file please$/)
  for (const [columns, shown] of [
    [80, /^sess_\w+ {2}\S+ \S+ {2}idle {2}1 file changed {2}write a short file please$/],
    [50, /^sess_\w+ {2}\S+ \S+ {2}write a short…$/],
  ] as const) {
    await using terminal = openTerminal(tmp, ["session", "list"], { before: `stty cols ${columns}` })
    assert.equal(await terminal.exit, 0, terminal.shown())
    assert.match(terminal.shown().trimEnd(), shown)
  }
})

test("vitamin session list cuts a long title between words", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("done")])
  const prompt = "Find out why the default port of the development server is ignored and mend it"
  await vitamin(tmp, ["run", prompt], env(llm, "chat").variables)
  const { out } = await vitamin(tmp, ["session", "list"])
  assert.match(out, / {2}Find out why the default port of the development server is…$/)
})

test("vitamin session list marks a session in which no prompt was run", async () => {
  await using tmp = await tmpdir({ git: true })
  const { child, url, tokenFile } = await serving(tmp)
  await using _ = child
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`
  const headers = { authorization, "content-type": "application/json" }
  assert.equal((await fetch(`${url}/session`, { method: "POST", headers, body: "{}" })).ok, true)
  assert.match((await vitamin(tmp, ["session", "list"])).out, / idle .* \(no prompt was run\)$/)
})

test("vitamin session list and show escape control characters in a pipe too; JSON has them unchanged", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("evil \u001b]0;title\u0007 \u009b2J words")])
  await vitamin(tmp, ["run", "say \u001b[2J it"], env(llm, "chat").variables)
  const list = await vitamin(tmp, ["session", "list"])
  const show = await vitamin(tmp, ["session", "show"])
  for (const { out } of [list, show]) {
    assert.match(out, /say \\u001b\[2J it/)
    assert.doesNotMatch(out, /[\u001b\u0007\u009b]/)
  }
  assert.match(show.out, /evil \\u001b\]0;title\\u0007 \\u009b2J words/)
  const { messages } = JSON.parse((await vitamin(tmp, ["session", "show", "--format", "json"])).out)
  assert.match(JSON.stringify(messages), /evil \\u001b\]0;title/)
})
