// `vitamin` without a command, and sessions named by a prefix or not at all.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { statSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { commandNames } from "#edge/cli/main.ts"
import { command, vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { openTerminal } from "../../fixture/terminal.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

test("commandNames are the commands that vitamin --help lists", async () => {
  await using tmp = await tmpdir()
  const { out } = await vitamin(tmp, ["--help"])
  const listed = [...out.matchAll(/^ {2}vitamin (\w+)/gm)].map(([, name]) => name)
  assert.deepEqual([...new Set(listed)].sort(), [...commandNames].sort())
})

for (const args of [
  ["fix the bug"],
  ["fix", "the", "bug"],
  ["add", "fix the bug"],
  ["-p", "fix the bug"],
  ["--print", "fix the bug"],
  ["-y", "fix the bug"],
  ["--model", "openai/fake-model", "fix the bug"],
  ["-m", "openai/fake-model", "-p", "fix the bug"],
  ["--log-level", "warn", "fix the bug"],
  ["run", "--", "fix the bug"],
  ["--", "fix the bug"],
])
  test(`vitamin ${args.join(" ")} means run`, async () => {
    await using tmp = await tmpdir()
    await using llm = await fakeLlm([text("fixed")])
    const { code, out, err } = await vitamin(tmp, args, env(llm, "chat").variables)
    assert.equal(code, 0, err)
    assert.equal(out, "fixed")
    assert.match(JSON.stringify(llm.requests[0]!.body), /fix the bug"/)
  })

test("vitamin -c continues the newest session of this work tree, not one of another clone", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("here"), text("there"), text("again")])
  const { variables } = env(llm, "chat")
  await vitamin(tmp, ["first here"], variables)
  tmp.git("clone", "-q", ".", "../clone")
  await vitamin(tmp, ["--dir", "../clone", "then there"], variables)
  const { code, err } = await vitamin(tmp, ["-c", "go on"], variables)
  assert.equal(code, 0, err)
  const sent = JSON.stringify(llm.requests[2]!.body)
  assert.match(sent, /first here/)
  assert.doesNotMatch(sent, /then there/)
  const listed = (await vitamin(tmp, ["session", "list"])).out
  assert.match(listed, /\/clone +- +then there$/m)
})

test("session commands take a unique prefix, or nothing for the newest session", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    text("one"),
    call("write", { path: "a.txt", content: "x\n" }),
    text("two"),
  ])
  const { variables } = env(llm, "chat")
  await vitamin(tmp, ["run", "first prompt"], variables)
  await vitamin(tmp, ["run", "--yes", "second prompt"], variables)
  const sessions = JSON.parse((await vitamin(tmp, ["session", "list", "--format", "json"])).out)
  const [newer, older] = sessions as { id: string }[]
  assert.match((await vitamin(tmp, ["session", "show"])).out, /second prompt/)
  assert.match((await vitamin(tmp, ["session", "diff"])).out, /^\+x$/m)
  const [prefix] = (await vitamin(tmp, ["session", "list"])).out.split("\n")[1]!.split(" ")
  assert.ok(prefix!.length < older!.id.length)
  assert.match((await vitamin(tmp, ["session", "show", prefix!])).out, /first prompt/)
  assert.match((await vitamin(tmp, ["session", "show", prefix!.slice("sess_".length)])).out, /first prompt/)
  const unclear = await vitamin(tmp, ["session", "show", "sess_0"])
  assert.equal(unclear.code, 2)
  assert.match(unclear.err, /"sess_0" fits 2 sessions: .+ Name one of them\./)
  assert.match((await vitamin(tmp, ["session", "show", "sess_zz"])).err, /Session sess_zz does not exist/)
  assert.equal((await vitamin(tmp, ["session", "mode", "plan"])).out, `${newer!.id}: plan`)
  assert.equal((await vitamin(tmp, ["session", "mode", prefix!, "plan"])).out, `${older!.id}: plan`)
  assert.equal((await vitamin(tmp, ["session", "branch", "try"])).out, `${older!.id}: try`)
  assert.match((await vitamin(tmp, ["session", "branch"])).out, /^\* try/m)
  assert.equal((await vitamin(tmp, ["session", "remove"])).code, 2)
})

test("vitamin run without a prompt asks for one in a terminal", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("done it")])
  await using terminal = openTerminal(tmp, ["run"], { env: env(llm, "chat").variables })
  await terminal.sees(/What should I do\? /)
  terminal.type("fix the bug\r")
  await terminal.sees(/done it/)
  assert.equal(await terminal.exit, 0)
  assert.match(JSON.stringify(llm.requests[0]!.body), /"fix the bug"/)
})

test("vitamin acp in a terminal says that an editor starts it", async () => {
  await using tmp = await tmpdir()
  await using terminal = openTerminal(tmp, ["acp"])
  assert.equal(await terminal.exit, 2)
  assert.match(terminal.shown(), /An editor starts this command/)
})

