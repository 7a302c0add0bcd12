// The options of the command `vitamin acp`. Its protocol is tested in edge/acp.
import assert from "node:assert/strict"
import { test } from "node:test"
import { run } from "../../../fixture/child.ts"
import { command, vitamin } from "../../../fixture/cli.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

test("vitamin acp --login, run by an editor in a terminal, stores a key without echoing it", async () => {
  await using tmp = await tmpdir()
  const key = "sk-typed-0123456789"
  await using terminal = openTerminal(tmp, ["acp", "--login"])
  await terminal.sees(/Provider \(/)
  terminal.type("openai\r")
  await terminal.sees(/Key for openai: /)
  terminal.type(`${key}\r`)
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.match(terminal.shown(), /Stored the key for openai\./)
  assert.ok(!terminal.shown().includes(key))
  const { out } = await vitamin(tmp, ["auth", "list"])
  assert.match(out, /openai\s+login/)
})

test("vitamin acp --login without a terminal says what to do", async () => {
  await using tmp = await tmpdir()
  const { code, err } = await vitamin(tmp, ["acp", "--login"])
  assert.equal(code, 2)
  assert.match(err, /vitamin auth login/)
})

for (const [args, reason] of [
  [["--allow", "nonsense:::"], /--allow/],
  [["--deny", ""], /--deny/],
  [["--what"], /Unknown option: --what/],
] as const)
  test(`vitamin acp ${args.join(" ")} is refused before anything is served`, async () => {
    await using tmp = await tmpdir()
    const { code, out, err } = await vitamin(tmp, ["acp", ...args])
    assert.deepEqual([code, out], [2, ""])
    assert.match(err, reason)
  })

test("a client that disconnects at once causes no error output", async () => {
  await using tmp = await tmpdir()
  const { code, out, err } = await vitamin(tmp, ["acp"])
  assert.deepEqual([code, out, err], [0, "", ""])
})

test("vitamin acp in a removed folder fails with one line", async () => {
  await using tmp = await tmpdir()
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
  const args = ["-c", script, "sh", process.execPath, command, "acp"]
  await using child = run("sh", args, { cwd: tmp.path, env: tmp.env })
  child.process.stdin?.end()
  assert.equal(await child.exit, 1)
  assert.deepEqual([child.lines, child.errors().trim().split("\n").length], [[], 1])
  assert.match(child.errors(), /^vitamin: the current folder has been removed\./)
})
