// Undo, redo and branches, typed into the real terminal.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, text } from "../../../fixture/fake-llm.ts"
import { openXterm } from "../../../fixture/xterm.ts"
import { enter, esc, isReady, openChat } from "./harness.ts"

const write = (content: string) => call("write", { path: "a.txt", content })

test("/diff shows the changes; /undo and /redo take them back and bring them again, in order", async () => {
  const script = [write("one\n"), text("First."), write("two\n"), text("Second."), text("Third.")]
  await using chat = await openChat(script, { args: ["--yes", "write one"] })
  const { tmp, terminal, variables, enters } = chat
  const file = join(tmp.path, "a.txt")
  await terminal.sees(/First\..*^yes to all · /ms)
  await enters("write two", /Second\..*^yes to all · /ms)
  await enters("/diff", /\/diff\na\.txt \(new\)\n1 \+ two\n1 file changed/)
  await enters("/undo", /· undone: write two\n.*1 file changed back\n {2}restored a\.txt/s)
  assert.equal(readFileSync(file, "utf8"), "one\n")
  await enters("/undo", /· undone: write one\n.*1 file changed back\n {2}removed a\.txt/s)
  assert.equal(existsSync(file), false)
  await enters("/undo", "nothing is left to undo")
  await enters("/redo", /· redone: write one\n.*1 file changed again\n {2}restored a\.txt/s)
  assert.equal(readFileSync(file, "utf8"), "one\n")
  await enters("/redo", /· redone: write two\n.*1 file changed again\n {2}restored a\.txt/s)
  assert.equal(readFileSync(file, "utf8"), "two\n")
  await enters("/redo", "✗ There is nothing to redo in session")
  {
    await using again = await openXterm(tmp, ["-c"], { env: variables })
    await again.sees(/Second\..*· redone: write two\n/s)
    assert.doesNotMatch(again.all(), /undone/)
  }
  await enters("/undo", /redone: write two.*undone: write two/s)
  await enters("say it", "Third.")
  assert.doesNotMatch(JSON.stringify(chat.llm.requests.at(-1)!.body), /write two/)
  await enters("/redo", /a prompt came after the last\s+revert/)
})

test("/undo keeps its lines inside a narrow terminal", async () => {
  await using chat = await openChat([text("First.")], { args: ["say it"], columns: 20 })
  await chat.terminal.sees(/First\..*^ask$/ms)
  await chat.enters("/undo", /^no file had to be\nchanged$/m)
})

test("escape twice goes back to an earlier prompt, the first one too, and branches there", async () => {
  const script = [text("Answer one."), text("Answer two."), text("Another two."), text("Another one.")]
  await using chat = await openChat(script, { args: ["question one"] })
  const { terminal, llm, enters } = chat
  const sent = () => JSON.stringify(llm.requests.at(-1)!.body)
  await terminal.sees(/Answer one\..*^ask · /ms)
  await enters("question two", /Answer two\..*^ask · /ms)
  terminal.type(esc + esc)
  await terminal.sees(/Go back to \(2\).*› question two.* {2}question one/s)
  terminal.type(enter)
  await terminal.sees(/^· branch: main → branch-2, after: question one$.*> question two/ms)
  terminal.type(` again${enter}`)
  await terminal.sees("Another two.")
  assert.match(sent(), /question one.*Answer one\..*question two again/)
  assert.doesNotMatch(sent(), /Answer two/)
  await terminal.sees(isReady)
  terminal.type(esc + esc)
  await terminal.sees(/Go back to \(2\)/)
  terminal.type(`one${enter}`)
  await terminal.sees(/^· branch: branch-2 → branch-3, from the beginning$.*> question one/ms)
  terminal.type(` again${enter}`)
  await terminal.sees("Another one.")
  assert.doesNotMatch(sent(), /Answer one|question two/)
  await terminal.sees(isReady)
  await enters("/branch", /Branch.*main.*branch-2.*branch-3/s)
  terminal.type(`main${enter}`)
  await terminal.sees(/branch-3 → main.*question two\n\nAnswer two\.\n.*^ask · /ms)
  await enters("/branch idea", "the branch idea begins here")
  await terminal.sees(/^· branch: main → idea$/m)
  await enters("/branch", /› idea/)
  assert.doesNotMatch(terminal.all(), /msg_/)
})
