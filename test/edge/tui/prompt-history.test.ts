// The file of earlier prompts.
import assert from "node:assert/strict"
import { linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm } from "../../fixture/xterm.ts"

test("a history that is too long is replaced as a whole, and keys never reach it", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([])
  const folder = join(tmp.env.XDG_STATE_HOME!, "vitamin")
  const [file, before] = [join(folder, "prompts.jsonl"), join(tmp.path, "before")]
  mkdirSync(folder, { recursive: true })
  const whole = Array.from({ length: 2_500 }, (_, i) => `"prompt ${i}"\n`).join("")
  writeFileSync(file, whole)
  // A file that is written in place changes under its second name too.
  linkSync(file, before)
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables })
  await terminal.sees(/^ask · /m)
  await until(() => readFileSync(file, "utf8").split("\n").length === 1_001, "the shorter file")
  assert.equal(readFileSync(before, "utf8"), whole)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  terminal.type("/logn sk-0123456789\r")
  await terminal.sees("did you mean /login?")
  terminal.type("\u0003/keys\r")
  await until(() => readFileSync(file, "utf8").includes("/keys"), "the next entry")
  assert.doesNotMatch(readFileSync(file, "utf8"), /sk-0123/)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith("prompts.jsonl")),
    ["prompts.jsonl"],
  )
})

test("Ctrl-R finds a prompt of an earlier session, which can be changed, undone, cut and put back", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("First."), text("Second."), text("Third.")])
  const { variables } = env(llm, "chat")
  {
    await using terminal = await openXterm(tmp, [], { env: variables })
    await terminal.sees(/^ask · /m)
    terminal.type("where is the port?\r")
    await terminal.sees(/First\..*^ask · /ms)
    terminal.type("thanks\r")
    await terminal.sees(/Second\..*^ask · /ms)
    terminal.type("\u0004")
    assert.equal(await terminal.exit, 0)
  }
  await using terminal = await openXterm(tmp, [], { env: variables })
  await terminal.sees(/^ask · /m)
  terminal.type("\u0012por")
  await terminal.sees(/^search: por\nwhere is the port\?$/m)
  terminal.type("\r")
  await terminal.sees(/^> where is the port\?$/m)
  terminal.type("\u0017host?")
  await terminal.sees(/^> where is the host\?$/m)
  terminal.type("\u001f")
  await terminal.sees(/^> where is the *$/m)
  terminal.type("\u0019")
  await terminal.sees(/^> where is the port\?$/m)
  terminal.type("\r")
  await terminal.sees("Third.")
  assert.match(JSON.stringify(llm.requests[2]!.body), /where is the port\?/)
})
