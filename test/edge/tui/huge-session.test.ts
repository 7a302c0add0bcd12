// Opening a session with more text than anybody reads again.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { openXterm } from "../../fixture/xterm.ts"

const isReady = /^ask · /m

test("of a huge session the end is shown, and how much is left out and how to see it", async () => {
  await using tmp = await tmpdir({ git: true })
  const lines = Array.from({ length: 40_000 }, (_, i) => `Line ${i} of a long answer, which is a list.`)
  const answers = [...Array.from({ length: 9 }, () => lines.slice(0, 900).join("\n\n")), lines.join("\n\n")]
  await using llm = await fakeLlm(answers.map((answer) => text(`${answer}\n\nThe end.`)))
  const { variables } = env(llm, "chat")
  for (const place of answers.keys()) {
    const { code, err } = await vitamin(tmp, ["run", ...(place ? ["-c"] : []), `prompt ${place}`], variables)
    assert.equal(code, 0, err)
  }
  await using terminal = await openXterm(tmp, ["-c"], { env: variables })
  await terminal.sees(/The end\.\n\n>/)
  await terminal.sees(isReady)
  const all = terminal.all()
  assert.match(all, /… only the last \d+ messages are shown; \/export writes all/)
  assert.match(all, /\d{7} characters of the answer are not shown; \/export writes the whole session/)
  assert.match(all, /▌ prompt 9/)
  assert.ok(!all.includes("▌ prompt 1\n"), "an early prompt is shown")
  assert.ok(terminal.bytes().length < 500_000, String(terminal.bytes().length))
})
