// `!command`: what is shown while it runs, and while a turn runs.
import assert from "node:assert/strict"
import { test } from "node:test"
import { serving } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { openXterm } from "../../fixture/xterm.ts"

const [enter, esc] = ["\r", "\u001b"]
const isReady = /^ask · /m
const wait = "until [ -e go ]; do sleep 0.05; done"
const count = (whole: string, part: string) => whole.split(part).length - 1

test("!command shows its output while it runs, in every terminal, and once when it has ended", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Hello.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  await using one = await openXterm(tmp, ["attach", server.url])
  await one.sees(isReady)
  one.type(`hello${enter}`)
  await one.sees("Hello.")
  await one.sees(isReady)
  await using two = await openXterm(tmp, ["attach", server.url, "-c"])
  await two.sees(isReady)
  one.type(`!echo first line; ${wait}; echo last line${enter}`)
  for (const terminal of [one, two]) {
    await terminal.sees(/▌ ! echo first line.*\n {2}first line\n/s)
    await terminal.sees(/working \d+ s/)
    assert.doesNotMatch(terminal.screen(), /^ {2}last line/m)
  }
  tmp.write("go", "")
  for (const terminal of [one, two]) {
    await terminal.sees(/▌ ! echo first line.*\n {2}first line\n {2}last line\n/s)
    await terminal.sees(isReady)
    assert.equal(count(terminal.all(), "\n  first line\n"), 1, terminal.all())
  }
})

test("!command that failed says so, and one that only claims it does not", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([])
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables })
  await terminal.sees(isReady)
  terminal.type(`!echo out; false${enter}`)
  await terminal.sees(/▌ ! echo out; false\n {2}out\n {2}✗ exit 1\n/)
  await terminal.sees(isReady)
  terminal.type(`!echo "It ended with exit code 7."${enter}`)
  await terminal.sees(/▌ ! echo "It.*\n {2}It ended with exit code 7\.\n(?! {2}✗)/)
  await terminal.sees(isReady)
  assert.doesNotMatch(terminal.all(), /exit 7/)
})

test("!command that is stopped leaves nothing running on the screen", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([])
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables })
  await terminal.sees(isReady)
  terminal.type(`!echo first line; sleep 600${enter}`)
  await terminal.sees(/^ {2}first line$/m)
  terminal.type(esc)
  await terminal.sees(isReady)
  assert.doesNotMatch(terminal.screen(), /^ {2}first line$/m)
})

test("!command during a turn comes back into the editor, and the reason is said", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: wait }), text("The answer.")])
  await using terminal = await openXterm(tmp, ["--yes"], { env: env(llm, "chat").variables })
  await terminal.sees(/^yes to all · /m)
  terminal.type(`go on${enter}`)
  await terminal.sees("● Run until")
  terminal.type(`!ls${enter}`)
  await terminal.sees(/✗ A turn runs\. Send the command again when it is over.*^> !ls$/ms)
  tmp.write("go", "")
  await terminal.sees("The answer.")
  await terminal.sees(/^yes to all · /m)
  terminal.type(enter)
  await terminal.sees(/▌ ! ls\n {2}README\.md\n {2}go\n/)
})
