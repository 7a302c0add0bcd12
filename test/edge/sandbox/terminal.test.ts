// `vitamin --sandbox`: the interactive terminal with its agent inside, and the preset "sandboxed".

import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { openXterm } from "../../fixture/xterm.ts"
import { resultsIn } from "./harness.ts"

const enter = "\r"
const shiftTab = "\u001b[Z"
const write = (path: string) => call("write", { path, content: "made\n" })

test("the terminal works inside without questions, and Shift-Tab brings them back", async () => {
  await using tmp = await tmpdir({ git: true })
  const where = call("bash", { command: "cat /proc/1/comm" })
  await using llm = await fakeLlm([
    where,
    write("one.txt"),
    text("First."),
    write("two.txt"),
    text("Second."),
  ])
  await using terminal = await openXterm(tmp, ["--sandbox", "go"], { env: env(llm, "chat").variables })
  await terminal.sees(/^sandboxed · /m)
  await terminal.sees("First.")
  assert.match(resultsIn(llm)[0]!, /^bwrap/)
  assert.ok(existsSync(join(tmp.path, "one.txt")))
  terminal.type(shiftTab)
  await terminal.sees(/^ask · /m)
  terminal.type(`again${enter}`)
  await terminal.sees(/\[y\]es/)
  terminal.type("y")
  await terminal.sees("Second.")
  assert.ok(existsSync(join(tmp.path, "two.txt")))
})
