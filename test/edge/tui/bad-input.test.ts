// What must not harm the terminal: hostile and endless text, broken UTF-8, tiny windows, large pastes, many calls.
import assert from "node:assert/strict"
import { test } from "node:test"
import { call, calls, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { openXterm } from "../../fixture/xterm.ts"

const enter = "\r"
const esc = "\u001b"
const isReady = /^ask · /m
const hostile = `${esc}[2J${esc}[3J${esc}[?1049h${esc}]0;evil\u0007${esc}]52;c;aGk=\u0007${esc}P+q54${esc}\\${esc}c\u009b2J\u202eabc`
/** Sequences that the program writes: those of a frame, its modes, its questions, the title. */
const own =
  /\u001b\[\?(?:2026|2004|1004|25)[hl]|\u001b\[(?:\d*[ABCGK]|J|[\d;]*m)|\u001b\]2;[^\u0000-\u001f]*\u0007|\u001b\[2[23];0t|\u001b\]11;\?\u001b\\|\u001b_Gi=31,[^\u0000-\u001f]*\u001b\\|\u001b\[(?:\?u|c|>5u|<u)/g
const forbidden = /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u202e]/

/** Nothing but the program's own sequences and text is in the stream. */
function check(bytes: string): void {
  const rest = bytes.replace(own, "")
  const found = forbidden.exec(rest)
  assert.equal(found, null, JSON.stringify(rest.slice(Math.max(0, (found?.index ?? 0) - 80)).slice(0, 160)))
}

test("escape sequences of the model, of a file, of a command and of a prompt do not reach the terminal", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("hostile.txt", `${hostile}\nsecond line\n`)
  tmp.write(`a${esc}[2Jb.txt`, "x\n")
  await using llm = await fakeLlm([
    calls([
      call("read", { path: "hostile.txt" }),
      call("bash", { command: `cat hostile.txt; printf '\\377\\376 broken \\303('; ls # ${hostile}` }),
      call("edit", { path: "hostile.txt", edits: [{ oldText: "second line", newText: `third ${hostile}` }] }),
      call(`to${esc}[2Jol`, {}),
    ]),
    text(`# ${hostile}\n\n- ${hostile}\n\n\`\`\`\n${hostile}\n\`\`\`\n\n| a | ${hostile}\n|---|\n\nThe end.`),
  ])
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables })
  await terminal.sees(isReady)
  terminal.type(`${esc}[200~look ${hostile.replaceAll(esc, "")}${esc}[201~${enter}`)
  for (let asked = 0; asked < 2; asked++) {
    await terminal.sees("[y]es")
    terminal.type("d")
    // A key counts 600 ms after the last one that came too early.
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    terminal.type("y")
    await terminal.misses(/\[y\]es.*\[y\]es/s)
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  await terminal.sees("The end.")
  await terminal.sees(isReady)
  terminal.type("\u000f")
  terminal.type("\u0004")
  await terminal.exit
  check(terminal.bytes())
  assert.match(terminal.all(), /\\u001b\[2J/)
})

test("half a table, a fence without end and broken UTF-8 from the keyboard are shown as they are", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("| a | b |\n|---|---|\n| 1 |"), text("```js\nconst a = 1")])
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables })
  await terminal.sees(isReady)
  terminal.child.process.stdin!.write(Buffer.from([0xff, 0xfe, 0x61, 0xc3]))
  terminal.child.process.stdin!.write(Buffer.from([0xa9, 0x62, 0xe2, 0x82]))
  terminal.type("c")
  await terminal.sees("> ��aéb�c")
  terminal.type(enter)
  await terminal.sees(/a.*b\n.*\n.*1/)
  await terminal.sees(isReady)
  terminal.type(`more${enter}`)
  await terminal.sees("const a = 1")
  await terminal.sees(isReady)
  check(terminal.bytes())
})

test("a million characters without a space arrive whole, with bounded bytes, and keys are taken meanwhile", async () => {
  await using tmp = await tmpdir({ git: true })
  const long = "x".repeat(1_000_000)
  await using llm = await fakeLlm([text(long, { deltas: 200, delay: 5 })])
  await using terminal = await openXterm(tmp, ["go"], { env: env(llm, "chat").variables })
  await terminal.sees("xxxxx")
  terminal.type("typed")
  await terminal.sees("> typed")
  await terminal.sees(isReady)
  assert.equal(terminal.all().match(/^x+$/gm)?.join("").length, long.length)
  assert.ok(terminal.bytes().length < 6 * long.length, String(terminal.bytes().length))
})

test("10,000 lines of output are folded, and 200 calls at once are all there", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.txt", "hello\n")
  const many = Array.from({ length: 200 }, (_, i) => call("read", { path: "a.txt", offset: 1, limit: i + 1 }))
  await using llm = await fakeLlm([call("bash", { command: "seq 10000" }), calls(many), text("The end.")])
  await using terminal = await openXterm(tmp, ["--yes", "go"], { env: env(llm, "chat").variables })
  await terminal.sees("The end.")
  await terminal.sees(/^yes to all · /m)
  assert.match(terminal.all(), /^ {2}2\n.*more lines.*\n {2}9998$/m)
  assert.equal(terminal.all().match(/^.{0,3}Read a\.txt/gm)?.length, 200, terminal.all())
  check(terminal.bytes())
})

test("a paste of a megabyte is folded and reaches the model in full", async () => {
  await using tmp = await tmpdir({ git: true })
  const long = "0123456789abcde\n".repeat(65_536)
  await using llm = await fakeLlm([text("Read it.")])
  const models = { "fake-model": { context: 4_000_000 } }
  await using terminal = await openXterm(tmp, [], {
    env: {
      ...env(llm, "chat").variables,
      VITAMIN_CONFIG: JSON.stringify({ provider: { openai: { models } } }),
    },
  })
  await terminal.sees(isReady)
  terminal.type(`${esc}[200~${long}${esc}[201~`)
  await terminal.sees(/> \[pasted 6553\d lines\]/)
  terminal.type(`what is this?${enter}`)
  await terminal.sees("Read it.")
  assert.ok(terminal.bytes().length < 200_000, String(terminal.bytes().length))
  assert.equal(JSON.stringify(llm.requests[0]!.body).split("0123456789abcde").length - 1 > 60_000, true)
})

test("a terminal of 20 × 5 can be used, also if it shrinks while a question is open", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    call("bash", { command: "touch made" }),
    text("It is done now, as you said."),
  ])
  await using terminal = await openXterm(tmp, [], {
    env: env(llm, "chat").variables,
    before: "echo printed before",
  })
  await terminal.sees(isReady)
  terminal.type(`go${enter}`)
  await terminal.sees("[y]es")
  terminal.resize({ columns: 20, rows: 5 })
  await terminal.sees("[y]es")
  for (const line of terminal.screen().split("\n")) assert.ok(line.length <= 20)
  await new Promise((resolve) => setTimeout(resolve, 700))
  terminal.type("y")
  await terminal.sees(/It is done/)
  terminal.type("a prompt of several words")
  await terminal.sees("words")
  terminal.resize({ columns: 100, rows: 30 })
  await terminal.sees("> a prompt of several words")
  assert.match(terminal.all(), /^printed before/m)
  assert.equal(terminal.all().match(/ask · /g)?.length, 1, terminal.all())
  check(terminal.bytes())
})
