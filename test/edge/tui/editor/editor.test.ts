// The editor by its keys: typing, moving, deleting, undo, the kill ring, sending.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createKeyboard } from "./keyboard.ts"

test("createEditor() types and deletes whole characters", () => {
  const { editor, type, press, screen } = createKeyboard()
  type("a日e\u0301👩‍💻")
  assert.equal(editor.text, "a日e\u0301👩‍💻")
  press("backspace")
  assert.equal(editor.text, "a日e\u0301")
  press("backspace")
  assert.equal(editor.text, "a日")
  press("left backspace")
  assert.equal(editor.text, "日")
  assert.deepEqual(screen(), ["> |日"])
  press("delete")
  assert.equal(editor.text, "")
})

test("createEditor() moves and deletes by words and lines", () => {
  const { editor, type, press, screen } = createKeyboard()
  type("git commit --amend file.ts")
  press("alt+b")
  assert.deepEqual(screen(), ["> git commit --amend file.|ts"])
  press("ctrl+left alt+left")
  assert.deepEqual(screen(), ["> git commit --|amend file.ts"])
  press("alt+f")
  assert.deepEqual(screen(), ["> git commit --amend| file.ts"])
  press("alt+d")
  assert.equal(editor.text, "git commit --amend.ts")
  press("ctrl+w")
  assert.equal(editor.text, "git commit .ts")
  press("ctrl+a ctrl+right ctrl+k")
  assert.equal(editor.text, "git")
  press("alt+backspace")
  assert.equal(editor.text, "")
})

test("createEditor() goes to the start and the end of lines and of the text", () => {
  const { type, press, screen } = createKeyboard()
  type("one\ntwo\nthree")
  press("home")
  assert.deepEqual(screen(), ["> one", "  two", "  |three"])
  press("ctrl+home end")
  assert.deepEqual(screen(), ["> one|", "  two", "  three"])
  press("right")
  assert.deepEqual(screen(), ["> one", "  |two", "  three"])
  press("ctrl+end")
  assert.deepEqual(screen(), ["> one", "  two", "  three|"])
})

test("createEditor() moves up and down by rows and returns to its column", () => {
  const { type, press, screen } = createKeyboard()
  type("a long line that is wrapped here\nx\n日本語日本語日本")
  assert.deepEqual(screen(14), [
    "> a long line ",
    "  that is ",
    "  wrapped here",
    "  x",
    "  日本語日本語",
    "  日本|",
  ])
  press("ctrl+home end")
  assert.deepEqual(screen(14)[2], "  wrapped here|")
  press("down")
  assert.deepEqual(screen(14)[3], "  x|")
  press("down")
  assert.deepEqual(screen(14)[4], "  日本語日本|語")
  press("up up up")
  assert.deepEqual(screen(14)[1], "  that is| ")
})

test("createEditor() undoes typing word by word, and redoes it", () => {
  const { editor, type, press } = createKeyboard()
  type("fix the test")
  press("ctrl+_")
  assert.equal(editor.text, "fix the ")
  press("ctrl+_ ctrl+_")
  assert.equal(editor.text, "")
  press("alt+_ alt+_")
  assert.equal(editor.text, "fix the ")
  type("x")
  press("alt+_")
  assert.equal(editor.text, "fix the x")
})

test("createEditor() yanks what was killed, and what was killed before", () => {
  const { editor, type, press } = createKeyboard()
  type("one two three")
  press("ctrl+w ctrl+w")
  assert.equal(editor.text, "one ")
  press("end ctrl+u")
  type("x ")
  press("ctrl+y")
  assert.equal(editor.text, "x one ")
  press("alt+y")
  assert.equal(editor.text, "x two three")
  press("alt+y")
  assert.equal(editor.text, "x one ")
  press("left alt+y")
  assert.equal(editor.text, "x one ")
})

test("createEditor() breaks the line with Shift-Enter, Alt-Enter, Ctrl-J and a backslash", () => {
  const { editor, type, press } = createKeyboard()
  type("a")
  press("shift+enter")
  type("b")
  press("alt+enter")
  type("c\nd\\")
  assert.deepEqual(press("enter"), { do: "draw" })
  type("e")
  assert.equal(editor.text, "a\nb\nc\nd\ne")
})

