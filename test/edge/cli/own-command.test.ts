// Hints name the command that the person can type: npx says which program it runs.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { chmodSync, cpSync, mkdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { command, vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { openTerminal } from "../../fixture/terminal.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const byNpx = { npm_command: "exec", npm_lifecycle_script: "'vitamin'" }
/** Commands in a text that are named without `npx`. */
const bare =
  /(?<!npx |\/)\bvitamin (?=run|serve|doctor|session|auth|trust|models|permission|mcp|skill|agent|tool|config|-)/

test("npx vitamin names itself as npx vitamin in its hints", async () => {
  await using tmp = await tmpdir()
  tmp.write("package.json", "{}")
  mkdirSync(join(tmp.path, "node_modules/.bin"), { recursive: true })
  chmodSync(command, 0o755)
  symlinkSync(command, join(tmp.path, "node_modules/.bin/vitamin"))
  const quiet = { ...tmp.env, npm_config_offline: "true", npm_config_update_notifier: "false" }
  const out = execFileSync("npx", ["vitamin"], { cwd: tmp.path, env: quiet, encoding: "utf8" })
  // For the checkout itself, npx puts a link into its cache.
  const checkout = join(dirname(command), "..")
  assert.equal(execFileSync("npx", ["vitamin"], { cwd: checkout, env: quiet, encoding: "utf8" }), out)
  assert.match(out, /^ {2}npx vitamin run "fix the login bug" {4,}run a prompt/m)
  assert.match(out, /All commands: npx vitamin --help/)
  assert.doesNotMatch(out, bare)
})

for (const args of [
  ["--help"],
  ["run", "--help"],
  ["run", "--modle", "x", "y"],
  ["sesion", "list"],
  ["doctor"],
  ["auth", "list"],
  ["mcp", "list"],
  ["session", "show"],
  ["session", "show", "sess_x"],
  ["run", "--model", "openai/gpt-5", "hello"],
  ["run", "--model", "nobody/nothing", "hello"],
  ["run", "what can you do?"],
  ["permission", "remove"],
])
  test(`vitamin ${args.join(" ")} names itself as vitamin, without npx`, async () => {
    await using tmp = await tmpdir({ git: true })
    const { out, err } = await vitamin(tmp, args, byNpx)
    assert.doesNotMatch(out + err, bare)
    const usual = await vitamin(tmp, args, { npm_command: "exec", npm_lifecycle_script: "node --test" })
    assert.doesNotMatch(usual.out + usual.err, /npx vitamin/)
  })

test("the closing line and a question name npx vitamin", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "x\n" }), text("done")])
  const variables = { ...env(llm, "chat").variables, ...byNpx }
  await using terminal = openTerminal(tmp, ["run", "go"], { env: variables })
  await terminal.sees(/\[r\]eject/)
  terminal.type("?\n")
  await terminal.sees(/npx vitamin permission remove/)
  terminal.type("o\n")
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.match(terminal.shown(), /undo: npx vitamin session\s+revert sess_\w+ · continue:\s+npx vitamin -c/)
  assert.doesNotMatch(terminal.shown(), bare)
})

test("a package that npx has fetched is named in full, because npm has another package vitamin", async () => {
  await using tmp = await tmpdir()
  const folder = join(tmp.path, "_npx/1/node_modules/@vitamin-agent/vitamin/dist")
  cpSync(dirname(command), folder, { recursive: true })
  const out = execFileSync(process.execPath, [join(folder, "vitamin.js")], {
    env: { ...tmp.env, ...byNpx },
    encoding: "utf8",
  })
  assert.match(out, /All commands: npx @vitamin-agent\/vitamin --help/)
})
