// The folder in which the next command of a session starts, and how the model is told about it.
import assert from "node:assert/strict"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { inWorld, resultsOf } from "../../engine/session/harness.ts"
import { call, text } from "../../fixture/fake-llm.ts"

test("only the first command after its folder was removed gets a note", async () => {
  const script = [
    call("bash", { command: "mkdir sub && cd sub" }),
    text("one"),
    call("bash", { command: "pwd" }),
    call("bash", { command: "pwd" }),
    text("two"),
  ]
  await inWorld(script, async ({ ask, messages, tmp }) => {
    await ask("make it", { asks: "once" })
    rmSync(join(tmp.path, "sub"), { recursive: true })
    await ask("and again", { asks: "once" })
    const [, removed, after] = resultsOf(await messages()).map(({ output }) => String(output))
    assert.match(removed!, /sub is gone; the working directory is /)
    assert.doesNotMatch(after!, /is gone/)
  })
})