test("createEditor() sends the text and is empty then", () => {
  const { editor, type, press } = createKeyboard()
  assert.deepEqual(press("enter"), { do: "nothing" })
  type("  ")
  assert.deepEqual(press("enter"), { do: "nothing" })
  type("hello ")
  assert.deepEqual(press("enter"), {
    do: "send",
    prompt: { text: "hello", attachments: [], isShell: false },
  })
  assert.equal(editor.text, "")
})

test("createEditor() breaks the line with Enter if another key sends", () => {
  const { editor, keymap, type, press } = createKeyboard()
  keymap.bind({ "app.send": "ctrl+enter" })
  type("a")
  press("enter")
  type("b")
  assert.equal(editor.text, "a\nb")
  assert.equal(press("ctrl+enter").do, "send")
})

test("createEditor() marks a shell line by the sign, and sends it without `!`", () => {
  const { type, press, screen } = createKeyboard({ paint: (role, text) => `<${role}>${text}` })
  type("ls")
  assert.equal(screen()[0]!.replace("|", ""), "<accent>> ls")
  press("home")
  type("!")
  assert.equal(screen()[0]!.replace("|", ""), "<warning>> !ls")
  assert.deepEqual(press("enter"), { do: "send", prompt: { text: "ls", attachments: [], isShell: true } })
})

test("createEditor() clears with Ctrl-C, and quits with a second one or with Ctrl-D on empty text", () => {
  const { editor, type, press } = createKeyboard()
  type("ab")
  press("home")
  assert.deepEqual(press("ctrl+d"), { do: "draw" })
  assert.equal(editor.text, "b")
  assert.deepEqual(press("ctrl+c"), { do: "draw" })
  assert.equal(editor.text, "")
  assert.deepEqual(press("ctrl+c"), { do: "action", action: "app.quit" })
  assert.deepEqual(press("ctrl+d"), { do: "action", action: "app.quit" })
  press("left")
  assert.deepEqual(press("ctrl+c"), { do: "action", action: "app.clear" })
})

test("createEditor() hands actions of the program back", () => {
  const { press } = createKeyboard()
  for (const [key, action] of Object.entries({
    escape: "app.stop",
    "shift+tab": "app.cycleMode",
    "ctrl+o": "app.expand",
    "ctrl+g": "app.externalEditor",
    "ctrl+z": "app.suspend",
    "ctrl+l": "app.redraw",
  }))
    assert.deepEqual(press(key), { do: "action", action })
  press("left")
  assert.deepEqual(press("escape escape"), { do: "action", action: "app.back" })
})

test("createEditor() scrolls inside the rows it is given and keeps the caret visible", () => {
  const { type, press, screen } = createKeyboard()
  type("1\n2\n3\n4\n5\n6")
  assert.deepEqual(screen(20, 3), ["  4", "  5", "  6|"])
  press("up up")
  assert.deepEqual(screen(20, 3), ["  4|", "  5", "  6"])
  press("up")
  assert.deepEqual(screen(20, 3), ["  3|", "  4", "  5"])
  press("ctrl+home")
  assert.deepEqual(screen(20, 3), ["> |1", "  2", "  3"])
  assert.deepEqual(screen(20, 1), ["> |1"])
})

test("createEditor() keeps the caret inside a full row, and hides the blank behind it", () => {
  const { type, press, screen } = createKeyboard()
  type("0123456789")
  assert.deepEqual(screen(12), ["> 0123456789|"])
  type(" ")
  assert.deepEqual(screen(12), ["> 0123456789", "  |"])
  type("ab")
  assert.deepEqual(screen(12), ["> 0123456789", "  ab|"])
  press("left left left")
  assert.deepEqual(screen(12), ["> 0123456789|", "  ab"])
})

test("Editor.set() replaces the text, drops control characters, and can be undone", () => {
  const { editor, type, press } = createKeyboard()
  type("draft")
  editor.set("from\r\nanother \x1b[31meditor\x07")
  assert.equal(editor.text, "from\nanother [31meditor")
  press("ctrl+_")
  assert.equal(editor.text, "draft")
})
