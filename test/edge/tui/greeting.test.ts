// What the interactive terminal says and asks before the first prompt: files that are not trusted, and a model.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { vitamin } from "../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noServers } from "../../fixture/no-servers.ts"
import { ollama } from "../../fixture/ollama.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm, type Xterm } from "../../fixture/xterm.ts"

const enter = "\r"
const esc = "\u001b"
const down = "\u001b[B"
/** Milliseconds: a key after it is an answer, not a key that was meant for the question before. */
const pause = 1_000
const ctrlU = "\u0015"
const isReady = /^ask · /m

test("files that are not trusted are named in a line; /trust shows each with its difference and asks", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", '{ "mcpServers": { "x": { "command": "sh", "args": ["-c", "exit\u001b[2J"] } } }\n')
  tmp.write(".vitamin/config.jsonc", '{ "model": "openai/fake-model" }\n')
  await using llm = await fakeLlm([])
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables })
  await terminal.sees(
    "Not trusted, so not used: .mcp.json, .vitamin/config.jsonc (/trust shows what would run)",
  )
  terminal.type(`/trust${enter}`)
  await terminal.sees(/new \.mcp\.json\n.*exit\\u001b\[2J/)
  await terminal.sees(/Trust this file as it is shown\? \.mcp\.json \(1 of 2\)\n\[y\]es {2}\[n\]o/)
  terminal.type("n")
  await terminal.sees(/new \.vitamin\/config\.jsonc\n.*"model": "openai\/fake-model"/)
  await sleep(pause)
  terminal.type("y")
  await terminal.sees("Trusted: .vitamin/config.jsonc")
  assert.match((await vitamin(tmp, ["trust", "--list"])).out, /1 file to review.*\n +new +\.mcp\.json$/)
  assert.equal(llm.requests.length, 0)
})

test("/trust: a key pressed again and again trusts one file, and all that is left is shown before it is trusted", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", "{}\n")
  for (const name of ["one", "two", "three"])
    tmp.write(`.vitamin/agents/${name}.md`, `---\n---\nI am ${name}.\n`)
  await using llm = await fakeLlm([])
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables, rows: 40 })
  await terminal.sees("Not trusted, so not used:")
  const waiting = async () => (await vitamin(tmp, ["trust", "--list"])).out
  const review = async () => {
    // What was typed between two panels is in the editor.
    terminal.type(`${ctrlU}/trust${enter}`)
    await terminal.sees(/\(1 of \d\)\n\[y\]es/)
  }

  await review()
  await until(() => {
    terminal.type("y")
    return !terminal.screen().includes("(1 of 4)") && /\([2-4] of 4\)/.test(terminal.screen())
  }, "the second file is shown")
  terminal.type("y")
  await sleep(pause)
  assert.match(terminal.screen(), /\(2 of 4\)/)
  terminal.type(esc)
  await terminal.sees("Trusted: .mcp.json")
  assert.match(await waiting(), /3 files to review/)

  await review()
  assert.doesNotMatch(terminal.all(), /I am t/)
  terminal.type("a")
  await terminal.sees(
    /I am three\..*I am two\..*Accept these 3 files as they are shown\?\n\[y\]es {2}\[n\]o\n/s,
  )
  await sleep(pause)
  terminal.type("an")
  await terminal.sees("Nothing was trusted.")
  assert.match(await waiting(), /3 files to review/)

  await review()
  terminal.type("a")
  await terminal.sees("Accept these 3 files as they are shown?")
  await sleep(pause)
  terminal.type("y")
  await terminal.sees(/Trusted: .*one\.md, .*three\.md, .*two\.md/)
  assert.doesNotMatch(await waiting(), /to review/)
})

