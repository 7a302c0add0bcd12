// The output of a run in a terminal and in a pipe.
import assert from "node:assert/strict"
import { test } from "node:test"
import { stripVTControlCharacters } from "node:util"
import { startVitamin, vitamin } from "../../../fixture/cli.ts"
import { call, calls, cut, env, fakeLlm, stall, status, text } from "../../../fixture/fake-llm.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const command = "printf 'step 1\\nstep 2 \\033[31mred\\n'; until [ -e go ]; do sleep 0.02; done; echo last"

test("a terminal shows the last line of a running command, and erases it when the command ends", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command }), text("done")])
  await using terminal = openTerminal(tmp, ["run", "--yes", "go"], { env: env(llm, "chat").variables })
  let raw = ""
  terminal.child.process.stdout!.on("data", (piece: string) => {
    raw += piece
  })
  await terminal.sees(/openai\/fake-model · step 2 · \d+ s · 110 tokens · step 2 red/)
  assert.doesNotMatch(terminal.shown(), /step 1/)
  tmp.write("go", "")
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.match(raw, /step 2 red[^\n]*\r\u001b\[K\S*·\S* \S*Run/)
  assert.match(terminal.shown(), /\ndone\nsess_\w{10} · 1 file changed · 220 tokens · \d+ s · undo: .+\n$/)
})

test("a pipe gets no status line", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("go", "")
  await using llm = await fakeLlm([call("bash", { command }), text("done")])
  const { err, out } = await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)
  assert.equal(out, "done")
  assert.match(err, /^· Run [^\n]*\n$/)
})

test("control characters of a model are escaped in a terminal, and unchanged in a pipe", async () => {
  const words = "a\u001b]52;c;eA==\u0007b\n\tc\u009b2J"
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text(words), text(words)])
  const { variables } = env(llm, "chat")
  await using terminal = openTerminal(tmp, ["run", "go"], { env: variables })
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.match(terminal.shown(), /a\\u001b\]52;c;eA==\\u0007b\n[\t ]+c\\u009b2J/)
  assert.equal((await vitamin(tmp, ["run", "go"], variables)).out, words)
})

test("the line of a call is printed before the model's text about it", async () => {
  await using tmp = await tmpdir({ git: true })
  const rounds = Array.from({ length: 10 }, (_, i) =>
    calls([text(`looking ${i}`), call("glob", { pattern: `*${i}` })]),
  )
  await using llm = await fakeLlm([...rounds, text("That is all.")])
  await using terminal = openTerminal(tmp, ["run", "go"], { env: env(llm, "chat").variables })
  assert.equal(await terminal.exit, 0, terminal.shown())
  const lines = terminal.shown().trimEnd().split("\n").slice(0, -1)
  const kinds = lines.map((line) => /(looking|· Find files|That is all)/.exec(line)?.[1] ?? line)
  assert.deepEqual(kinds, [...rounds.flatMap(() => ["looking", "· Find files"]), "That is all"])
})

