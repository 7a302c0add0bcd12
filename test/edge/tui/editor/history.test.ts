// Earlier prompts: back and forth, the draft, the search, and what is not kept.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createKeyboard } from "./keyboard.ts"

test("Up and Down go through earlier prompts and keep the draft", () => {
  const { editor, type, press } = createKeyboard({ entries: ["first", "second", "second", "third"] })
  type("draft")
  const shown = [..."uuuuddddd"].map((key) => {
    press(key === "u" ? "up" : "down")
    return editor.text
  })
  assert.deepEqual(shown, ["third", "second", "first", "first", "second", "third", "draft", "draft", "draft"])
})

test("changes to an earlier prompt are kept until something is sent", () => {
  const { editor, type, press } = createKeyboard({ entries: ["first", "second"] })
  press("up")
  type("!")
  press("up down")
  assert.equal(editor.text, "second!")
  press("enter up up")
  assert.equal(editor.text, "second")
})

test("Up moves inside a text of several rows before it goes back", () => {
  const { editor, type, press, screen } = createKeyboard({ entries: ["old 1\nold 2", "new"] })
  type("a\nb")
  press("up")
  assert.deepEqual(screen(), ["> a|", "  b"])
  press("up up")
  assert.deepEqual(screen(), ["> old 1|", "  old 2"])
  press("down down")
  assert.equal(editor.text, "new")
})

test("a sent prompt is kept once, a line that begins with a blank or has a key never", () => {
  const entries: string[] = []
  const { type, press, paste } = createKeyboard({ entries, files: ["/tmp/a b.png"] })
  const keys = ["/login groq key", "/logn sk-0123", "/Lgoin sk-0123", "/loginn groq\nsk-0123"]
  for (const text of ["one", "one", " export TOKEN=secret", ...keys, "!ls", "/plan it", "two \n"]) {
    type(text)
    press("enter")
  }
  paste("/tmp/a b.png")
  press("enter")
  paste("x\n".repeat(100_000))
  press("enter")
  assert.deepEqual(entries, ["one", "!ls", "/plan it", "two", '@"/tmp/a b.png"'])
})

test("Ctrl-R searches while typing, shows the match, and takes it", () => {
  const entries = ["run the tests", "fix the parser", "explain this", "run the linter"]
  const paint = (role: string, text: string) => (role === "selected" ? `[${text}]` : text)
  const { editor, type, press, screen } = createKeyboard({ entries, paint })
  type("draft")
  press("ctrl+r")
  type("the")
  assert.deepEqual(screen(), ["search: the|", "run [the] linter"])
  press("ctrl+r")
  assert.deepEqual(screen(), ["search: the|", "fix [the] parser"])
  press("ctrl+r ctrl+r ctrl+r")
  assert.deepEqual(screen(), ["search: the|", "run [the] tests"])
  press("down")
  assert.deepEqual(screen(), ["search: the|", "fix [the] parser"])
  assert.deepEqual(press("enter"), { do: "draw" })
  assert.equal(editor.text, "fix the parser")
  press("ctrl+_")
  assert.equal(editor.text, "draft")
})

test("Escape and Ctrl-C leave the search with the draft as it was", () => {
  for (const key of ["escape", "ctrl+c"]) {
    const { editor, type, press, screen } = createKeyboard({ entries: ["abc"] })
    type("draft")
    press("ctrl+r")
    type("zz")
    assert.deepEqual(screen(), ["search: zz|", "no match"])
    press("backspace backspace")
    type("b")
    assert.deepEqual(screen(), ["search: b|", "abc"])
    press(key)
    assert.equal(editor.text, "draft")
    assert.deepEqual(screen(), ["> draft|"])
  }
})

test("a key that moves takes the match along", () => {
  const { editor, type, press, screen } = createKeyboard({ entries: ["abc"] })
  press("ctrl+r")
  type("b")
  press("home")
  assert.deepEqual(screen(), ["> |abc"])
  assert.equal(editor.text, "abc")
})

test("the search shows the match of a long prompt in a small terminal", () => {
  const entry = `${"much text before ".repeat(50)}needle${" and after".repeat(50)}\x1b[31m`
  const { type, press, screen } = createKeyboard({ entries: [entry] })
  press("ctrl+r")
  type("needle")
  const [head, found] = screen(20, 2)
  assert.equal(head, "search: needle|")
  assert.match(found!, /needle/)
  assert.ok(found!.length <= 20)
})
