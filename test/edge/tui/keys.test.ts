// Keys in the real program: the editor on a pseudo-terminal, and a setting that names no action.
import assert from "node:assert/strict"
import { test } from "node:test"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm } from "../../fixture/xterm.ts"

const isReady = /^ask( · .*)?$/m

test("the editor breaks lines, folds a long paste and sends it in full; the caret is where text goes", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Read.")])
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables, columns: 40, rows: 12 })
  await terminal.sees(isReady)
  const pasted = Array.from({ length: 120 }, (_, number) => `row ${number}`)
  terminal.type("日本\u001b[13;2usee ")
  terminal.type(`\u001b[200~${pasted.join("\r")}\u001b[201~`)
  await terminal.sees("> 日本\n  see [pasted 120 lines]")
  assert.equal(terminal.caret().column, "  see [pasted 120 lines]".length)
  terminal.type("\u001b[A")
  await terminal.sees("> 日本\n")
  terminal.type("語")
  await terminal.sees("> 日本語\n")
  terminal.type("\r")
  await terminal.sees("Read.")
  const body = JSON.stringify(llm.requests[0]!.body)
  assert.ok(body.includes(`日本語\\nsee ${pasted.join("\\n")}`), body)
})

test("a wrong name in terminal.keys is reported, and the keys stay as they were", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Still here.")])
  const keys = { "app.sned": "f2" }
  const { variables } = env(llm, "chat")
  const config = { ...JSON.parse(variables.VITAMIN_CONFIG ?? "{}"), terminal: { keys } }
  await using terminal = await openXterm(tmp, [], {
    env: { ...variables, VITAMIN_CONFIG: JSON.stringify(config) },
  })
  await terminal.sees('terminal.keys: there is no action "app.sned". Did you mean "app.send"?')
  terminal.type("hello\r")
  await terminal.sees("Still here.")
})

test("hints name the keys that are configured", async () => {
  await using tmp = await tmpdir({ git: true })
  const script = [call("bash", { command: "seq 30" }), text("Done.", { delay: 300, deltas: 6 })]
  await using llm = await fakeLlm(script)
  const keys = { "app.expand": "f2", "app.stop": "f4", "app.clear": "f6", "app.quit": "f6 f6" }
  const config = JSON.stringify({ terminal: { keys } })
  await using terminal = await openXterm(tmp, ["--yes"], {
    env: { ...env(llm, "chat").variables, VITAMIN_CONFIG: config },
  })
  await terminal.sees(/^yes to all/m)
  terminal.type("go\r")
  await terminal.sees("25 more lines (f2)")
  await terminal.sees(/working \d+ s, f4 stops/)
  await terminal.sees(/Done\..*^yes to all/ms)
  terminal.type("\u001b[17~")
  await terminal.sees("press f6 again to quit")
})

test("the keyboard protocol is switched on with the flags that the keys are read by", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([])
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables })
  await terminal.sees(isReady)
  terminal.type("\u001b[?0u")
  await until(() => terminal.bytes().includes("\u001b[>5u"), "the protocol is on")
  // Ctrl-C of a Cyrillic keyboard.
  terminal.type("\u001b[1089::99;5u")
  await terminal.sees("press ctrl+c again to quit")
})

test("Ctrl-L draws the tail again in its place; keys without anything to do say so and leave the editor alone", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Here.")])
  await using terminal = await openXterm(tmp, ["hello"], { env: env(llm, "chat").variables })
  await terminal.sees(/Here\..*^ask · /ms)
  terminal.type("one\u001b\rtwo")
  await terminal.sees(/^> one\n {2}two$/m)
  const [before, written] = [terminal.all(), terminal.bytes().length]
  for (let presses = 0; presses < 3; presses++) {
    const { length } = terminal.bytes()
    terminal.type("\u000c")
    await until(() => terminal.bytes().length > length, "a frame")
  }
  await until(() => terminal.bytes().slice(written).split("two").length > 2, "the tail is drawn again")
  assert.equal(terminal.all().trimEnd(), before.trimEnd())
  terminal.type("\u001b[D\u001b[1;3A")
  await terminal.sees("no prompt waits")
  terminal.type("!\u000f")
  await terminal.sees(/^> one\n {2}tw!o\nnothing else is folded$/m)
})