test("npx vitamin in a checkout does not build again", async () => {
  await using tmp = await tmpdir()
  const built = statSync(command).mtimeMs
  // A new npx cache: npm installs the checkout into it and runs its prepare script.
  const npx = promisify(execFile)("npx", ["--cache", join(tmp.path, "cache"), "vitamin", "--version"], {
    cwd: root,
  })
  assert.match((await npx).stdout, /^\d+\.\d+\.\d+$/m)
  assert.equal(statSync(command).mtimeMs, built)
})

test("vitamin help shows help, also for a command; with other words it is a prompt", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("gladly")])
  const [all, one] = [await vitamin(tmp, ["help"]), await vitamin(tmp, ["help", "session"])]
  assert.deepEqual([all.out, all.code], [(await vitamin(tmp, ["--help"])).out, 0])
  assert.deepEqual([one.out, one.code], [(await vitamin(tmp, ["session", "--help"])).out, 0])
  const misspelt = await vitamin(tmp, ["hlep"])
  assert.deepEqual([misspelt.code, /Did you mean: vitamin help\?/.test(misspelt.err)], [2, true])
  const { variables } = env(llm, "chat")
  assert.equal((await vitamin(tmp, ["help", "me", "now"], variables)).out, "gladly")
  for (const words of [
    ["please", "help"],
    ["run", "please", "help"],
  ]) {
    llm.push(text("surely"))
    assert.equal((await vitamin(tmp, words, variables)).out, "surely")
    assert.match(JSON.stringify(llm.requests.at(-1)!.body), /"please help"/)
  }
  assert.deepEqual(await vitamin(tmp, ["run", "help"]), await vitamin(tmp, ["run", "--help"]))
})

test("a misspelt option is refused with the right one, and auth login asks for keys of known providers only", async () => {
  await using tmp = await tmpdir()
  const { code, err } = await vitamin(tmp, ["run", "--contniue", "hi"])
  assert.deepEqual(
    [code, err],
    [2, "vitamin: Unknown option: --contniue. Did you mean --continue? (vitamin run --help)\n"],
  )
  await using terminal = openTerminal(tmp, ["auth", "login", "antropic"])
  assert.equal(await terminal.exit, 1)
  assert.match(terminal.shown(), /Did you mean "anthropic"\?/)
  assert.doesNotMatch(terminal.shown(), /Key for/)
})

for (const [args, meant] of [
  [["--resume", "hi"], "--resume. Did you mean --continue (the newest session) or --session ID?"],
  [["-r", "hi"], "-r. Did you mean --continue (the newest session) or --session ID?"],
  [["run", "--output-format", "json", "hi"], "--output-format. Did you mean --format json?"],
  [["run", "--max-stpes", "3", "hi"], "--max-stpes. Did you mean --max-steps?"],
] as const)
  test(`vitamin ${args.join(" ")} names the option that does the same here`, async () => {
    await using tmp = await tmpdir()
    const { code, err } = await vitamin(tmp, [...args])
    assert.deepEqual([code, err], [2, `vitamin: Unknown option: ${meant} (vitamin run --help)\n`])
  })

test("hello and test are prompts; a command with one wrong letter is refused", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("hi"), text("tested")])
  const { variables } = env(llm, "chat")
  assert.equal((await vitamin(tmp, ["hello"], variables)).out, "hi")
  assert.equal((await vitamin(tmp, ["test"], variables)).out, "tested")
  for (const [word, meant] of [
    ["serva", "serve"],
    ["permisions", "permission"],
    ["docter", "doctor"],
  ]) {
    const { code, err } = await vitamin(tmp, [word!], variables)
    assert.deepEqual([code, err.includes(`Did you mean: vitamin ${meant}?`)], [2, true], err)
  }
})

for (const [word, meant] of [
  ["undo", "vitamin session revert"],
  ["revert", "vitamin session revert"],
  ["diff", "vitamin session diff"],
  ["resume", 'vitamin -c "…"'],
  ["continue", 'vitamin -c "…"'],
  ["history", "vitamin session list"],
  ["login", "vitamin auth login PROVIDER"],
  ["logout", "vitamin auth logout PROVIDER"],
  ["logn", "vitamin auth login PROVIDER"],
  ["version", "vitamin --version"],
] as const)
  test(`vitamin ${word} is refused and names the command`, async () => {
    await using tmp = await tmpdir()
    const { code, out, err } = await vitamin(tmp, [word])
    const expected = `vitamin: "${word}" is not a command. Did you mean: ${meant}? To send it as a prompt: vitamin run "${word}"\n`
    assert.deepEqual([code, out, err], [2, "", expected])
  })

for (const words of [
  ["undo", "the", "last", "change"],
  ["login fails"],
  ["run", "undo"],
  ["continue", "-c"],
  ["undo", "--session=sess_0"],
  ["logic"],
  ["commit"],
])
  test(`vitamin ${words.join(" ")} is a prompt`, async () => {
    await using tmp = await tmpdir()
    await using llm = await fakeLlm([text("first"), text("second")])
    const { variables } = env(llm, "chat")
    assert.equal((await vitamin(tmp, ["hi"], variables)).out, "first")
    assert.equal((await vitamin(tmp, words, variables)).out, "second")
  })
