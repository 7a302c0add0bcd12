// Files attached to `vitamin run`, by @path in the message and by --file, with a loopback model and without one.
import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { startVitamin, vitamin } from "../../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { image } from "../../../fixture/images.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

test("vitamin run sends the files that the message and --file name, and prints what it attached", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("src/app.ts", "one\ntwo\nthree\n")
  tmp.write("a b.txt", "with a space\n")
  await using llm = await fakeLlm([text("I see.")])
  const args = ["run", "--file", "src/app.ts:2-3", "--file", "a b.txt", "Compare with @README.md, mail a@b.c"]
  const { code, out, err } = await vitamin(tmp, args, env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.equal(out, "I see.")
  assert.deepEqual(err.trim().split("\n"), [
    "· attached src/app.ts:2-3",
    "· attached a b.txt",
    "· attached README.md",
  ])
  const [request] = llm.requests
  assert.equal(llm.requests.length, 1)
  assert.match(request!.messages[0]!.text, /^Compare with @README\.md, mail a@b\.c/)
  for (const part of [
    '<file path=\\"src/app.ts:2-3\\">\\n2\\ttwo\\n3\\tthree\\n</file>',
    '<file path=\\"a b.txt\\">\\n1\\twith a space\\n</file>',
    '<file path=\\"README.md\\">\\n1\\t# fixture\\n</file>',
  ])
    assert.ok(request!.raw.includes(part), part)
})

test("vitamin run reports why a file in the message could not be attached, and continues", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("data.bin", Uint8Array.from([0, 1, 2]))
  tmp.write("docs/one.md", "one\n")
  await using llm = await fakeLlm([text("Fine.")])
  const args = ["run", "Look at @data.bin @src/gone.ts @docs/gone @REDME.md @README.md:2-1 @README.md:5-9"]
  const { code, out, err } = await vitamin(tmp, args, env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.equal(out, "Fine.")
  for (const line of [
    /^✗ README\.md:5-9 could not be attached: "README\.md" has 1 lines; startLine 5 is after its end/m,
    /^✗ data\.bin could not be attached: data\.bin is not text/m,
    /^✗ src\/gone\.ts could not be attached: there is no such file\.$/m,
    /^✗ docs\/gone could not be attached: there is no such file\.$/m,
    /^✗ REDME\.md could not be attached: there is no such file\. Did you mean "README\.md"\?$/m,
    /^✗ README\.md:2-1 could not be attached: line 1 is before line 2/m,
  ])
    assert.match(err, line)
  assert.match(llm.requests[0]!.raw, /\[file src\/gone\.ts could not be read: there is no such file\.\]/)
})

for (const [options, reason] of [
  [["--file", "gone.txt"], /--file gone\.txt cannot be attached: "gone\.txt" does not exist/],
  [["--file", "README.md:5-9"], /--file README\.md cannot be attached: .*has 1 lines/],
  [["--file", "data.bin"], /--file data\.bin cannot be attached: data\.bin is not text/],
  [["--file", "."], /--file \.\/? cannot be attached: /],
  [["--file", "../outside.txt"], /--file \.\.\/outside\.txt cannot be attached: /],
  [["--image", "gone.png"], /--image gone\.png cannot be attached: "gone\.png" does not exist/],
  [["--image", "README.md"], /--image README\.md cannot be attached: /],
  [
    ["--image", "note.png", "--deny", "file.read:*.png"],
    /--image note\.png .* denied by the rule "file\.read:\*\.png"/,
  ],
  [
    ["--image", "http://127.0.0.1:9/a.png"],
    /--image http:\/\/127\.0\.0\.1:9\/a\.png cannot be attached: .*--allow "network\.fetch/,
  ],
] as const)
  test(`vitamin run ${options.join(" ")} stops with 2, asks no model and stores no session`, async () => {
    await using tmp = await tmpdir({ git: true })
    tmp.write("data.bin", Uint8Array.from([0, 1, 2]))
    tmp.write("note.png", image("note.png"))
    writeFileSync(join(dirname(tmp.path), "outside.txt"), "outside\n")
    await using llm = await fakeLlm([])
    const { code, err } = await vitamin(tmp, ["run", ...options, "look"], env(llm, "chat").variables)
    assert.equal(code, 2, err)
    assert.match(err, reason)
    assert.equal(llm.requests.length, 0)
    assert.equal((await vitamin(tmp, ["session", "list"])).out, "No session in this project yet.")
  })

test("vitamin run --continue with a missing --file leaves the session as it was", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("one")])
  const { variables } = env(llm, "chat")
  assert.equal((await vitamin(tmp, ["run", "hello"], variables)).code, 0)
  const shown = async () => (await vitamin(tmp, ["session", "show", "--format", "json"])).out
  const before = await shown()
  const { code } = await vitamin(
    tmp,
    ["run", "--continue", "--mode", "plan", "--file", "gone", "x"],
    variables,
  )
  assert.equal(code, 2)
  assert.equal(await shown(), before)
})

