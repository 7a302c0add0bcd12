import assert from "node:assert/strict"
import { test } from "node:test"
import { createPaint } from "#edge/tui/screen/style.ts"
import { widthOf } from "#edge/tui/screen/width.ts"
import { createRandom } from "../../../fixture/random.ts"
import { createConversation } from "./conversation.ts"

const esc = "\u001b"
const sequences = [
  `${esc}[2J`,
  `${esc}[3J`,
  `${esc}[?1049h`,
  `${esc}[31m`,
  `${esc}[`,
  esc,
  `${esc}]0;title\u0007`,
  `${esc}]8;;http://a.b${esc}\\`,
  `${esc}]52;c;aGk=\u0007`,
  `${esc}P+q544e${esc}\\`,
  `${esc}_Ga=T;AAAA${esc}\\`,
  `${esc}c`,
  "\u009b2J",
  "\u009d0;x\u009c",
  "\u0090q\u009c",
  "\u0000\u0007\b\u000b\f\u000e\u000f\u007f",
  "a\rb",
  "\u202eabc\u2066\u061c",
  "\u2028\u2029\ufeff",
  "\ud83d",
  "\ude00",
  "\uffff\ufffe",
]
const around = ["", "**", "`", "# ", "- ", "> ", "| a | b |\n|---|---|\n| ", "```\n", "[x](", "&#27;", "    "]
const hostile = around.flatMap((mark) => sequences.map((one) => `${mark}${one}x${one}`)).join("\n\n")

/** Everything that leaves the transcript: text, and SGR sequences of ours. */
function check(lines: readonly string[]): void {
  for (const line of lines) {
    const bare = line.replace(/\u001b\[[\d;]*m/g, "")
    assert.doesNotMatch(
      bare,
      /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/,
      JSON.stringify(line),
    )
    assert.ok(bare.isWellFormed(), JSON.stringify(line))
  }
}

function splits(text: string, seed: number): string[] {
  const random = createRandom(seed)
  const chunks: string[] = []
  for (let at = 0; at < text.length; ) {
    const size = 1 + random(7)
    chunks.push(text.slice(at, at + size))
    at += size
  }
  return chunks
}

for (const columns of [20, 80])
  test(`nothing that a model or a tool writes acts on a terminal of ${columns} columns`, () => {
    const paint = createPaint({ depth: 24, scheme: "dark" })
    const talk = createConversation({ columns, paint })
    const { printed, say, answer, call, result, send, store, message, tail, transcript } = talk
    const checkAll = () => check([...printed, ...tail(), ...transcript.expand()])
    say("user", hostile)
    for (const seed of [1, 2]) {
      const { end } = answer(...splits(hostile, seed), { reasoning: hostile })
      checkAll()
      end()
    }
    for (const [i, text] of sequences.entries()) {
      call({ id: `c${i}`, name: i % 2 ? "bash" : text, arguments: { command: text, more: [text] } })
      send("tool.started", { callId: `c${i}` })
      send("tool.progress", { callId: `c${i}`, text })
      const id = `t${i}`
      send("session.created", {
        sessionId: id,
        session: { id, agent: text, taskOf: { sessionId: "s", callId: `c${i}` } },
      })
      checkAll()
      const diff = `@@ -1,1 +1,1 @@\n-${text}\n+x${text}\n${text}\n`
      const error = { message: text, recoverable: true }
      const metadata = { title: text, data: i % 3 ? {} : { diff } }
      result(`c${i}`, { toolName: text, status: i % 5 ? "success" : "error", error, output: text, metadata })
      send("todo.updated", { todos: [{ text, status: "in_progress" }] })
      send("session.notice", { text })
      send("session.retry", { provider: text, reason: text, wait: 1, attempt: 1, attempts: 2 })
      send("prompt.skipped", { prompt: { text, reason: text } })
      store(message("system_control", { control: text, parameters: { [text]: text } }))
      store(message("file_reference", { path: text, status: "failed", error: text }))
      store(message("mcp_resource", { serverName: text, resourceUri: text, retrievedAt: 1 }))
      checkAll()
    }
    send("session.error", { error: { name: "x", message: hostile } })
    checkAll()
    assert.ok(printed.length > 500)
  })

test("only code is wider than the terminal", () => {
  const { printed, say, answer, call, result, send } = createConversation({ columns: 20, rows: 5 })
  const wide = "日本語 longwordwithoutanyblank ".repeat(20)
  say("user", wide)
  answer(
    `# ${wide}\n\n- ${wide}\n  - ${wide}\n    > ${wide}\n\n| a | b |\n|---|---|\n| ${wide} | ${wide} |\n`,
  ).end()
  call(
    { id: "c", name: "bash", arguments: { command: wide } },
    { id: "d", name: "edit", arguments: { path: wide } },
  )
  result("c", { toolName: "bash", status: "error", error: { message: wide, recoverable: true } })
  result("d", {
    toolName: "edit",
    metadata: { title: `${wide} (+1 -1)`, data: { diff: `-${wide}\n+x${wide}` } },
  })
  send("todo.updated", { todos: [{ text: wide, status: "done" }] })
  send("session.error", { error: { name: "x", message: wide } })
  for (const line of printed) assert.ok(widthOf(line) <= 20, line)
})

test("half a table at the end of an answer is shown", () => {
  const { printed, say, answer } = createConversation()
  say("user", "a")
  answer("| a | b |\n|---|---|\n| c").end()
  assert.deepEqual(printed.slice(2), ["a │ b", "──┼──", "c │"])
})
