// The approval preset in the status line is the one that the session has, however fast and whenever it is changed.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { openXterm } from "../../fixture/xterm.ts"

const enter = "\r"
const shiftTab = "\u001b[Z"
const write = call("write", { path: "made.txt", content: "made\n" })

test("Shift-Tab pressed quickly ends in the preset that is shown", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Hello."), write, text("Written.")])
  await using terminal = await openXterm(tmp, ["hi"], { env: env(llm, "chat").variables })
  await terminal.sees(/^ask · /m)
  await terminal.sees("Hello.")
  // Through plan and back to ask.
  terminal.type(shiftTab.repeat(3))
  await terminal.sees(/^ask · /m)
  terminal.type(`write it${enter}`)
  await terminal.sees(/\[y\]es/)
  terminal.type("y")
  await terminal.sees("Written.")
  assert.equal(readFileSync(join(tmp.path, "made.txt"), "utf8"), "made\n")
})

test("a preset that is chosen during a turn holds from the next turn on", async () => {
  await using tmp = await tmpdir({ git: true })
  const wait = call("bash", { command: "until [ -e go ]; do sleep 0.05; done" })
  await using llm = await fakeLlm([wait, text("Waited."), write, text("Tried.")])
  await using terminal = await openXterm(tmp, ["--allow", "bash.execute", "wait"], {
    env: env(llm, "chat").variables,
  })
  await terminal.sees(/● Run until/)
  terminal.type(shiftTab.repeat(2))
  await terminal.sees(/plan from the next turn on · /)
  tmp.write("go", "")
  await terminal.sees("Waited.")
  await terminal.sees(/^plan · /m)
  terminal.type(`write it${enter}`)
  await terminal.sees(/✗ Write made.txt: .*plan mode/s)
  await terminal.sees("Tried.")
  assert.doesNotMatch(terminal.all(), /is busy/)
})
