// `--plain`: commands, the review of files and the first choice of a model, as lines and numbers.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noServers } from "../../fixture/no-servers.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm, type Xterm } from "../../fixture/xterm.ts"

const enter = "\r"
const isReady = /^>$/m

/** Types a line, and waits for what the terminal writes after that. */
async function enters(terminal: Xterm, line: string, sees: RegExp): Promise<void> {
  const before = terminal.bytes().length
  terminal.type(line + enter)
  await shows(terminal, sees, before)
}

async function shows(terminal: Xterm, sees: RegExp, from = 0): Promise<void> {
  const written = () => terminal.bytes().slice(from).replaceAll("\r", "").trimEnd()
  await until(() => sees.test(written()), String(sees)).catch(() => assert.match(written(), sees))
}

/** Nothing was drawn again, and nothing but text was written. */
function isPlain(terminal: Xterm): void {
  assert.doesNotMatch(terminal.bytes(), /\u001b|\u0007/)
}

test("--plain runs the commands: lists are numbered, words search them, a number chooses", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.txt", "hello\n")
  await using llm = await fakeLlm([
    call("edit", { path: "a.txt", edits: [{ oldText: "hello", newText: "goodbye" }] }),
    text("The first answer."),
    text("The second answer."),
  ])
  const variables = { ...noServers, ...env(llm, "chat").variables }
  await using terminal = await openXterm(tmp, ["--plain"], { env: variables, rows: 90 })
  await shows(terminal, isReady)
  await enters(terminal, "/help", /\/model \[provider\/model\] +choose the model.*^>$/ms)
  await enters(terminal, "/modle", /there is no command \/modle; did you mean \/mode.*\n>$/)
  await enters(terminal, "/mode", /Mode\n1\. ask \(in use\)\n2\. accept edits\n3\. plan\nType a number/)
  await enters(terminal, "9", /Nothing fits\.$/)
  await enters(terminal, "acc", /acc\n2\. accept edits$/)
  await enters(terminal, "2", isReady)
  await enters(terminal, "go", /The first answer\.\n+>$/)
  assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "goodbye\n")
  await enters(terminal, "/context", /\nsystem prompt +[\d.]+k? .*^free .*The session is compacted.*^>$/ms)
  await enters(terminal, "/cost", /for .* tokens in.*^>$/ms)
  await enters(terminal, "/diff", /- hello\n.*\+ goodbye\n.*1 file changed.*^>$/ms)
  await enters(terminal, "/undo", /1 file changed back\n +restored a\.txt.*^>$/ms)
  assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "hello\n")
  await enters(terminal, "/redo", /1 file changed again.*^>$/ms)
  await enters(terminal, "/copy", /Error: Plain mode cannot copy\..*^>$/ms)
  await enters(terminal, "/keys", /Ctrl-C stops the turn.*^>$/ms)
  await enters(terminal, "/new", /your next prompt begins a new session\n+>$/)
  await enters(terminal, "again", /The second answer\.\n+>$/)
  await enters(terminal, "/sessions", /Sessions\n1\. .* \(in use\): sess_.*\n2\. .*: sess_.*\nType a number/)
  await enters(terminal, "2", /go.*The first answer\..*^>$/ms)
  await enters(terminal, "/agent", /Agent\n1\. /)
  // Ctrl-C closes the question, and the program goes on.
  terminal.type("\u0003")
  await shows(terminal, /\^C\n>$/)
  await enters(terminal, "/model openai/other", /openai\/other answers from the next prompt on\n+>$/)
  assert.doesNotMatch(terminal.all(), /[\u2588\u2592\u2593]/)
  await enters(terminal, "/quit", /Go on with: vitamin --plain --session sess_/)
  assert.equal(await terminal.exit, 0)
  isPlain(terminal)
})

test("--plain: a path is a prompt, and an unknown command is not sent to the model", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("A path.")])
  await using terminal = await openXterm(tmp, ["--plain"], { env: env(llm, "chat").variables })
  await shows(terminal, isReady)
  await enters(terminal, "/nothing-like-it", /there is no command \/nothing-like-it.*^>$/ms)
  await enters(terminal, "/etc/hosts", /A path\./)
  assert.equal(llm.requests.length, 1)
  terminal.type(`/quit${enter}`)
  assert.equal(await terminal.exit, 0)
})

test("--plain names files that are not trusted, and /trust shows each and asks for y or n", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", '{ "mcpServers": { "x": { "command": "sh", "args": ["-c", "exit\u001b[2J"] } } }\n')
  tmp.write(".vitamin/config.jsonc", '{ "model": "openai/fake-model" }\n')
  await using llm = await fakeLlm([])
  await using terminal = await openXterm(tmp, ["--plain"], { env: env(llm, "chat").variables })
  await shows(terminal, /Not trusted, so not used: \.mcp\.json, \.vitamin\/config\.jsonc .*\n+>$/s)
  await enters(
    terminal,
    "/trust",
    /new \.mcp\.json\n.*exit\\u001b\[2J.*Trust this file as it is shown\? \.mcp\.json \(1 of 2\) Type y for yes, n for no,/s,
  )
  await enters(terminal, "what?", /what\?\nType y for yes, n for no, a for all that is left, q for quit\./)
  await enters(terminal, "n", /new \.vitamin\/config\.jsonc\n.*\(2 of 2\) Type y for yes/s)
  await enters(terminal, "yes", /Trusted: \.vitamin\/config\.jsonc\n+>$/)
  assert.match((await vitamin(tmp, ["trust", "--list"])).out, /1 file to review.*\n +new +\.mcp\.json$/)
  isPlain(terminal)
})

test("--plain asks for a model once: a pasted key is not shown, and the choice is remembered", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Here I am.")])
  const key = "gsk-nobody-may-see-this-key"
  const variables = { ...noServers, GROQ_BASE_URL: `${llm.url}/v1` }
  {
    await using terminal = await openXterm(tmp, ["--plain"], { env: variables, after: "stty -a > after" })
    await shows(
      terminal,
      /Which model should answer\?\n1\. paste an API key: .*\n2\. sign in at OpenRouter: .*\n3\. go on with local\/rules/,
    )
    await enters(terminal, "1", /Key of which provider\?\n.*Type a number/s)
    await enters(terminal, "groq", /Key for groq: paste it and press Enter\. Nothing of it is shown\./)
    await enters(terminal, `wrong\u0015${key}x\u007f`, /Stored the key for groq\.\nWhich model\?\n1\. groq\//)
    await enters(terminal, "1", /groq\/\S+ answers\.\n+>$/)
    await enters(terminal, "/login groq", /Key for groq: paste it/)
    terminal.type("half\u0003")
    await shows(terminal, /No model was chosen\..*\n+>$/)
    terminal.type("\u0004")
    assert.equal(await terminal.exit, 0)
    assert.match(readFileSync(join(tmp.path, "after"), "utf8"), / icanon .* echo /s)
    assert.ok(!/gsk-|half/.test(terminal.bytes()), terminal.all())
    isPlain(terminal)
  }
  const auth = JSON.parse(readFileSync(join(tmp.env.XDG_DATA_HOME!, "vitamin", "auth.json"), "utf8"))
  assert.equal(auth.groq.key, key)
})
