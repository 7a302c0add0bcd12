// How a prompt in a sandbox ends before its time: an interrupt, a time limit, a guest or a parent that is killed. Nothing is
// left running, calls get a result, and the next prompt works.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { test } from "node:test"
import { running, uniqueNap } from "../../ability/shell/running.ts"
import { startVitamin, vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { guestOf, resultsIn } from "./harness.ts"

/** A run whose model lets a command sleep, once the command runs. */
async function sleeping(tmp: Tmp, variables: Record<string, string>, nap: string, ...args: string[]) {
  const child = startVitamin(tmp, ["run", "--sandbox", ...args, "sleep"], variables)
  child.process.stdin!.end()
  await until(() => running(`sleep ${nap}`).some((line) => /\d sleep/.test(line)))
  return child
}

test("Ctrl-C ends a prompt in the sandbox, and its call is interrupted", async () => {
  await using tmp = await tmpdir({ git: true })
  const nap = uniqueNap()
  await using llm = await fakeLlm([call("bash", { command: `sleep ${nap}` }), text("Again.")])
  const { variables } = env(llm, "chat")
  await using child = await sleeping(tmp, variables, nap)
  child.process.kill("SIGINT")
  assert.equal(await child.exit, 130, child.errors())
  assert.deepEqual(running(nap), [])
  const { code, err } = await vitamin(tmp, ["run", "--sandbox", "-c", "go on"], variables)
  assert.equal(code, 0, err)
  assert.match(resultsIn(llm)[0]!, /interrupted/)
})

test("a prompt that takes longer than the limit of the sandbox is interrupted", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(
    "../config/vitamin/vitamin.jsonc",
    '{ "adapters": { "sandbox": { "limits": { "timeout": 3000 } } } }',
  )
  const nap = uniqueNap()
  await using llm = await fakeLlm([call("bash", { command: `sleep ${nap}` })])
  const { code, err } = await vitamin(tmp, ["run", "--sandbox", "sleep"], env(llm, "chat").variables)
  assert.equal(code, 1)
  assert.match(
    err,
    /was interrupted: its time was up \(3 s, the limit of the sandbox; --timeout sets another\)/,
  )
  assert.deepEqual(running(nap), [])
})

test("kill -9 of the guest ends its prompt with a clear error, and the next prompt starts a new guest", async () => {
  await using tmp = await tmpdir({ git: true })
  const nap = uniqueNap()
  await using llm = await fakeLlm([call("bash", { command: `sleep ${nap}` }), text("Again.")])
  const { variables } = env(llm, "chat")
  await using child = await sleeping(tmp, variables, nap)
  process.kill(guestOf(child.process.pid!), "SIGKILL")
  assert.equal(await child.exit, 1)
  assert.match(
    child.errors(),
    /The process in the sandbox ended in the middle of the prompt .*The next prompt/,
  )
  assert.deepEqual(running(nap), [])
  const { code, err } = await vitamin(tmp, ["run", "--sandbox", "-c", "go on"], variables)
  assert.equal(code, 0, err)
  assert.match(resultsIn(llm)[0]!, /interrupted/)
})

test("kill -9 of the parent leaves nothing of the sandbox running", async () => {
  await using tmp = await tmpdir({ git: true })
  const nap = uniqueNap()
  await using llm = await fakeLlm([call("bash", { command: `sleep ${nap}` })])
  await using child = await sleeping(tmp, env(llm, "chat").variables, nap)
  const guest = guestOf(child.process.pid!)
  child.process.kill("SIGKILL")
  await child.exit
  await until(() => running(nap).length === 0)
  await until(() => !existsSync(`/proc/${guest}`), "the guest is gone")
})

test("a command that uses more memory than the sandbox has is ended, not the machine", async () => {
  await using tmp = await tmpdir({ git: true })
  const eat = "node -e 'const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1))'"
  await using llm = await fakeLlm([call("bash", { command: eat }), text("Done.")])
  const { err } = await vitamin(tmp, ["run", "--sandbox", "eat"], env(llm, "chat").variables)
  const said = llm.requests.length > 1 ? resultsIn(llm)[0]! : err
  assert.match(said, /memory|Killed|SIGKILL|SIGABRT|exit code|signal/i)
})
