// Plugins through the command: added from a folder, shown, used and removed, and what changes after the review.
import assert from "node:assert/strict"
import { chmodSync, existsSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { beside, demo, lockOf, writeFiles } from "./harness.ts"

test("a plugin of a folder is shown, installed by content, and used until it is removed", async () => {
  await using tmp = await tmpdir({ git: true })
  const source = beside(tmp, "demo-source")
  writeFiles(source, demo)
  const unasked = await vitamin(tmp, ["plugin", "add", source])
  assert.equal(unasked.code, 2)
  assert.match(unasked.err, /Nothing was installed: nobody can be asked here/)
  assert.match(
    unasked.out,
    /commands +commands\/hello\.md: \/demo:hello; runs cat .*; allows bash\.execute:cat/,
  )
  assert.equal(existsSync(join(tmp.env.XDG_CONFIG_HOME!, "vitamin/plugins.lock.json")), false)

  const added = await vitamin(tmp, ["plugin", "add", "../demo-source", "--yes"])
  assert.equal(added.code, 0, added.err)
  assert.match(added.out, /Installed: demo 1\.0\.0 \(sha256 [0-9a-f]{16}\)/)
  await using llm = await fakeLlm(() => text("ok"))
  const { variables } = env(llm, "chat")
  const run = async (...args: string[]) => {
    const ran = await vitamin(tmp, ["run", ...args], variables)
    assert.equal(ran.code, 0, ran.err)
    return llm.requests.at(-1)!
  }
  assert.match((await run("/demo:hello Ann")).raw, /Hello Ann from DATA-1/)
  assert.match((await run("/demo:notes for 2.0")).raw, /Use the word AHOY/)
  assert.match((await run("--agent", "demo:reviewer", "hi")).raw, /You are the DEMO reviewer/)

  // A changed source changes nothing before an update.
  writeFiles(source, {
    "data.txt": "DATA-2\n",
    ".claude-plugin/plugin.json": JSON.stringify({ name: "demo", version: "2.0.0" }),
  })
  assert.match((await run("/demo:hello Bo")).raw, /Hello Bo from DATA-1/)
  const updated = await vitamin(tmp, ["plugin", "update", "--yes"])
  assert.match(
    updated.out,
    /Installed: 1\.0\.0 .*2 files changed[\s\S]*changed +data\.txt +sha256:\w+ +\+1 -1[\s\S]*Installed: demo 2\.0\.0/,
  )
  assert.match((await run("/demo:hello Bo")).raw, /Hello Bo from DATA-2/)
  assert.match((await vitamin(tmp, ["plugin", "update"])).out, /demo 2\.0\.0 is up to date/)
  assert.match(
    (await vitamin(tmp, ["plugin", "list"])).out,
    /^demo 2\.0\.0 .*demo-source +\(commands, agents, skills\)$/m,
  )

  const removed = await vitamin(tmp, ["plugin", "remove", "demo"])
  assert.deepEqual([removed.code, removed.out], [0, "Removed: demo 2.0.0"])
  assert.deepEqual(readdirSync(join(tmp.env.XDG_DATA_HOME!, "vitamin/plugins")), [])
  assert.equal((await vitamin(tmp, ["run", "/demo:hello Ann"], variables)).code, 2)
  assert.match((await vitamin(tmp, ["plugin", "remove", "demo"])).err, /There is no plugin "demo"/)
})

test("a copy that was changed after the review is not used", async () => {
  await using tmp = await tmpdir({ git: true })
  writeFiles(beside(tmp, "s"), demo)
  assert.equal((await vitamin(tmp, ["plugin", "add", "../s", "--yes"])).code, 0)
  const root = join(tmp.env.XDG_DATA_HOME!, "vitamin/plugins", lockOf(tmp).plugins[0]!.content)
  for (const path of ["commands/hello.md", "skills/notes/SKILL.md", "agents/reviewer.md"]) {
    chmodSync(join(root, path), 0o600)
    writeFileSync(join(root, path), demo[path]!.replace(/Hello|AHOY|DEMO/, "EVIL"))
  }
  assert.match((await vitamin(tmp, ["plugin", "list"])).out, /! its files are not as they were installed/)
  await using llm = await fakeLlm(() => text("ok"))
  const { variables } = env(llm, "chat")
  for (const args of [["/demo:hello Ann"], ["/demo:notes"], ["--agent", "demo:reviewer", "hi"]]) {
    const { code, err } = await vitamin(tmp, ["run", ...args], variables)
    assert.notEqual(code, 0)
    assert.match(err, /There is no command|does not exist/)
  }
  assert.match(
    (await vitamin(tmp, ["command", "list"])).out,
    /hello\.md: it is not used: it is not as it was/,
  )
  assert.equal(llm.requests.length, 0)
})

test("two vitamin plugin add at once both keep their entry", async () => {
  await using tmp = await tmpdir()
  const names = ["one", "two", "three", "four"]
  for (const name of names)
    writeFiles(beside(tmp, name), { ...demo, ".claude-plugin/plugin.json": JSON.stringify({ name }) })
  const added = await Promise.all(names.map((name) => vitamin(tmp, ["plugin", "add", `../${name}`, "--yes"])))
  for (const { code, err } of added) assert.equal(code, 0, err)
  assert.deepEqual(
    lockOf(tmp)
      .plugins.map(({ name }) => name)
      .sort(),
    names.toSorted(),
  )
  const listed = await vitamin(tmp, ["plugin", "list"])
  assert.doesNotMatch(listed.out, /not as they were installed/)
})

test("a change of the executable bit is shown, and needs a review again", async () => {
  await using tmp = await tmpdir()
  writeFiles(beside(tmp, "demo"), demo)
  const program = beside(tmp, "demo/data.txt")
  assert.equal((await vitamin(tmp, ["plugin", "add", "../demo", "--yes"])).code, 0)
  const before = lockOf(tmp).plugins[0]!.content
  chmodSync(program, 0o755)
  const refused = await vitamin(tmp, ["plugin", "update"])
  assert.equal(refused.code, 2)
  assert.equal(lockOf(tmp).plugins[0]!.content, before)
  const updated = await vitamin(tmp, ["plugin", "update", "--yes"])
  assert.match(updated.out, /programs +data\.txt[\s\S]*changed +data\.txt \(now executable\)/)
  assert.notEqual(lockOf(tmp).plugins[0]!.content, before)
  const copy = join(tmp.env.XDG_DATA_HOME!, "vitamin/plugins", lockOf(tmp).plugins[0]!.content)
  chmodSync(join(copy, "data.txt"), 0o400)
  assert.match((await vitamin(tmp, ["plugin", "list"])).out, /its files are not as they were installed/)
})

test("vitamin plugin add in a terminal shows every file before it asks, and no means nothing", async () => {
  await using tmp = await tmpdir()
  const hook = '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch STOPPED"}]}]}}'
  writeFiles(beside(tmp, "demo"), { ...demo, "hooks/hooks.json": hook })
  const question = /\[y\]es, \[n\]o, \[a\]ll/
  {
    await using terminal = openTerminal(tmp, ["plugin", "add", "../demo"])
    await terminal.sees(question)
    assert.match(terminal.shown(), /commands\/hello\.md: \/demo:hello[\s\S]*runs cat/)
    assert.match(terminal.shown(), /hooks\/hooks\.json: Stop runs touch STOPPED/)
    assert.match(terminal.shown(), /1 of 6: [\s\S]*plugin\.json[\s\S]*"name":"demo"/)
    terminal.type("n\n")
    await terminal.sees(question, 2)
    terminal.type("q\n")
    assert.equal(await terminal.exit, 0)
    assert.match(terminal.shown(), /Nothing was installed: a plugin is trusted as a whole/)
    assert.equal(existsSync(join(tmp.env.XDG_CONFIG_HOME!, "vitamin/plugins.lock.json")), false)
  }
  await using terminal = openTerminal(tmp, ["plugin", "add", "../demo"])
  await terminal.sees(question)
  terminal.type("a\n")
  await terminal.sees(/Accept these 6 files/)
  for (const content of [/You are the DEMO reviewer/, /DATA-1/, /touch STOPPED/, /Use the word AHOY/])
    assert.match(terminal.shown(), content)
  assert.equal(existsSync(join(tmp.env.XDG_CONFIG_HOME!, "vitamin/plugins.lock.json")), false)
  terminal.type("y\n")
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.equal(lockOf(tmp).plugins[0]!.name, "demo")
})