test("without a model the person chooses once: a key is masked and stored, the model is remembered", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Here I am.")])
  const key = "gsk-nobody-may-see-this-key"
  const variables = { ...noServers, GROQ_BASE_URL: `${llm.url}/v1` }
  {
    await using terminal = await openXterm(tmp, [], { env: variables })
    await terminal.sees(/Which model should answer\? \(3\)/)
    terminal.type(enter)
    await terminal.sees("Key of which provider?")
    terminal.type("groq")
    await terminal.sees(/› groq/)
    terminal.type(enter)
    await terminal.sees("Key for groq")
    terminal.type(key)
    await terminal.sees(/Key for groq.*•{10}/)
    terminal.type(enter)
    await terminal.sees(/Which model\?.*\n› groq\//)
    assert.match(terminal.all(), /Stored the key for groq\./)
    terminal.type(enter)
    await terminal.sees(/^ask · groq\//m)
    assert.ok(!terminal.bytes().includes(key))
    terminal.type("\u0004")
    assert.equal(await terminal.exit, 0)
  }
  const auth = JSON.parse(readFileSync(join(tmp.env.XDG_DATA_HOME!, "vitamin", "auth.json"), "utf8"))
  assert.equal(auth.groq.key, key)
  await using terminal = await openXterm(tmp, [], { env: variables })
  await terminal.sees(/^ask · groq\//m)
  terminal.type(`hello${enter}`)
  await terminal.sees("Here I am.")
  assert.equal(llm.requests[0]!.headers.authorization, `Bearer ${key}`)
})

for (const args of [["hello"], ["--plain", "hello"]])
  test(`the remembered model answers the first prompt of vitamin ${args.join(" ")}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([text("Here I am.")])
    const stored = JSON.stringify({ time: 1, model: "groq/llama-3.3-70b-versatile" })
    const state = join(tmp.env.XDG_STATE_HOME!, "vitamin")
    mkdirSync(state, { recursive: true })
    writeFileSync(join(state, "first-choice.json"), stored)
    const key = { GROQ_BASE_URL: `${llm.url}/v1`, GROQ_API_KEY: "gsk-remembered" }
    await using terminal = await openXterm(tmp, args, { env: { ...noServers, ...key } })
    await terminal.sees("Here I am.")
    assert.match(JSON.stringify(llm.requests[0]!.body), /"llama-3\.3-70b-versatile"/)
  })

for (const args of [[], ["--plain"]])
  test(`a model server that was found can be chosen at the first start of vitamin ${args.join(" ")}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([text("From the server.")])
    await using server = await ollama(llm.url, "qwen2.5-coder:7b")
    const env = { ...noServers, OLLAMA_BASE_URL: "", OLLAMA_HOST: server.host }
    const open = async (): Promise<Xterm> => {
      const terminal = await openXterm(tmp, args, { env })
      await terminal.sees(/Which model should answer\?.*local\/rules/s)
      if (terminal.screen().includes("use ollama/qwen2.5-coder:7b")) return terminal
      // Finding has a short time limit; a loaded machine may need several tries.
      await terminal[Symbol.asyncDispose]()
      return open()
    }
    await using terminal = await open()
    assert.match(terminal.screen(), new RegExp(`found at http://${server.host}/v1`))
    terminal.type(args.length ? `1${enter}` : enter)
    await terminal.sees("ollama/qwen2.5-coder:7b answers.")
    terminal.type(`hello${enter}`)
    await terminal.sees("From the server.")
    assert.match(JSON.stringify(llm.requests[0]!.body), /"qwen2\.5-coder:7b"/)
    const state = readFileSync(join(tmp.env.XDG_STATE_HOME!, "vitamin", "first-choice.json"), "utf8")
    assert.match(state, /"model":"ollama\/qwen2\.5-coder:7b"/)
  })

test("a key behind /login is refused, not shown again and not kept in the history", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([])
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables })
  await terminal.sees(isReady)
  terminal.type("/login groq gsk-secret")
  await terminal.sees("> /login groq gsk-secret")
  terminal.type(enter)
  await terminal.sees("/login takes a provider only. It asks for the key and masks it.")
  assert.doesNotMatch(terminal.all(), /gsk-secret/)
  terminal.type(`!true${enter}`)
  const history = join(tmp.env.XDG_STATE_HOME!, "vitamin", "prompts.jsonl")
  await until(() => existsSync(history) && /true/.test(readFileSync(history, "utf8")), "the history")
  assert.equal(readFileSync(history, "utf8"), '"!true"\n')
})

test("the offline model is chosen once, and /login shows the choice again", async () => {
  await using tmp = await tmpdir({ git: true })
  {
    // Who writes at once is not interrupted.
    await using terminal = await openXterm(tmp, [], { env: noServers })
    await terminal.sees("> ")
    terminal.type("hello")
    await terminal.sees(/^> hello/m)
    await terminal.sees(isReady)
    terminal.type(` there${enter}`)
    await terminal.sees(/▌ hello there/)
    terminal.type("\u0004")
    await terminal.exit
  }
  {
    await using terminal = await openXterm(tmp, [], { env: noServers })
    await terminal.sees(/Which model should answer\? \(3\)/)
    terminal.type(`${down}${down}${enter}`)
    await terminal.sees(/^ask · local\/rules/m)
    terminal.type("\u0004")
    await terminal.exit
  }
  await using terminal = await openXterm(tmp, [], { env: noServers })
  await terminal.sees(/^ask · local\/rules/m)
  terminal.type(`/login${enter}`)
  await terminal.sees("Which model should answer?")
  terminal.type(enter)
  await terminal.sees("Key of which provider?")
  terminal.type(esc)
  await terminal.sees("Which model should answer?")
  terminal.type(esc)
  await terminal.sees("No model was chosen.")
  await terminal.sees(isReady)
})

test("until the first prompt was sent, a line says what can be typed; notices have a blank line above and below", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", "{}\n")
  await using llm = await fakeLlm([text("First."), text("Second.")])
  const options = { env: env(llm, "chat").variables }
  const hint = "/help lists the commands, @ attaches a file, ! runs a shell command."
  {
    await using terminal = await openXterm(tmp, [], options)
    await terminal.sees("Not trusted, so not used: .mcp.json")
    terminal.type(`hello${enter}`)
    await terminal.sees(/First\..*^ask · /ms)
    const [above] = terminal.screen().split("\n\nFirst.")
    assert.equal(
      above,
      `\n${hint}\n\nNot trusted, so not used: .mcp.json (/trust shows what would run)\n\n▌ hello`,
    )
  }
  await using again = await openXterm(tmp, [], options)
  await again.sees("Not trusted, so not used: .mcp.json")
  assert.doesNotMatch(again.all(), /lists the commands/)
})