test("a terminal shows Markdown styled, and a pipe gets it as written", async () => {
  const words = "# Title\n- one **bold** and `code`\n```ts\nconst a = 1 // **no**\n```\n"
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text(words, { deltas: 9 }), text(words), text(words)])
  const { variables } = env(llm, "chat")
  await using terminal = openTerminal(tmp, ["run", "go"], { env: variables })
  let raw = ""
  terminal.child.process.stdout!.on("data", (piece: string) => {
    raw += piece
  })
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.match(raw, /\u001b\[1mTitle\u001b\[22m/)
  assert.match(raw, /• one \u001b\[1mbold\u001b\[22m and \u001b\[36mcode\u001b\[39m/)
  assert.match(raw, /\u001b\[36mconst a = 1 \/\/ \*\*no\*\*\u001b\[39m/)
  assert.equal((await vitamin(tmp, ["run", "go"], variables)).out, words.trimEnd())
  await using plain = openTerminal(tmp, ["run", "go"], { env: { ...variables, NO_COLOR: "1" } })
  assert.equal(await plain.exit, 0, plain.shown())
  assert.match(plain.shown(), /# Title\n- one \*\*bold\*\* and `code`\n/)
})

test("a terminal shows Markdown marks that style nothing", async () => {
  const plain = [
    "Rules: bash.execute:* file.read:*",
    "bash.execute:*, file.edit:*.ts, file.read:*.md and src/*.js",
    "*.ts and *.js, lib/*a and lib/*b, 2 * 3 * 4, a*b*c",
    "**never closed, `never closed",
    "snake_case_name, __init__.py, _private and the ` key",
  ]
  const styled = ["*one* **two:** (**three**) _four_ `a * b` *never and **five**", "\\*escaped\\* **.env**"]
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text([...plain, ...styled].join("\n"), { deltas: 7 })])
  await using terminal = openTerminal(tmp, ["run", "go"], { env: env(llm, "chat").variables })
  let raw = ""
  terminal.child.process.stdout!.on("data", (piece: string) => {
    raw += piece
  })
  assert.equal(await terminal.exit, 0, terminal.shown())
  const lines = terminal.shown().split("\n")
  const at = lines.indexOf(plain[0]!)
  assert.deepEqual(lines.slice(at, at + 7), [
    ...plain,
    "one two: (three) four a * b *never and five",
    "*escaped* .env",
  ])
  assert.match(raw, /\u001b\[3mone\u001b\[23m \u001b\[1mtwo:\u001b\[22m \(\u001b\[1mthree\u001b\[22m\)/)
  assert.match(
    raw,
    /\u001b\[3mfour\u001b\[23m \u001b\[36ma \* b\u001b\[39m \*never and \u001b\[1mfive\u001b\[22m/,
  )
})

test("the closing line names the changes, the cost, and how to undo and continue", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "x\n" }), text("done")])
  await using terminal = openTerminal(tmp, ["run", "--yes", "go"], { env: env(llm, "chat").variables })
  assert.equal(await terminal.exit, 0, terminal.shown())
  const [, id] =
    /(sess_\w{10}) · 1 file changed · 220 tokens · \d+ s · undo: vitamin session revert \1 · continue/.exec(
      terminal.shown(),
    )!
  assert.match((await vitamin(tmp, ["session", "revert", id!])).out, /removed {2}a\.txt/)
})

test("the closing line wraps no command, and does not count files that were written unchanged", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("same.txt", "x\n")
  await using llm = await fakeLlm([
    call("read", { path: "same.txt" }),
    call("write", { path: "same.txt", content: "x\n" }),
    call("write", { path: "a.txt", content: "x\n" }),
    text("done"),
  ])
  const { variables } = env(llm, "chat")
  await using terminal = openTerminal(tmp, ["run", "--yes", "go"], { env: variables, before: "stty cols 60" })
  assert.equal(await terminal.exit, 0, terminal.shown())
  const [, id] = /^(sess_\w{10}) · 1 file changed · /m.exec(terminal.shown()) ?? []
  assert.match(terminal.shown(), new RegExp(`undo: vitamin session revert ${id} · continue:|undo: .* ${id}`))
  assert.match(terminal.shown(), /continue: vitamin -c "…"\n$/)
  const listed = (await vitamin(tmp, ["session", "list"])).out
  assert.match(listed, / 1 file changed /)
  const shown = (await vitamin(tmp, ["session", "show"])).out
  assert.match(shown, /^\d+ tokens in, \d+ out$/m)
  const undone = await vitamin(tmp, ["session", "revert"])
  assert.match(undone.out, new RegExp(`^removed {2}a\\.txt\nTo undo this: vitamin session redo ${id}$`))
})

test("a failed call is shown with its whole error, and a plan as a checklist", async () => {
  await using tmp = await tmpdir({ git: true })
  const path = `${"deep/".repeat(30)}gone.txt`
  const todos = [
    { text: "look", status: "done" },
    { text: "fix it", status: "in_progress" },
    { text: "test", status: "pending" },
  ]
  await using llm = await fakeLlm([call("read", { path }), call("todo", { todos }), text("done")])
  const { err } = await vitamin(tmp, ["run", "go"], env(llm, "chat").variables)
  assert.match(err, /^✗ Read (deep\/)+gone\.txt: .*does not exist/m)
  assert.match(err, /^ {2}\[x\] look\n {2}\[>\] fix it\n {2}\[ \] test$/m)
})

test("a retried answer is printed to a pipe once", async () => {
  await using tmp = await tmpdir()
  const broken = cut(text("this answer is cut off in its middle", { deltas: 20 }), 1_500)
  await using llm = await fakeLlm([broken, text("whole")])
  const { out, err } = await vitamin(tmp, ["run", "go"], env(llm, "chat").variables)
  assert.equal(out, "whole")
  assert.match(err, /the answer broke off and is requested again/)
})

test("each retry is a line, and the final error names provider, address, status, key and remedy", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([status(503), text("fine"), status(401, { message: "bad key" })])
  const { variables } = env(llm, "chat")
  const retried = await vitamin(tmp, ["run", "go"], variables)
  assert.equal(retried.out, "fine")
  assert.match(retried.err, /^vitamin: openai: 503.*; try 2 of 6 in \d\.\d s$/m)
  const refused = await vitamin(tmp, ["run", "go"], variables)
  assert.equal(refused.code, 1)
  const at = llm.url.replaceAll(".", "\\.")
  assert.match(
    refused.err,
    new RegExp(
      `^vitamin: openai \\(${at}\\) answered 401: bad key\\. The key came from OPENAI_API_KEY\\. Set it to another key, or unset it and run: vitamin auth login openai\\.$`,
      "m",
    ),
  )
})

test("the error for a refused key names its source: a login, the configuration, or none", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm(() => status(401, { message: "bad key" }))
  const base = { OPENAI_BASE_URL: `${llm.url}/v1`, VITAMIN_MODEL: "openai/fake-model" }
  const none = await vitamin(tmp, ["run", "go"], base)
  assert.match(none.err, /No key was sent\. Set OPENAI_API_KEY, or run: vitamin auth login openai\.$/m)
  const config = JSON.stringify({ provider: { openai: { apiKey: "key-of-the-configuration" } } })
  const configured = await vitamin(tmp, ["run", "go"], { ...base, VITAMIN_CONFIG: config })
  assert.match(configured.err, /The key is provider\.openai\.apiKey of the configuration\. Change it there/)
  await using login = startVitamin(tmp, ["auth", "login", "openai"])
  login.process.stdin!.end("key-of-the-login\n")
  assert.equal(await login.exit, 0)
  const kept = await vitamin(tmp, ["run", "go"], base)
  assert.match(
    kept.err,
    /The key came from vitamin auth login\. .*vitamin auth login openai, or set OPENAI_API_KEY/,
  )
})

for (const wire of ["chat", "messages", "gemini"] as const)
  test(`a server that refuses connections is tried twice, and the error names its address, over ${wire}`, async () => {
    await using tmp = await tmpdir()
    await using llm = await fakeLlm([])
    await llm.down()
    const { code, err } = await vitamin(tmp, ["run", "go"], env(llm, wire).variables)
    assert.equal(code, 1)
    const lines = err.trimEnd().split("\n")
    assert.equal(lines.length, 2, err)
    assert.match(lines[0]!, /no server answers \(connection refused\) at http:.*; try 2 of 2 in \d\.\d s$/)
    assert.ok(
      lines[1]!.includes(`(${llm.url}) failed: no server answers (connection refused). Start the server`),
      err,
    )
  })

test("an account without credit and a long Retry-After end a run at once", async () => {
  await using tmp = await tmpdir()
  const empty = status(429, { message: "You exceeded your current quota (insufficient_quota)" })
  await using llm = await fakeLlm([empty, status(429, { retryAfter: 600 })])
  const { variables } = env(llm, "chat")
  const first = await vitamin(tmp, ["run", "go"], variables)
  assert.match(first.err, /answered 429: .* The account has no credit or quota left/)
  const second = await vitamin(tmp, ["run", "go"], variables)
  assert.match(second.err, /answered 429.* Wait a while, or use another --model\./)
  assert.deepEqual([first.code, second.code, llm.requests.length], [1, 1, 2])
})

test("in a narrow terminal, lines are wrapped between words, and errors are shown whole", async () => {
  await using tmp = await tmpdir({ git: true })
  const command = "echo a command that is longer than forty columns; exit 3"
  await using llm = await fakeLlm([
    call("bash", { command }),
    call("read", { path: "gone.txt" }),
    text(
      "The **answer** is longer than forty columns and ends with this word.\n\n- so is the item of this list, really\n",
    ),
  ])
  await using terminal = openTerminal(tmp, ["run", "--yes", "go"], {
    env: env(llm, "chat").variables,
    before: "stty cols 40",
  })
  let raw = ""
  terminal.child.process.stdout!.on("data", (piece: string) => {
    raw += piece
  })
  assert.equal(await terminal.exit, 0, terminal.shown())
  // Without the status line, which is erased.
  const lines = stripVTControlCharacters(raw.replace(/[^\n]*\r\u001b\[K/g, ""))
    .replaceAll("\r", "")
    .split("\n")
  for (const line of lines) assert.ok([...line].length <= 40, line)
  assert.ok(lines.includes("· Run echo a command that is … (exit 3)"), terminal.shown())
  assert.match(terminal.shown(), /✗ Read gone\.txt: "gone\.txt" does not\n {2}exist\./)
  assert.match(
    terminal.shown(),
    /The answer is longer than forty columns\nand ends with this word\.\n\n• so is the item of this list, really\n/,
  )
})

test("a dumb terminal gets no escape sequences, and one without UTF-8 only ASCII marks", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("read", { path: "gone.txt" }), text("- **done**")])
  const variables = { ...env(llm, "chat").variables, TERM: "dumb", LC_ALL: "C" }
  await using terminal = openTerminal(tmp, ["run", "go"], { env: variables })
  let raw = ""
  terminal.child.process.stdout!.on("data", (piece: string) => {
    raw += piece
  })
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.match(raw, /^x Read gone\.txt: /m)
  assert.match(raw, /^- \*\*done\*\*\r?\nsess_\w+ - 220 tokens - \d+ s - continue: vitamin -c "\.\.\."/m)
  assert.doesNotMatch(raw, /\u001b|[^\0-\x7f]/)
})

test("the closing line counts the tokens of a streamed answer", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("word ".repeat(40), { deltas: 40, delay: 10 })])
  await using terminal = openTerminal(tmp, ["run", "go"], { env: env(llm, "chat").variables })
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.match(terminal.shown(), /\nsess_\w{10} · 110 tokens · \d+ s · continue: /)
})

test("Ctrl-C erases the status line before the run is reported as interrupted", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([stall(text("never"), 0)])
  await using terminal = openTerminal(tmp, ["run", "go"], { env: env(llm, "chat").variables })
  let raw = ""
  terminal.child.process.stdout!.on("data", (piece: string) => {
    raw += piece
  })
  await terminal.sees(/step 1 · \d+ s/)
  terminal.type("\u0003")
  assert.equal(await terminal.exit, 130, terminal.shown())
  assert.match(raw, /\r\u001b\[K(?:\^C)?vitamin: interrupted; continue:/)
})

test("Ctrl-C after a step prints one hint how to continue, with the short id", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("read", { path: "README.md" }), stall(text("never"), 0)])
  await using terminal = openTerminal(tmp, ["run", "go"], { env: env(llm, "chat").variables })
  await terminal.sees(/step 2 · \d+ s/)
  terminal.type("\u0003")
  assert.equal(await terminal.exit, 130, terminal.shown())
  assert.match(
    terminal.shown(),
    /sess_\w{10} · [^\n]+ s\nvitamin: interrupted; continue: vitamin run --session sess_\w{10} "…"\n/,
  )
  assert.equal(terminal.shown().match(/continue/g)?.length, 1, terminal.shown())
})

test("the line of a project's own tool has its name once, even if the title repeats it", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(
    ".vitamin/config.ts",
    `import { defineConfig, Tool, z } from "@vitamin-agent/vitamin"
Tool.define("weather", () => ({
  description: "Tell the weather.",
  parameters: z.object({ city: z.string() }),
  readOnly: true,
  execute: async ({ city }) => ({ text: "sunny", title: \`weather \${city}\` }),
}))
export default defineConfig({})
`,
  )
  await using llm = await fakeLlm([call("weather", { city: "Bonn" }), text("sunny")])
  const { err } = await vitamin(tmp, ["run", "--trust", "go"], env(llm, "chat").variables)
  assert.match(err, /^· weather Bonn$/m)
})
