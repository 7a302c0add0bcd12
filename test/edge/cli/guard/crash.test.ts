// A process that is killed: the next one finds the guards where they were.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { startVitamin, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, type Reply, type Request, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"

const guards = {
  tests: {
    when: "write.done",
    block: "answer",
    until: "bash.done:true",
    because: "the tests have not passed",
  },
}
const write = call("write", { path: "a.txt", content: "x\n" })
const wait = call("bash", { command: "touch waiting; sleep 20" })

/** Runs a script until its command waits, kills the process, and continues the session with the rest of the script. */
async function killAndContinue(script: (Reply | ((request: Request) => Reply))[]): Promise<string> {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(script)
  const variables = { ...env(llm, "chat").variables, VITAMIN_CONFIG: JSON.stringify({ guards }) }
  {
    await using child = startVitamin(tmp, ["run", "--yes", "go"], variables)
    await until(() => existsSync(join(tmp.path, "waiting")))
    child.process.kill("SIGKILL")
    await child.exit
  }
  const { code, out, err } = await vitamin(tmp, ["run", "--yes", "--continue", "go on"], variables)
  assert.equal(code, 0, err)
  assert.match(out, /finished$/)
  return err
}

test("after kill -9 the answer is still held back until the tests pass", async () => {
  const rest = [text("not yet"), call("bash", { command: "true" }), text("finished")]
  const err = await killAndContinue([write, wait, ...rest])
  assert.equal(err.match(/guard "tests" held back the answer/g)?.length, 1)
})

test("after kill -9 in a task, what the task has written counts for its parent", async () => {
  const rest = [text("not yet"), call("bash", { command: "true" }), text("finished")]
  const err = await killAndContinue([call("subtask", { task: "edit" }), write, wait, ...rest])
  assert.equal(err.match(/guard "tests" held back the answer/g)?.length, 1)
})

test("after kill -9 a guard that was satisfied stays so", async () => {
  const err = await killAndContinue([write, call("bash", { command: "true" }), wait, text("finished")])
  assert.doesNotMatch(err, /held back/)
})