test("vitamin run denies a file outside the work tree if nobody can be asked, names the rule, and --allow permits it", async () => {
  await using tmp = await tmpdir({ git: true })
  const file = join(dirname(tmp.path), "outside.txt")
  writeFileSync(file, "from outside\n")
  await using llm = await fakeLlm([text("no"), text("yes"), text("no")])
  const { variables } = env(llm, "chat")
  const denied = await vitamin(tmp, ["run", `look @${file}`], variables)
  assert.equal(denied.code, 3, denied.err)
  assert.match(denied.err, /outside\.txt could not be attached: .* needs a person's permission/)
  assert.match(denied.err, /--allow "file\.read:\S+outside\.txt"/)
  assert.doesNotMatch(llm.requests[0]!.raw, /from outside/)
  const allowed = await vitamin(
    tmp,
    ["run", "--allow", `file.read:${file}`, "--file", file, "look"],
    variables,
  )
  assert.equal(allowed.code, 0, allowed.err)
  assert.match(llm.requests[1]!.raw, /1\\tfrom outside/)
  const rule = await vitamin(tmp, ["run", "--deny", "file.read:README.md", "look @README.md"], variables)
  assert.equal(rule.code, 3, rule.err)
  assert.match(
    rule.err,
    /✗ README\.md could not be attached: .* is denied by the rule "file\.read:README\.md"/,
  )
  assert.doesNotMatch(llm.requests[2]!.raw, /# fixture/)
})

test("vitamin run asks in the terminal before it attaches a file outside the work tree", async () => {
  await using tmp = await tmpdir({ git: true })
  const file = join(dirname(tmp.path), "outside.txt")
  writeFileSync(file, "from outside\n")
  await using llm = await fakeLlm([text("Read it.")])
  await using terminal = openTerminal(tmp, ["run", "--file", file, "look"], {
    env: env(llm, "chat").variables,
  })
  await terminal.sees(/file\.read .*outside\.txt[\s\S]*\[r\]eject/)
  assert.equal(llm.requests.length, 0)
  terminal.type("o\r")
  await terminal.sees(/Read it\./)
  assert.equal(await terminal.exit, 0)
  assert.match(terminal.shown(), /· attached \S+outside\.txt/)
  assert.match(llm.requests[0]!.raw, /from outside/)
})

test("@path in piped text attaches a file only if there is no other message", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("one"), text("two")])
  const { variables } = env(llm, "chat")
  for (const args of [["run", "Summarise:"], ["run"]]) {
    await using child = startVitamin(tmp, args, variables)
    child.process.stdin!.end("see @README.md\n")
    assert.equal(await child.exit, 0, child.errors())
  }
  assert.doesNotMatch(llm.requests[0]!.raw, /# fixture/)
  assert.match(llm.requests[1]!.raw, /# fixture/)
})

test("vitamin run --refresh reads changed attachments again", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.txt", "old\n")
  await using llm = await fakeLlm([text("one"), text("two")])
  const { variables } = env(llm, "chat")
  assert.equal((await vitamin(tmp, ["run", "@a.txt"], variables)).code, 0)
  tmp.write("a.txt", "new\n")
  const { code, err } = await vitamin(tmp, ["run", "--continue", "--refresh", "and now?"], variables)
  assert.equal(code, 0, err)
  assert.match(err, /· attached a\.txt/)
  assert.match(llm.requests[1]!.raw, /1\\tnew/)
  assert.doesNotMatch(llm.requests[1]!.raw, /1\\told/)
})

test("vitamin run --file without a message is a prompt; --file without a name is a usage error", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("ok")])
  const { variables } = env(llm, "chat")
  assert.equal((await vitamin(tmp, ["run", "--file", "README.md"], variables)).code, 0)
  assert.match(llm.requests[0]!.raw, /# fixture/)
  const { code, err } = await vitamin(tmp, ["run", "--file", "", "x"], variables)
  assert.equal(code, 2, err)
  assert.match(err, /--file and --image need a name/)
})

test("vitamin run resolves paths from --dir", async () => {
  await using tmp = await tmpdir({ git: true })
  mkdirSync(join(tmp.path, "other"))
  tmp.write("other/near.txt", "near\n")
  await using llm = await fakeLlm([text("ok")])
  const args = ["run", "--dir", "other", "--file", "near.txt", "look @README.md"]
  const { code, err } = await vitamin(tmp, args, env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(llm.requests[0]!.raw, /1\\tnear[\s\S]*# fixture/)
})

test("without a configured model, the built-in one uses an attached file", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("app.txt", "delete everything\nline two\nline three\n")
  const { code, out, err } = await vitamin(tmp, ["run", "show @app.txt:1-2"])
  assert.equal(code, 0, err)
  assert.match(err, /· attached app\.txt:1-2/)
  assert.match(err, /· Read app\.txt/)
  assert.match(out, /delete everything\n.*line two/)
  assert.doesNotMatch(out, /line three|did not work/)
})
